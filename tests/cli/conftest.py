"""Models that the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy import SMILES, toy_rows, toy_table, train, write_table


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """One target with a unit."""
    folder = tmp_path_factory.mktemp("model")
    train(toy_table(folder), folder / "run", units=("log mol/L",))
    return folder / "run"


@pytest.fixture(scope="session")
def two_targets(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    rows = [dict(row, mass=14.0 * len(str(row["smiles"]))) for row in toy_rows()]
    reading = {"target_columns": ["logP", "mass"]}
    train(write_table(folder / "t.csv", rows), folder / "run", reading=reading, units=("", "g/mol"))
    return folder / "run"


@pytest.fixture(scope="session")
def classes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    kinds = {"O": "alcohol", "N": "amine"}
    rows = [{"smiles": smiles, "kind": kinds.get(smiles[-1], "other")} for smiles in SMILES]
    train(
        write_table(folder / "t.csv", rows),
        folder / "run",
        reading={"task": "classification", "target_columns": ["kind"]},
    )
    return folder / "run"


@pytest.fixture(scope="session")
def with_feature(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("feature")
    rows = [dict(row, pH=4 + number % 5) for number, row in enumerate(toy_rows())]
    train(write_table(folder / "t.csv", rows), folder / "run", reading={"feature_columns": ["pH"]})
    return folder / "run"
