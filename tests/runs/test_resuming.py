"""`--resume`: what it goes on with, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from running import assert_same_results
from safetensors.torch import load_file, save_file
from toy import Notes, read_csv, read_object, toy_rows, toy_table, train, write_table

from scoregnn.config import Config
from scoregnn.errors import RunFolderError
from scoregnn.training.checkpoint import Checkpoint, EpochRecord, Progress
from scoregnn.training.prepare import SplitRequest


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """The folder of a table and of a run broken off after an epoch; to be copied."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.raises(KeyboardInterrupt):
        train(toy_table(folder), folder / "run", reporter=Notes(stop_after=1))
    return folder


@pytest.fixture
def broken(begun, tmp_path) -> Path:
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    return tmp_path


def resume(folder, **changes):
    reporter = Notes()
    summary = train(folder / "toy.csv", folder / "run", resume=True, reporter=reporter, **changes)
    return summary, reporter


def refusal(folder, **changes):
    before = {path: path.read_bytes() for path in sorted((folder / "run").rglob("*")) if path.is_file()}
    with pytest.raises(RunFolderError) as raised:
        resume(folder, **changes)
    assert {path: path.read_bytes() for path in sorted((folder / "run").rglob("*")) if path.is_file()} == before
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


def test_only_what_is_left_is_trained(broken, finished):
    summary, reporter = resume(broken, units=())
    assert reporter.epochs == 1
    assert reporter.notes == []
    assert summary.metrics == read_object(finished / "metrics.json")
    assert [row["epoch"] for row in read_csv(broken / "run" / "history.csv")] == ["1", "2"]


LONG: dict[str, Any] = {"ensemble": 2, "refit": True, "learning_rate": 0.02, "descriptors": "fast"}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    train(toy_table(folder), folder / "run", **LONG)
    return folder / "run"


@pytest.mark.parametrize("stop_after", [2, 3, 5, 8])
def test_broken_off_after_any_epoch_of_any_stage(tmp_path, unbroken, stop_after):
    table = toy_table(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        train(table, tmp_path / "run", reporter=Notes(stop_after=stop_after), **LONG)
    reporter = Notes()
    train(table, tmp_path / "run", resume=True, reporter=reporter, **LONG)
    assert reporter.epochs == 8 - stop_after
    assert_same_results(unbroken, tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 1}, "config.seed: 0 then, 1 now"),
        ({"epochs": 3}, "config.epochs: 2 then, 3 now"),
        ({"dt": 0.5, "dropout": 0.0}, "config.dropout: 0.1 then, 0.0 now, config.dt: 0.25 then, 0.5 now"),
        ({"patience": 1}, "config.patience: None then, 1 now"),
        ({"split": SplitRequest(seed=1)}, "split.seed: 0 then, 1 now"),
        ({"split": SplitRequest("scaffold")}, "split.kind: random then, scaffold now"),
        ({"split": SplitRequest(fractions=(0.7, 0.2, 0.1))}, "split.fractions: [0.8, 0.1, 0.1] then, [0.7, 0.2, 0.1]"),
        ({"refit": True}, "refit: False then, True now"),
        ({"units": ("log",)}, "units: [] then, ['log'] now"),
    ],
)
def test_other_settings_are_refused_by_name(broken, changes, named):
    message = refusal(broken, **changes)
    assert "was begun with other settings" in message and "choose another --output" in message
    assert named in message


def test_the_model_to_fine_tune_belongs_to_the_settings(broken, tmp_path):
    train(tmp_path / "toy.csv", tmp_path / "start")
    assert "start is not the one from which the run in" in refusal(broken, start=tmp_path / "start")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "toy.csv", tmp_path / "tuned", start=tmp_path / "start", reporter=Notes(stop_after=1))
    shutil.rmtree(tmp_path / "start")
    train(tmp_path / "toy.csv", tmp_path / "start", seed=1)
    with pytest.raises(RunFolderError, match=r"start is not the one from which the run in .*tuned was begun"):
        train(tmp_path / "toy.csv", tmp_path / "tuned", start=tmp_path / "start", resume=True)


@pytest.mark.parametrize("change", ["value", "row", "order", "molecule"])
def test_other_data_are_refused(broken, change):
    rows = toy_rows()
    if change == "value":
        rows[7]["logP"] = 0.123
    elif change == "row":
        rows.append({"smiles": "c1ccccc1", "logP": 2.1})
    elif change == "order":
        rows.reverse()
    else:
        rows[7]["smiles"] = "c1ccccc1"
    write_table(broken / "toy.csv", rows)
    assert "the data are not those of the run in" in refusal(broken)


def test_the_same_data_in_another_file_are_the_same(broken, finished):
    rows = [{"id": n, "logP": row["logP"], "smiles": row["smiles"]} for n, row in enumerate(toy_rows())]
    write_table(broken / "other.csv", rows)
    summary = train(broken / "other.csv", broken / "run", resume=True, reading={"target_columns": ["logP"]})
    assert summary.metrics == read_object(finished / "metrics.json")


def test_a_finished_run_is_reported_and_not_touched(finished, tmp_path):
    shutil.copytree(finished.parent, tmp_path, dirs_exist_ok=True)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    summary, reporter = resume(tmp_path, units=("log",))
    assert reporter.notes == [f"the run in {tmp_path / 'run'} is finished; these are its results"]
    assert (reporter.epochs, reporter.stages) == (0, [])
    assert summary.metrics == read_object(finished / "metrics.json")
    assert summary.parts == {"train": 48, "validation": 6, "test": 6}
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    assert "was begun with other settings" in refusal(tmp_path, seed=1, units=("log",))


@pytest.mark.parametrize("there", [True, False])
def test_resuming_where_there_is_no_run_begins_one_and_says_so(tmp_path, finished, there):
    toy_table(tmp_path)
    if there:
        (tmp_path / "run").mkdir()
    summary, reporter = resume(tmp_path)
    assert reporter.notes == [f"there is no run in {tmp_path / 'run'} to resume; a new one begins"]
    assert summary.metrics == read_object(finished / "metrics.json")


@pytest.mark.parametrize("again", [True, False])
def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, again):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("x")
    with pytest.raises(RunFolderError, match="is not empty and holds no run"):
        train(toy_table(tmp_path), tmp_path / "run", resume=again)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".lock", "thesis.txt"]


def test_a_run_is_not_begun_over_another(broken):
    with pytest.raises(RunFolderError, match="already holds a run; go on with --resume or choose another --output"):
        train(broken / "toy.csv", broken / "run")


def change_record(folder, **changes):
    path = folder / "run" / "run.json"
    path.write_text(json.dumps(read_object(path) | changes))


def test_other_versions_of_packages_are_said_and_nothing_more(broken):
    versions = read_object(broken / "run" / "run.json")["versions"]
    change_record(broken, versions={**versions, "torch": "2.0.0"})
    _, reporter = resume(broken)
    (note,) = reporter.notes
    assert f"other versions (torch: 2.0.0 then, {torch.__version__} now)" in note
    assert (broken / "run" / "model.json").exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"format_version": 2}, "by another release of scoregnn (format 2, this one has 1)"),
        ({"format_version": None}, "by another release of scoregnn"),
        ({"request": None}, "other settings (unreadable)"),
        ({"request": []}, "other settings (unreadable)"),
        ({"data_sha256": 5}, "the data are not those"),
    ],
)
def test_a_record_of_another_release_or_none_is_refused(broken, changes, named):
    change_record(broken, **changes)
    assert named in refusal(broken)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"train": [1]}', '{"train": [99], "rows_start_at": 1}'])
def test_a_damaged_split_of_a_broken_run_is_named(broken, content):
    (broken / "run" / "splits.json").write_text(content)
    assert "splits.json" in refusal(broken)


def test_a_split_that_has_changed_is_refused(broken):
    path = broken / "run" / "splits.json"
    content = read_object(path)
    content["test"][0], content["train"][0] = content["train"][0], content["test"][0]
    path.write_text(json.dumps(content))
    assert re.search(r"the split now differs from .*splits\.json", refusal(broken))


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-200] ^= 1  # within the weights: nothing else would notice
    path.write_bytes(content)


def foreign(path: Path) -> None:
    save_file({"a.b": torch.zeros(2)}, path)


def unnamed(path: Path) -> None:
    save_file(load_file(path), path)


def no_progress(path: Path) -> None:
    save_file(load_file(path), path, metadata={"progress": "5", "sha256": "0" * 64})


@pytest.mark.parametrize("damage", [half, flip, foreign, unnamed, no_progress, lambda path: path.write_bytes(b"")])
def test_a_damaged_checkpoint_is_named_and_the_run_begins_anew_without_it(broken, finished, damage):
    path = broken / "run" / "checkpoints" / "evaluation" / "network-0.safetensors"
    damage(path)
    message = refusal(broken)
    assert f"checkpoint {path} cannot be read" in message and "delete it to start this network anew" in message
    path.unlink()
    summary, _ = resume(broken)
    assert summary.metrics == read_object(finished / "metrics.json")


def test_a_checkpoint_brings_back_all_there_is(tmp_path):
    torch.manual_seed(0)

    def trained(steps):
        network = torch.nn.Linear(3, 2)
        optimizer = torch.optim.AdamW(network.parameters(), lr=0.1, fused=True)
        for _ in range(steps):
            optimizer.zero_grad()
            network(torch.ones(4, 3)).square().sum().backward()
            optimizer.step()
        return network, optimizer

    network, optimizer = trained(3)
    best = {name: value + 1 for name, value in network.state_dict().items()}
    history = [EpochRecord(1, 0.1 + 0.2, None, 1e-300, 2.5), EpochRecord(2, 1 / 3, 5e-324, 0.0, 1.0)]
    progress = Progress(epoch=2, best_epoch=1, best_loss=2 / 3, finished=True, history=history)
    Checkpoint(tmp_path / "c").save(network, best, optimizer, progress)
    other, other_optimizer = trained(1)
    found = Checkpoint(tmp_path / "c").load(other, other_optimizer)
    assert found is not None
    assert found[1] == progress
    for ours, theirs in [(best, found[0]), (network.state_dict(), other.state_dict())]:
        assert set(ours) == set(theirs)
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    states = optimizer.state_dict()["state"], other_optimizer.state_dict()["state"]
    assert all(torch.equal(states[0][i][key], states[1][i][key]) for i in states[0] for key in states[0][i])
    assert states[1][0]["step"].item() == 3


def test_the_digest_of_the_settings_changes_with_every_setting():
    assert len({Config().digest(), Config(seed=1).digest(), Config(dt=0.5).digest()}) == 3
