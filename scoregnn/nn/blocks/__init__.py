"""Blocks: one file each, one line each in the registry."""

from __future__ import annotations

from scoregnn.config import BLOCKS, Config
from scoregnn.errors import InputError
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.blocks.conv import ConvBlock
from scoregnn.nn.blocks.gat import GATBlock
from scoregnn.nn.blocks.gatv2 import GATv2Block
from scoregnn.nn.blocks.mpnn import MPNNBlock

__all__ = ["BLOCKS", "Block", "ConvBlock", "GATBlock", "GATv2Block", "MPNNBlock", "build_block"]


def build_block(config: Config, bond_dim: int) -> Block:
    """A new block of the kind and width that `config` names."""
    loops = config.uses_self_loops
    match config.block:
        case "gat":
            return GATBlock(config.hidden, bond_dim, heads=config.heads, self_loops=loops)
        case "gatv2":
            return GATv2Block(config.hidden, bond_dim, heads=config.heads, self_loops=loops)
        case "mpnn":
            return MPNNBlock(config.hidden, bond_dim, self_loops=loops)
    raise InputError(f"unknown block {config.block!r}; known: {', '.join(BLOCKS)}")
