"""Runs by every kind of split and seed: where each row goes, and what stays the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
from running import assert_same_results, predicted, results
from toy import Notes, read_csv, read_object, toy_rows, toy_table, train, write_table

from scoregnn.errors import InputError
from scoregnn.graphs.tables import read_labelled
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.training.prepare import SplitRequest, prepare, split_rows
from scoregnn.training.run_folder import load_model

RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCNCC1", "c1ccsc1", "C1CCOC1", "c1ccc2ccccc2c1", "C1CC1", "c1ccoc1"]
SUBSTITUENTS = ["", "C", "CC", "O", "N", "Cl"]


def ring_rows():
    """Nine scaffolds of six molecules, with a date, a set and a number each."""
    rows = []
    for at, ring in enumerate(RINGS):
        for place, end in enumerate(SUBSTITUENTS):
            number = 6 * at + place
            rows.append({"smiles": f"{end}{ring}", "y": at - place / 3, "when": 2025 - number})
            rows[-1]["set"] = ["train", "train", "valid", "train", "test", "train"][place]
    return rows


READING = {"target_columns": ["y"]}


def run_by(folder, kind, *, column=None, seed=0):
    table = write_table(folder / "t.csv", ring_rows())
    reading = READING | ({"other_columns": [column]} if column else {})
    split = SplitRequest(kind, seed=seed, column=column)
    summary = train(table, folder / "run", split=split, reading=reading)
    rows = read_csv(folder / "run" / "predictions.csv")
    parts = [row["part"] for row in rows]
    written = read_object(folder / "run" / "splits.json")
    for part in ("train", "validation", "test"):
        assert written[part] == [number + 1 for number, found in enumerate(parts) if found == part]
        assert summary.metrics[part]["n"] == summary.parts[part] == len(written[part]) > 0
    assert written["kind"] == kind
    assert read_object(folder / "run" / "model.json")["data"]["split"]["kind"] == kind
    return parts


@pytest.mark.parametrize("kind", ["scaffold", "scaffold-balanced"])
def test_no_scaffold_is_on_two_sides(tmp_path, kind):
    parts = run_by(tmp_path, kind)
    sides = {}
    for row, part in zip(ring_rows(), parts, strict=True):
        scaffold = featurize_one(row["smiles"], FeaturizeOptions(scaffold=True)).scaffold
        sides.setdefault(scaffold, set()).add(part)
    assert len(sides) == len(RINGS)
    assert all(len(found) == 1 for found in sides.values())


def test_near_duplicates_are_on_one_side_by_butina(tmp_path):
    parts = run_by(tmp_path, "butina")
    prepared = prepare(read_labelled(tmp_path / "t.csv", **READING), load_model(tmp_path / "run").config, workers=1)
    assert prepared.fingerprints.size == 0  # only made where they are asked for
    prepared = prepare(
        read_labelled(tmp_path / "t.csv", **READING),
        load_model(tmp_path / "run").config,
        split_kind="butina",
        workers=1,
    )
    bits = np.unpackbits(prepared.fingerprints, axis=1).astype(int)
    common = bits @ bits.T
    likeness = common / (bits.sum(1)[:, None] + bits.sum(1)[None] - common)
    across = np.not_equal.outer(parts, parts)
    # Neighbours of a centre share a side; of all pairs over 0.65 nearly all are such neighbours.
    assert (across & (likeness > 0.65)).sum() <= 0.1 * (likeness > 0.65).sum()
    assert split_rows(prepared, SplitRequest("butina")).labels(54) == parts


def test_the_last_in_time_are_tested(tmp_path):
    parts = run_by(tmp_path, "time", column="when")
    years = {
        part: [row["when"] for row, found in zip(ring_rows(), parts, strict=True) if found == part] for part in parts
    }
    assert max(years["train"]) < min(years["validation"])
    assert max(years["validation"]) < min(years["test"])


def test_a_column_says_where_each_row_goes(tmp_path):
    parts = run_by(tmp_path, "column", column="set")
    assert [part.replace("validation", "valid") for part in parts] == [row["set"] for row in ring_rows()]


def test_the_seed_of_a_random_split_is_its_own(tmp_path):
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    for folder in (one, two, other):
        folder.mkdir()
    assert run_by(one, "random", seed=3) == run_by(two, "random", seed=3) != run_by(other, "random", seed=4)


def test_a_saved_split_is_followed_and_rows_in_no_part_say_so(tmp_path):
    table = toy_table(tmp_path)
    (tmp_path / "s.json").write_text(json.dumps({"rows_start_at": 1, "train": [*range(1, 41)], "test": [50, 45]}))
    summary = train(table, tmp_path / "run", split=SplitRequest(str(tmp_path / "s.json")), refit=True)
    assert list(summary.metrics) == ["train", "test"]
    assert summary.parts == {"train": 40, "validation": 0, "test": 2}
    rows = read_csv(tmp_path / "run" / "predictions.csv")
    assert [row["part"] for row in rows] == ["train"] * 40 + [
        "test" if number in (45, 50) else "" for number in range(41, 61)
    ]
    for row in rows:
        assert row["status"] == ("" if row["part"] else "in no part of the split")
        assert row["prediction"]
    assert len(load_model(tmp_path / "run").training_keys) == 42
    assert read_object(tmp_path / "run" / "splits.json")["kind"] == "saved"


def test_the_split_of_a_run_serves_another_run(tmp_path):
    table = toy_table(tmp_path)
    train(table, tmp_path / "a", split=SplitRequest(seed=9))
    train(table, tmp_path / "b", split=SplitRequest(str(tmp_path / "a" / "splits.json")))
    for name in ("metrics.json", "predictions.csv", "model.safetensors"):
        assert results(tmp_path / "a")[name] == results(tmp_path / "b")[name]


def test_a_saved_split_may_not_tear_a_molecule_apart(tmp_path):
    table = write_table(tmp_path / "t.csv", [*toy_rows(), {"smiles": "OC", "logP": 1.0}])
    (tmp_path / "s.json").write_text(json.dumps({"rows_start_at": 1, "train": [1, 2, 3, 4], "test": [61]}))
    with pytest.raises(InputError, match="61"):
        train(table, tmp_path / "run", split=SplitRequest(str(tmp_path / "s.json")))


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ({"kind": "scafold"}, "unknown split 'scafold'; did you mean 'scaffold'"),
        ({"kind": "time"}, "a split by time needs --split-column"),
        ({"kind": "random", "column": "set"}, "--split-column is for --split time or column, not for random"),
    ],
)
def test_a_split_that_cannot_be_is_refused_at_once(request_, named):
    with pytest.raises(InputError, match=named):
        SplitRequest(**request_)


# --- seeds


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path, finished):
    table = toy_table(tmp_path)
    train(table, tmp_path / "same", units=("log",))
    train(table, tmp_path / "other", units=("log",), seed=1)
    assert_same_results(finished, tmp_path / "same")
    assert (finished / "splits.json").read_bytes() == (tmp_path / "other" / "splits.json").read_bytes()
    for name in ("model.safetensors", "metrics.json", "history.csv"):
        assert results(finished)[name] != results(tmp_path / "other")[name]
    assert np.abs(np.subtract(predicted(finished), predicted(tmp_path / "other"))).max() > 1e-3


def test_what_a_run_prepares_is_said(tmp_path):
    rows = [*toy_rows(), {"smiles": "OC", "logP": 1.0}, {"smiles": "C1CC", "logP": 1.0}, {"smiles": "", "logP": 2.0}]
    reporter = Notes()
    train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", reporter=reporter)
    refused, repeated = reporter.notes
    assert refused.startswith("2 of 63 rows are not used (row 62: ")
    assert "row 63: " in refused
    assert repeated == "1 molecules are in more than one row (2 rows); all rows of a molecule go to one part"
    written = read_object(tmp_path / "run" / "model.json")["data"]
    assert (written["rows"], written["used"]) == (63, 61)


def test_a_table_without_a_valid_row_names_the_first(tmp_path):
    table = write_table(tmp_path / "t.csv", [{"smiles": "C1CC", "y": 1.5}, {"smiles": "x", "y": 2.5}])
    with pytest.raises(InputError, match=r"t\.csv: no valid row; row 1: "):
        train(table, tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_a_training_part_of_one_class_is_refused(tmp_path):
    rows = [{"smiles": row["smiles"], "y": int(n == 59), "set": "test" if n == 59 else "train"} for n, row in
            enumerate(toy_rows())]  # fmt: skip
    reading = {"target_columns": ["y"], "other_columns": ["set"]}
    with pytest.raises(InputError, match="the training part has one class only for 'y'"):
        train(
            write_table(tmp_path / "t.csv", rows),
            tmp_path / "run",
            reading=reading,
            split=SplitRequest("column", column="set"),
        )
    assert not (tmp_path / "run" / "run.json").exists()
