"""Morgan (ECFP-like) fingerprints: packed bits for similarity and clustering, counts for models."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator


def morgan_bits(mol: Chem.Mol, radius: int = 2, size: int = 2048) -> np.ndarray:
    """Folded Morgan fingerprint as packed bits: uint8 [ceil(size / 8)], to be opened with `np.unpackbits`.

    Source: Rogers & Hahn, J. Chem. Inf. Model. 50, 742 (2010).
    """
    return np.packbits(_generator(radius, size).GetFingerprintAsNumPy(mol))


def morgan_counts(mol: Chem.Mol, radius: int = 2, size: int = 2048) -> np.ndarray:
    """Folded Morgan count fingerprint: uint32 [size], how often each environment occurs; source as `morgan_bits`."""
    counts: np.ndarray = _generator(radius, size).GetCountFingerprintAsNumPy(mol)
    return counts


@lru_cache(maxsize=16)
def _generator(radius: int, size: int) -> Any:
    return rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=size)
