"""Blocks: one file each, and one line each in the registry `scoregnn.config.BLOCKS`."""

from __future__ import annotations

import importlib

from scoregnn.config import BLOCKS, Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.blocks.conv import ConvBlock

__all__ = ["Block", "ConvBlock", "build_block"]


def build_block(config: Config, bond_dim: int) -> Block:
    """A new block of the kind and width that `config` names; see `scoregnn.config.BLOCKS`."""
    module, name = BLOCKS[config.block].split(":")
    block: type[Block] = getattr(importlib.import_module(module), name)
    return block.from_config(config, bond_dim)
