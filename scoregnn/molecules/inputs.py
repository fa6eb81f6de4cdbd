"""The forms in which a molecule can be given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MolBlock:
    """The connection table of one SDF record (V2000 or V3000), as read, up to and including its `M  END` line."""

    text: str


MoleculeInput = str | MolBlock | bytes
"""SMILES, SDF record, or the bytes of an RDKit molecule's `ToBinary()`."""
