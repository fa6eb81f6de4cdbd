"""A model is read from tensors and JSON only, and a folder that is not whole is refused by the name of its file."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
import torch
from toy import TINY_OPTIONS, read_object, toy_table, train

from scoregnn.errors import RunFolderError
from scoregnn.prediction import Predictor
from scoregnn.training import run_folder
from scoregnn.training.run_folder import load_model


def test_loading_executes_no_pickle(mixed, monkeypatch):
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a pickle is read")

    for module, name in [(pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (torch, "load")]:
        monkeypatch.setattr(module, name, forbidden)
    monkeypatch.setattr("torch.serialization.load", forbidden)
    assert load_model(mixed).task.targets == ("logP", "charge")


def test_no_file_of_a_run_holds_a_pickle(mixed):
    for path in mixed.iterdir():
        content = path.read_bytes()
        assert not content.startswith((b"\x80", b"PK")), path  # pickle protocol 2 and up; torch's zip of pickles
    header = int.from_bytes((mixed / "model.safetensors").read_bytes()[:8], "little")
    assert "training_keys" in json.loads((mixed / "model.safetensors").read_bytes()[8 : 8 + header])


def absent(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def last_byte_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])  # the end of the line is no loss


def bit_flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[int(len(content) * 0.7)] ^= 1
    path.write_bytes(content)


def foreign_json(path: Path) -> None:
    path.write_text('{"weights": [1, 2, 3]}')


def a_list(path: Path) -> None:
    path.write_text("[]")


def noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


def deeply_nested(path: Path) -> None:
    path.write_text("[" * 100_000)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [absent, empty, halved, last_byte_cut, bit_flipped, foreign_json, a_list, noise, deeply_nested, a_folder]


@pytest.fixture
def damaged(finished, tmp_path) -> Path:
    """A copy of a run, to be damaged."""
    shutil.copytree(finished, tmp_path / "run")
    toy_table(tmp_path)
    return tmp_path / "run"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_a_damaged_model_is_refused_by_the_name_of_its_file(damaged, name, damage):
    damage(damaged / name)
    (damaged / "run.json").unlink()  # with it a missing model.json means an unfinished run, see below
    with pytest.raises(RunFolderError, match=re.escape(name)) as raised:
        load_model(damaged)
    assert str(damaged) in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (name, damage)
        for name in ("metrics.json", "model.safetensors", "model.json", "run.json")
        for damage in DAMAGES
        if damage is not absent or name in ("metrics.json", "model.safetensors")  # without the others: another state
    ],
)
def test_a_damaged_run_is_no_finished_run(damaged, program, name, damage):
    """`--resume` reports what the files say; not when one of them says something else than the run did."""
    damage(damaged / name)
    command = ["train", "--data", "toy.csv", *TINY_OPTIONS, "--unit", "log", "-o", "run", "--resume"]
    # A run.json that is JSON still asks for something else now: another setting, or another release.
    asks = name == "run.json" and damage in (bit_flipped, foreign_json)
    assert ("the run in run was begun " if asks else f"run/{name} ") in program(*command).error


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(read_object(path) | changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("config", {"dt": 0.5}),
        ("task", {"units": ["mmol/L"]}),
        ("task", {"targets": ["logS"]}),
        ("data", {"sha256": "0" * 64}),
        ("data", {"rows": 61}),
        ("versions", {"torch": "9.9"}),
    ],
)
def test_an_edited_setting_is_noticed(damaged, key, value):
    """All of these fit the weights, so nothing but the checksum can tell."""
    edit(damaged / "model.json", **{key: {**read_object(damaged / "model.json")[key], **value}})
    with pytest.raises(RunFolderError, match=r"model\.json is damaged or was edited"):
        load_model(damaged)


def test_another_layout_of_the_same_json_is_the_same_model(damaged):
    content = read_object(damaged / "model.json")
    (damaged / "model.json").write_text(json.dumps(dict(reversed(content.items()))))
    assert load_model(damaged).task.units == ("log",)


@pytest.mark.parametrize("version", [2, 10**30])
def test_a_newer_format_says_so_before_anything_else(damaged, version):
    (damaged / "model.safetensors").unlink()
    edit(damaged / "model.json", format_version=version)
    with pytest.raises(RunFolderError, match=rf"model\.json: format {version} is newer .* update scoregnn"):
        load_model(damaged)


@pytest.mark.parametrize("version", [None, True, 0, -1, "1", 1.5, [1]])
def test_what_is_no_version_is_damage(damaged, version):
    edit(damaged / "model.json", format_version=version)
    with pytest.raises(RunFolderError, match=r"model\.json is damaged: it names no format version"):
        load_model(damaged)


def test_other_atom_features_are_refused(damaged, monkeypatch):
    monkeypatch.setattr(run_folder, "FEATURIZER_VERSION", run_folder.FEATURIZER_VERSION + 1)
    with pytest.raises(RunFolderError, match=r"model\.json: trained with atom features of version 1, .* train it anew"):
        load_model(damaged)


def test_descriptors_of_another_rdkit_are_refused(mixed, monkeypatch):
    monkeypatch.setattr(run_folder, "descriptor_names", lambda kind: ("MolWt",))
    with pytest.raises(RunFolderError, match=r"model\.json: the model needs the descriptors of RDKit \d"):
        load_model(mixed)


def test_weights_of_another_run_are_refused(damaged, tmp_path):
    """Same settings, same shapes, another seed: only the checksum knows."""
    train(tmp_path / "toy.csv", tmp_path / "other", seed=1)
    shutil.copy(tmp_path / "other" / "model.safetensors", damaged)
    with pytest.raises(RunFolderError, match=r"model\.safetensors is damaged or was edited"):
        load_model(damaged)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"networks": []}, "0 networks for an ensemble of 1"),
        ({"networks": [5]}, "does not fit its weights"),
        ({"config": {"hidden": 32}}, "does not fit its weights"),
        ({"config": {"depth": 3}}, "unknown setting 'depth'"),
        ({"task": {}}, "'kind' is missing"),
        ({"features": ["pH"]}, "does not fit its weights"),
        ({"versions": None}, "'versions' is missing or no dict"),
    ],
)
def test_a_description_that_does_not_fit_the_weights_is_no_crash(damaged, changes, named):
    """Written by another program that knows the checksum."""
    content = read_object(damaged / "model.json")
    del content["sha256"]
    content |= changes
    (damaged / "model.json").write_text(json.dumps(content | {"sha256": run_folder._checksum(content)}))
    with pytest.raises(RunFolderError, match=r"model\.json") as raised:
        load_model(damaged)
    assert named in str(raised.value)


def test_unfinished_and_empty_folders_say_what_they_are(damaged, tmp_path):
    (damaged / "model.json").unlink()
    with pytest.raises(RunFolderError, match="is not finished; go on with `scoregnn train --resume"):
        Predictor.load(damaged)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match="holds no model"):
        load_model(tmp_path / "empty")
    with pytest.raises(RunFolderError, match="no model folder"):
        load_model(tmp_path / "absent")
