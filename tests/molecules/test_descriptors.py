"""Descriptor names and values."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit.Chem import Descriptors

from scoregnn.errors import InputError
from scoregnn.molecules import (
    DESCRIPTOR_KINDS,
    FeaturizeOptions,
    compute_descriptors,
    descriptor_names,
    featurize_one,
    parse_molecule,
)


@pytest.mark.parametrize("kind", DESCRIPTOR_KINDS)
@pytest.mark.parametrize("smiles", ["C", "[Na+].[Cl-]", "*C", "[U]", "[H][H]", "CC(=O)Oc1ccccc1C(=O)O", "N->[Pt]"])
def test_one_value_a_name(kind: str, smiles: str) -> None:
    values = compute_descriptors(parse_molecule(smiles), kind)
    names = descriptor_names(kind)
    assert values.shape == (len(names),) and values.dtype == np.float64
    assert len(set(names)) == len(names)


def test_values_of_aspirin() -> None:
    mol = parse_molecule("CC(=O)Oc1ccccc1C(=O)O")
    fast = dict(zip(descriptor_names("fast"), compute_descriptors(mol, "fast"), strict=True))
    assert fast["amw"] == pytest.approx(180.159, abs=1e-3)
    assert fast["tpsa"] == pytest.approx(63.60, abs=1e-2)
    assert (fast["NumHBD"], fast["NumHBA"], fast["NumRings"], fast["MQN1"]) == (1, 3, 1, 9)  # MQN1 counts carbons
    # Labute's surface is the sum of its bins, and the rest that belongs to hydrogens.
    assert sum(fast[f"SMR_VSA{i}"] for i in range(1, 11)) == pytest.approx(
        sum(fast[f"SlogP_VSA{i}"] for i in range(1, 13))
    )
    full = dict(zip(descriptor_names("full"), compute_descriptors(mol, "full"), strict=True))
    assert full["MolWt"] == pytest.approx(fast["amw"])
    assert full["MolLogP"] == pytest.approx(fast["CrippenClogP"])
    assert full["PEOE_VSA14"] == pytest.approx(fast["PEOE_VSA14"])
    reference = Descriptors.CalcMolDescriptors(mol)
    assert full == pytest.approx(reference)


def test_what_cannot_be_computed_is_nan_not_zero() -> None:
    full = dict(zip(descriptor_names("full"), compute_descriptors(parse_molecule("[U]"), "full"), strict=True))
    assert np.isnan(full["BCUT2D_MWHI"])


def test_spelling_does_not_change_descriptors() -> None:
    for kind in ("fast", "full"):
        options = FeaturizeOptions(descriptors=kind)
        first = featurize_one("C[C@H](N)C(=O)Nc1ccc(Cl)cc1", options).descriptors
        second = featurize_one("[H]N([H])[C@@]([H])(C)C(=O)N([H])C1=CC=C(Cl)C=C1", options).descriptors
        np.testing.assert_allclose(first, second, rtol=1e-6)


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match="none, fast, full"):
        FeaturizeOptions(descriptors="all")
