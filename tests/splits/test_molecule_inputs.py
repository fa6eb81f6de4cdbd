"""Every container of molecules that scikit-learn users hand over."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rdkit import Chem

from scoregnn.errors import InputError
from scoregnn.molecules import MolBlock
from scoregnn.molecules.containers import as_molecule_inputs

SMILES = ["CCO", "c1ccccc1", "", "C"]


@pytest.mark.parametrize(
    "X",
    [
        SMILES,
        tuple(SMILES),
        np.array(SMILES),
        np.array(SMILES, dtype=object),
        np.array(SMILES).reshape(-1, 1),
        np.array([*SMILES, "N"])[:-1][::1],
        pd.Series(SMILES),
        pd.Series(SMILES, index=[9, 3, 1, 2]),
        pd.Series(SMILES, dtype="string"),
        pd.Series(SMILES, dtype="category"),
        pd.DataFrame({"smiles": SMILES}),
        pl.Series(SMILES),
        pl.DataFrame({"smiles": SMILES}),
        pa.array(SMILES),
        pa.chunked_array([SMILES[:2], SMILES[2:]]),
        (text for text in SMILES),
    ],
    ids=lambda X: f"{type(X).__module__}.{type(X).__name__}",
)
def test_strings_in_order(X):
    inputs = as_molecule_inputs(X)
    assert inputs == SMILES
    assert all(type(item) is str for item in inputs)


def test_rdkit_molecules_become_their_bytes():
    (binary,) = as_molecule_inputs([Chem.MolFromSmiles("OCC")])
    assert isinstance(binary, bytes)
    assert Chem.MolToSmiles(Chem.Mol(binary)) == "CCO"


def test_records_and_bytes_stay():
    items = [MolBlock("a record"), b"bytes", "CC"]
    assert as_molecule_inputs(items) == items


@pytest.mark.parametrize(
    "X",
    [
        ["C", None],
        ["C", float("nan")],
        ["C", np.float32("nan")],
        ["C", pd.NA],
        ["C", pd.NaT],
        pd.Series(["C", None], dtype="string"),
        pl.Series(["C", None]),
        pa.array(["C", None]),
        np.array(["C", np.nan], dtype=object),
    ],
)
def test_a_missing_value_keeps_its_row_as_an_empty_text(X):
    assert as_molecule_inputs(X) == ["C", ""]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("CCO", "not a single one: put it into a list"),
        (b"CCO", "not a single one"),
        (Chem.MolFromSmiles("C"), "not a single one"),
        (["C", 7], "^row 2: 7 is not a molecule"),
        (["C", ["CC"]], r"^row 2: \['CC'\] is not a molecule"),
        (["C", 1.5], "^row 2: 1.5 is not a molecule"),
        (np.array([["C", "CC"]]), r"one column of molecules is needed, not an array of shape \(1, 2\)"),
        (pd.DataFrame({"a": ["C"], "b": ["C"]}), "one column of molecules"),
        (np.array("C"), r"not an array of shape \(\)"),
        ({"C": 1}, "is needed, not dict"),
        ({"C"}, "is needed, not set"),
        (3, "is needed, not int"),
        (None, "is needed, not NoneType"),
    ],
)
def test_other_things_are_refused(X, message):
    with pytest.raises(InputError, match=message):
        as_molecule_inputs(X)
