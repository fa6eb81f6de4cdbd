"""From atoms to molecules: readouts by name."""

from __future__ import annotations

from scoregnn.config import READOUTS
from scoregnn.errors import InputError
from scoregnn.nn.readouts.base import Readout
from scoregnn.nn.readouts.molattfp import MolAttFPReadout
from scoregnn.nn.readouts.pooling import AttentionReadout, MaxReadout, MeanReadout, SumReadout
from scoregnn.nn.readouts.set2set import Set2SetReadout

__all__ = [
    "AttentionReadout",
    "MaxReadout",
    "MeanReadout",
    "MolAttFPReadout",
    "Readout",
    "Set2SetReadout",
    "SumReadout",
    "build_readout",
]

_CLASSES: tuple[type[Readout], ...] = (
    *(SumReadout, MeanReadout, MaxReadout),
    *(AttentionReadout, MolAttFPReadout, Set2SetReadout),
)
_BY_NAME = dict(zip(READOUTS, _CLASSES, strict=True))


def build_readout(name: str, hidden: int) -> Readout:
    """The readout called `name`, one of `scoregnn.config.READOUTS`, for atoms of width `hidden`."""
    if name not in _BY_NAME:
        raise InputError(f"unknown readout {name!r}; known: {', '.join(_BY_NAME)}")
    return _BY_NAME[name](hidden)
