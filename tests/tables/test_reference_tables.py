"""The public tables that users are most likely to bring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scoregnn.errors import InputError
from scoregnn.graphs.tables import open_table, read_labelled


@pytest.mark.parametrize(
    ("name", "rows", "column"),
    [
        ("esol.csv", 1128, "smiles"),
        ("freesolv.csv", 642, "smiles"),
        ("lipophilicity.csv", 4200, "smiles"),
        ("aqsoldb.csv", 9982, "SMILES"),
        ("bace.csv", 1513, "mol"),
        ("bbbp.csv", 2039, "smiles"),
        ("clintox.csv", 1478, "smiles"),
        ("sider.csv", 1427, "smiles"),
        ("tox21.csv", 7831, "smiles"),
        ("hiv.csv.gz", 41127, "smiles"),
    ],
)
def test_cells_agree_with_pandas(shared_data: Path, name: str, rows: int, column: str) -> None:
    table = open_table(shared_data / name)
    frame = pd.read_csv(shared_data / name, dtype=str, keep_default_na=False)
    assert table.smiles_column == column
    assert table.columns == tuple(frame.columns)
    assert len(frame) == rows
    assert [row.cells for row in table.rows()] == list(frame.itertuples(index=False, name=None))


def test_a_multi_task_table_with_gaps(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "tox21.csv")
    names = [name for name in frame.columns if name not in ("smiles", "mol_id")]
    table = read_labelled(shared_data / "tox21.csv", target_columns=names)
    assert table.task == "classification"
    assert table.classes == (("0", "1"),) * 12
    np.testing.assert_array_equal(table.targets, frame[names].to_numpy())


@pytest.mark.parametrize(
    ("name", "target"), [("bace.csv", "Class"), ("bbbp.csv", "p_np"), ("hiv.csv.gz", "HIV_active")]
)
def test_the_target_is_found(shared_data: Path, name: str, target: str) -> None:
    table = read_labelled(shared_data / name)
    assert table.target_names == (target,)
    assert table.task == "classification"


def test_an_ambiguous_target_lists_the_candidates(shared_data: Path) -> None:
    with pytest.raises(InputError, match="'Solubility', 'SD', 'Occurrences'; choose with --target-column"):
        read_labelled(shared_data / "aqsoldb.csv")
