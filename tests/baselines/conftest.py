"""Molecules that every test of the baselines learns from, read once."""

from __future__ import annotations

import numpy as np
import pytest
from toy import SMILES, lipophilicity

RINGS = ["c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "c1ccncc1", "C1CCCCC1", "O=C(O)c1ccccc1", "c1ccc2ccccc2c1", "C1CCNCC1"]


@pytest.fixture(scope="session")
def X() -> list[str]:
    """68 different molecules."""
    return [*SMILES, *RINGS]


@pytest.fixture(scope="session")
def y() -> np.ndarray:
    """A number for each, with a little noise that no structure explains."""
    values = [lipophilicity(smiles) for smiles in SMILES] + [0.3 * len(smiles) for smiles in RINGS]
    return np.array(values) + np.random.default_rng(0).normal(0, 0.1, len(values))


@pytest.fixture(scope="session")
def kind() -> np.ndarray:
    """A class for each, as a text."""
    return np.array(["polar" if set(smiles) & set("ONn") else "apolar" for smiles in [*SMILES, *RINGS]])


@pytest.fixture(scope="session")
def new() -> list[str]:
    """Molecules that are in none of the training rows."""
    return ["CCOC", "CC(C)O", "Clc1ccccc1", "[Na+].[Cl-]", "CCCCCCCCCCCCCCCCCC"]
