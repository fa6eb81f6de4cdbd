"""The reference study runs and writes what the README is filled from; its splits are what they are said to be."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from toy import read_object

from scoregnn.config import PRESETS, Config
from scoregnn.datasets import get
from scoregnn.datasets.reference_splits import REFERENCE_SEEDS, reference_split_file, write_reference_splits
from scoregnn.errors import InputError
from scoregnn.graphs.split_files import load_split
from scoregnn.graphs.splits import random_split
from scoregnn.studies import document_tables, esol_reference
from scoregnn.training.prepare import prepare
from scoregnn.training.run_folder import load_model


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Path:
    """The result of one epoch on one split."""
    folder = tmp_path_factory.mktemp("study")
    options = ["--work", folder / "runs", "--output", folder / "result.json", "--epochs", 1, "--seeds", 0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["esol_reference", *map(str, options)])
        esol_reference.main()
        # Once more: everything is there already.
        first = (folder / "result.json").read_text()
        esol_reference.main()
    assert json.loads((folder / "result.json").read_text())["results"] == json.loads(first)["results"]
    return folder


def test_the_result_holds_both_models_and_what_made_them(result):
    content = read_object(result / "result.json")
    assert content["seeds"] == [0]
    assert content["dataset"] == "esol"
    assert content["command"].startswith("python -m scoregnn.studies.esol_reference --work ")
    assert {"torch", "rdkit"} <= set(content["versions"])
    score, stack = content["results"]["SCORE"], content["results"]["plain stack"]
    for name, found in (("score-0", score), ("plain-stack-0", stack)):
        metrics = read_object(result / "runs" / name / "metrics.json")
        assert found["test_rmse"] == {"0": metrics["test"]["rmse"]}
        assert found["mean"] == metrics["test"]["rmse"]
        assert found["sd"] is None
        assert found["parameters"] == load_model(result / "runs" / name).num_parameters
    assert stack["parameters"] > 2 * score["parameters"]


def test_the_models_differ_in_sharing_and_step_alone(result):
    score, stack = (read_object(result / "result.json")["results"][name]["config"] for name in ("SCORE", "plain stack"))
    assert {name for name in score if score[name] != stack[name]} == {"share", "dt"}
    assert (stack["share"], stack["dt"]) == (False, 1.0)
    assert Config.from_dict(score | {"epochs": PRESETS["fast"].epochs}) == PRESETS["fast"]


def test_the_runs_use_the_reference_split(result):
    written, reference = read_object(result / "runs" / "score-0" / "splits.json"), reference_split_file("esol", 0)
    assert all(written[part] == read_object(reference)[part] for part in ("train", "validation", "test"))


def test_a_folder_that_is_not_there_is_said_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["esol_reference", "--work", str(tmp_path), "--output", str(tmp_path / "no" / "x")]
    )
    monkeypatch.setattr(esol_reference, "run_study", lambda *_: pytest.fail("the work began"))
    with pytest.raises(SystemExit) as stop:
        esol_reference.main()
    assert stop.value.code != 0
    message = f"{stop.value.code}{capsys.readouterr().err}"
    assert "no such folder" in message and "Traceback" not in message


def test_a_table_of_another_preset_is_refused(result):
    content = read_object(result / "result.json")
    with pytest.raises(InputError, match=r"today's is .*python -m"):
        document_tables.reference_table(content)
    content["results"]["SCORE"]["config_digest"] = PRESETS["fast"].digest()
    table = document_tables.reference_table(content)
    rmse = content["results"]["SCORE"]["test_rmse"]["0"]
    assert f"| SCORE | {rmse:.3f} | {rmse:.3f} | - |" in table


# --- reference splits


@pytest.fixture(scope="module")
def esol():
    return prepare(get("esol").table(), Config())


@pytest.mark.parametrize("seed", REFERENCE_SEEDS["esol"])
def test_a_reference_split_is_what_random_split_gives_today(esol, seed):
    table = esol.table
    stored = load_split(
        reference_split_file("esol", seed),
        num_rows=len(table.rows),
        data_sha256=table.data_sha256,
        rows=esol.row_numbers,
    )
    today = random_split(esol.keys, seed=seed)
    for name, rows in stored.parts.items():
        assert rows.tolist() == today.parts[name].tolist()
    assert [len(rows) for rows in stored.parts.values()] == [902, 113, 113]


def test_the_program_writes_the_packaged_files(tmp_path):
    write_reference_splits("esol", tmp_path)
    for seed in REFERENCE_SEEDS["esol"]:
        packaged = reference_split_file("esol", seed)
        assert (tmp_path / packaged.name).read_bytes() == packaged.read_bytes()


def test_what_has_no_reference_split():
    with pytest.raises(InputError, match="no reference split 5; seeds with one: 0, 1, 2, 3, 4"):
        reference_split_file("esol", 5)
    with pytest.raises(InputError, match="seeds with one: none"):
        reference_split_file("freesolv", 0)
    with pytest.raises(InputError, match="unknown data set"):
        reference_split_file("esool", 0)
