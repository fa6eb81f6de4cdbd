"""Descriptors of a whole molecule, as RDKit gives them.

    none: no descriptor.
    fast: `rdMolDescriptors.Properties` (counts, logP, polar surface, connectivity and shape indices), surface-area
        bins (SlogP_VSA, SMR_VSA, PEOE_VSA) and the 42 molecular quantum numbers; computed in C++ throughout.
    full: RDKit's descriptor list (`rdkit.Chem.Descriptors`), much of it Python, and several times as slow as `fast`.

Values are not scaled, clipped or imputed here: RDKit returns NaN, infinities and huge numbers (`Ipc`), and what to
put in their place is learned on the training part of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors

from scoregnn.errors import InputError
from scoregnn.molecules._rdkit import rdkit_settings

DESCRIPTOR_KINDS = ("none", "fast", "full")

_Vector = tuple[str, int, Callable[[Chem.Mol], list[float]]]
_VECTORS: tuple[_Vector, ...] = (
    ("SlogP_VSA", 12, rdMolDescriptors.SlogP_VSA_),
    ("SMR_VSA", 10, rdMolDescriptors.SMR_VSA_),
    ("PEOE_VSA", 14, rdMolDescriptors.PEOE_VSA_),
    ("MQN", 42, rdMolDescriptors.MQNs_),
)


def descriptor_names(kind: str) -> tuple[str, ...]:
    """Names, in the order of `compute_descriptors`; raises `InputError` for an unknown kind."""
    if kind == "none":
        return ()
    if kind == "fast":
        properties = tuple(rdMolDescriptors.Properties.GetAvailableProperties())
        return properties + tuple(f"{name}{i}" for name, size, _ in _VECTORS for i in range(1, size + 1))
    if kind == "full":
        return tuple(name for name, _ in Descriptors.descList)
    raise InputError(f"unknown descriptors {kind!r}; known: {', '.join(DESCRIPTOR_KINDS)}")


def compute_descriptors(mol: Chem.Mol, kind: str) -> np.ndarray:
    """The values: float64 [len(descriptor_names(kind))]; NaN where RDKit cannot compute one."""
    if kind not in DESCRIPTOR_KINDS:
        descriptor_names(kind)
    with rdkit_settings():
        values: list[float] = []
        if kind == "fast":
            values += _guarded(_properties().ComputeProperties, mol, len(_properties().GetPropertyNames()))
            for _, size, function in _VECTORS:
                values += _guarded(function, mol, size)
        elif kind == "full":
            for _, scalar in Descriptors.descList:
                values.append(_number(scalar, mol))
    return np.array(values, dtype=np.float64)


@cache
def _properties() -> rdMolDescriptors.Properties:
    return rdMolDescriptors.Properties()


def _guarded(function: Callable[[Chem.Mol], list[float]], mol: Chem.Mol, size: int) -> list[float]:
    try:
        return list(function(mol))
    except Exception:
        return [math.nan] * size


def _number(function: Callable[[Chem.Mol], float], mol: Chem.Mol) -> float:
    try:
        return float(function(mol))
    except Exception:
        return math.nan
