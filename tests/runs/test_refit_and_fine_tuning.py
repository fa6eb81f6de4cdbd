"""What becomes of a run besides one network: refit, ensemble, fine-tuning with and without frozen parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from running import MIXED, alone, mixed_rows, predicted, results
from toy import SMILES, Notes, read_csv, read_object, toy_rows, toy_table, train, write_table

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.prediction import Predictor
from scoregnn.training.prepare import SplitRequest
from scoregnn.training.run import RunRequest
from scoregnn.training.run_folder import load_model


def weights(folder: Path, number: int = 0) -> dict[str, torch.Tensor]:
    return load_model(folder).networks[number].state_dict()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> set[str]:
    assert set(one) == set(other)
    return {name for name in one if torch.equal(one[name], other[name])}


# --- refit


def test_a_refit_keeps_the_honest_metrics_and_another_model(tmp_path):
    table = toy_table(tmp_path)
    settings = {"learning_rate": 0.03, "epochs": 5, "ensemble": 2}
    plain = train(table, tmp_path / "plain", **settings)
    reporter = Notes()
    summary = train(table, tmp_path / "refit", refit=True, reporter=reporter, **settings)
    assert reporter.stages == ["evaluation", "refit"]
    assert (plain.refit, summary.refit) == (False, True)
    honest, found = results(tmp_path / "plain"), results(tmp_path / "refit")
    for name in ("metrics.json", "predictions.csv", "history.csv", "splits.json", "parity.png"):
        assert honest[name] == found[name]
    assert "head.0.weight" not in same(weights(tmp_path / "plain"), weights(tmp_path / "refit"))
    best = [network["best_epoch"] for network in honest["model.json"]["networks"]]
    assert [network["epochs"] for network in found["model.json"]["networks"]] == best


def test_a_refit_is_fitted_on_every_row_and_knows_it(tmp_path, program):
    """Scalers of all rows, and an evaluation on any of them warns."""
    table = toy_table(tmp_path)
    train(table, tmp_path / "plain")
    train(table, tmp_path / "refit", refit=True)
    values = np.array([row["logP"] for row in toy_rows()], dtype=float)
    scaler = load_model(tmp_path / "refit").target_scaler
    assert scaler.mean.item() == pytest.approx(values.mean(), abs=1e-12)
    assert scaler.scale.item() == pytest.approx(values.std())
    parts = read_object(tmp_path / "plain" / "splits.json")
    train_rows = values[np.array(parts["train"]) - 1]
    assert load_model(tmp_path / "plain").target_scaler.mean.item() == pytest.approx(train_rows.mean(), abs=1e-12)
    assert "48 of 60 rows hold molecules that" in program("evaluate", "--data", table, "-m", tmp_path / "plain").err
    assert "60 of 60 rows hold molecules that" in program("evaluate", "--data", table, "-m", tmp_path / "refit").err


def test_a_refit_without_held_out_rows_trains_every_epoch(tmp_path):
    split = SplitRequest(fractions=(1.0, 0.0, 0.0))
    summary = train(toy_table(tmp_path), tmp_path / "run", split=split, refit=True)
    assert list(summary.metrics) == ["train"]
    assert read_object(tmp_path / "run" / "model.json")["networks"] == [
        {"best_epoch": 2, "best_validation_loss": None, "epochs": 2}
    ]
    assert {row["validation_loss"] for row in read_csv(tmp_path / "run" / "history.csv")} == {""}


# --- ensemble


def test_an_ensemble_predicts_the_mean_of_different_members(mixed):
    model, rows = load_model(mixed), mixed_rows()[:20]
    acidity = [[float(str(row["pH"]))] for row in rows]
    found = []
    for one in (model, alone(model, 0), alone(model, 1)):
        predictor = Predictor(one, workers=1)
        predictions = predictor.predict([str(row["smiles"]) for row in rows], acidity)
        predictor.close()
        found.append(np.array([prediction.values for prediction in predictions], dtype=float))
    together, first, second = found
    np.testing.assert_allclose(together, (first + second) / 2, rtol=1e-12)
    assert np.abs(first - second).max() > 1e-3


def test_the_first_member_is_the_network_of_a_run_without_ensemble(tmp_path, finished):
    train(toy_table(tmp_path), tmp_path / "run", ensemble=2)
    first, second = weights(tmp_path / "run"), weights(tmp_path / "run", 1)
    assert same(first, weights(finished)) == set(first)
    assert "head.0.weight" not in same(first, second)


def test_an_ensemble_of_classifiers_averages_probabilities(tmp_path):
    rows = [{"smiles": smiles, "polar": int(smiles[-1] in "ON")} for smiles in SMILES]
    train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", ensemble=2)
    model = load_model(tmp_path / "run")
    shares = []
    for one in (model, alone(model, 0), alone(model, 1)):
        predictor = Predictor(one, workers=1)
        shares.append(np.array([p.values[0] for p in predictor.predict(SMILES)]))
        predictor.close()
    np.testing.assert_allclose(shares[0], (shares[1] + shares[2]) / 2, rtol=1e-12)
    np.testing.assert_allclose(shares[0].sum(1), 1.0)


# --- fine-tuning


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    """A model of half of the molecules."""
    folder = tmp_path_factory.mktemp("start")
    train(write_table(folder / "t.csv", toy_rows()[:30]), folder / "run", units=("log",))
    return folder / "run"


def test_fine_tuning_goes_on_from_the_weights_and_keeps_scalers_and_units(tmp_path, start):
    table = write_table(tmp_path / "t.csv", toy_rows()[30:])
    reporter = Notes()
    train(table, tmp_path / "run", start=start, reporter=reporter, learning_rate=0.0, weight_decay=0.0)
    before, after = load_model(start), load_model(tmp_path / "run")
    assert same(weights(start), weights(tmp_path / "run")) == set(weights(start))
    assert torch.equal(before.target_scaler.mean, after.target_scaler.mean)
    assert torch.equal(before.target_scaler.scale, after.target_scaler.scale)
    assert after.task == before.task and after.task.units == ("log",)
    assert reporter.notes == []
    assert read_object(tmp_path / "run" / "model.json")["data"]["start"] == str(start)
    train(table, tmp_path / "moved", start=start)
    assert "head.0.weight" not in same(weights(start), weights(tmp_path / "moved"))


def test_what_the_first_model_has_seen_is_no_test_and_not_forgotten(tmp_path, start):
    reporter = Notes()
    train(toy_table(tmp_path), tmp_path / "run", start=start, reporter=reporter)
    known = set(load_model(start).training_keys.tolist())
    test_rows = read_object(tmp_path / "run" / "splits.json")["test"]
    seen = set(read_object(start / "splits.json")["train"]) & set(test_rows)
    (note,) = [note for note in reporter.notes if note.startswith("warning")]
    assert 0 < len(seen) < 6
    assert f"{len(seen)} of 6 test molecules are known" in note
    keys = set(load_model(tmp_path / "run").training_keys.tolist())
    assert known < keys
    assert len(keys) < len(known) + 48  # of both, each once


@pytest.mark.parametrize("refit", [False, True])
def test_frozen_parts_are_bit_equal_and_the_others_move(tmp_path, start, refit):
    table = write_table(tmp_path / "t.csv", toy_rows()[20:])
    train(table, tmp_path / "run", start=start, freeze=True, refit=refit, weight_decay=0.1)
    before, after = weights(start), weights(tmp_path / "run")
    kept = same(before, after)
    assert kept == {name for name in before if name.startswith(("embedding.", "recurrence."))}
    assert {name for name in before if name not in kept} == {name for name in before if name.startswith("head.")}


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"hidden": 32}, "hidden 16, which cannot become 32"),
        ({"block": "gat"}, "block gatv2, which cannot become gat"),
        ({"steps": 2}, "steps 4, which cannot become 2"),
        ({"dt": 0.5}, "dt 0.25, which cannot become 0.5"),
        ({"readout": "mean"}, "readout sum, which cannot become mean"),
        ({"descriptors": "fast"}, "descriptors none, which cannot become fast"),
        ({"standardize": "parent"}, "standardize as-drawn, which cannot become parent"),
    ],
)
def test_another_architecture_is_refused_and_claims_no_folder(tmp_path, start, setting, named):
    with pytest.raises(InputError, match=named):
        train(toy_table(tmp_path), tmp_path / "run", start=start, **setting)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_a_model_for_numbers_does_not_become_one_for_classes(tmp_path, start):
    rows = [{"smiles": smiles, "polar": int(smiles[-1] in "ON")} for smiles in SMILES]
    with pytest.raises(InputError, match="is for regression, the data are for classification"):
        train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", start=start)


def test_other_targets_get_a_fresh_head_and_their_own_scalers_and_units(tmp_path, mixed):
    """From two targets and a feature column to one target of them without."""
    reporter = Notes()
    table = write_table(tmp_path / "t.csv", [row for row in mixed_rows()[:60] if row["charge"] != ""])
    settings = {"descriptors": "fast", "learning_rate": 0.0, "weight_decay": 0.0, "dropout": 0.0}
    reading = {"target_columns": ["charge"]}
    train(table, tmp_path / "run", start=mixed, reading=reading, reporter=reporter, **settings)
    assert any("the head begins with fresh weights" in note for note in reporter.notes)
    model = load_model(tmp_path / "run")
    assert model.task.units == ("e",)  # not the unit of the first target
    before, after = weights(mixed), weights(tmp_path / "run")
    body = {name for name in before if not name.startswith("head.")}
    assert all(torch.equal(before[name], after[name]) for name in body)
    assert model.target_scaler.mean.item() != load_model(mixed).target_scaler.mean[1].item()
    assert model.target_scaler.mean.item() == pytest.approx(
        np.mean([float(row["measured"]) for row in read_csv(tmp_path / "run" / "predictions.csv") if in_train(row)])
    )


def in_train(row: dict[str, str]) -> bool:
    return row["part"] == "train"


@pytest.mark.parametrize(
    ("unit_then", "unit_now", "name", "kept"),
    [
        ("", "", "logP", True),
        ("", "", "mass", False),
        ("log", "", "mass", False),
        ("log", "log", "mass", True),
        ("log", "ln", "logP", False),
    ],
)
def test_a_target_of_another_name_is_another_quantity_unless_its_unit_says_otherwise(
    tmp_path, unit_then, unit_now, name, kept
):
    train(toy_table(tmp_path), tmp_path / "start", units=(unit_then,))
    rows = [{"smiles": row["smiles"], name: 100 + float(str(row["logP"]))} for row in toy_rows()]
    units = (unit_now,) if unit_now else ()
    train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", start=tmp_path / "start", units=units)
    model = load_model(tmp_path / "run")
    assert model.task.units == (unit_now,)
    assert torch.equal(model.target_scaler.mean, load_model(tmp_path / "start").target_scaler.mean) == kept
    if not kept:
        assert 101 < model.target_scaler.mean.item() < 104
        assert np.mean(predicted(tmp_path / "run")) == pytest.approx(102, abs=5)


def test_descriptor_and_feature_scalers_stay_those_of_the_first_model(tmp_path, mixed):
    rows = [dict(row, pH=float(str(row["pH"])) + 5) for row in mixed_rows()[:30]]
    table = write_table(tmp_path / "t.csv", rows)
    train(table, tmp_path / "run", start=mixed, reading=MIXED, descriptors="fast", ensemble=3)
    before, after = load_model(mixed), load_model(tmp_path / "run")
    for scaler in ("feature_scaler", "descriptor_scaler"):
        ours, theirs = getattr(before, scaler).tensors(), getattr(after, scaler).tensors()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert len(after.networks) == 3


def test_freezing_needs_a_model_to_start_from():
    with pytest.raises(InputError, match="--freeze needs --from DIR"):
        RunRequest(config=Config(), freeze=True)
