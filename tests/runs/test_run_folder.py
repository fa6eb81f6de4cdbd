"""What a finished run leaves: files, what they hold, and that they agree with each other."""

from __future__ import annotations

import importlib.metadata
import struct

import numpy as np
import pytest
import torch
from running import MIXED, alone, mixed_rows
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from toy import SMILES, read_csv, read_object, toy_rows, toy_table, train, write_table

from scoregnn.config import Config
from scoregnn.errors import ScoreGNNError
from scoregnn.graphs.tables import read_labelled
from scoregnn.molecules import FEATURIZER_VERSION, descriptor_names
from scoregnn.prediction import Predictor
from scoregnn.training.loop import DivergedError
from scoregnn.training.prepare import SplitRequest
from scoregnn.training.run_folder import load_model

PARTS = ("train", "validation", "test")


def exact(rows, prefix=""):
    """Measured and predicted values of the rows that have both; bounds are no values."""
    pairs = [(row[f"{prefix}measured"], row[f"{prefix}prediction"]) for row in rows]
    return np.array([[float(a), float(b)] for a, b in pairs if a and a[0] not in "<>"]).T


def check_regression(metrics, rows, prefix=""):
    truth, predicted = exact(rows, prefix)
    assert metrics["n"] == len(truth)
    assert metrics["rmse"] == pytest.approx(root_mean_squared_error(truth, predicted), rel=1e-9)
    assert metrics["mae"] == pytest.approx(mean_absolute_error(truth, predicted), rel=1e-9)
    assert metrics["r2"] == pytest.approx(r2_score(truth, predicted), rel=1e-9)


def test_the_files_of_a_run_and_no_others(mixed):
    assert sorted(path.name for path in mixed.iterdir()) == [
        *(".lock", "history.csv", "metrics.json", "model.json", "model.safetensors"),
        *("parity.png", "predictions.csv", "run.json", "splits.json"),
    ]


def test_model_json_says_what_the_model_is_and_where_it_comes_from(mixed):
    content = read_object(mixed / "model.json")
    config = Config.from_dict(content["config"])
    assert (config.hidden, config.epochs, config.ensemble, config.seed) == (16, 3, 2, 5)
    assert content["config_digest"] == config.digest()
    assert content["featurizer_version"] == FEATURIZER_VERSION
    assert content["task"] == {
        **{"kind": "regression", "targets": ["logP", "charge"], "units": ["log", "e"], "classes": []}
    }
    assert content["features"] == ["pH"]
    assert content["descriptors"] == list(descriptor_names("fast"))
    assert content["data"]["sha256"] == read_labelled(mixed.parent / "t.csv", **MIXED).data_sha256
    assert (content["data"]["rows"], content["data"]["used"]) == (63, 61)
    assert content["data"]["split"]["seed"] == 0
    for name in ("torch", "rdkit", "numpy", "scoregnn"):
        assert content["versions"][name] == importlib.metadata.version(name)
    assert content["num_parameters"] == sum(p.numel() for p in load_model(mixed).networks[1].parameters())


def test_scalers_are_those_of_the_training_part(mixed):
    parts, rows = read_object(mixed / "splits.json"), mixed_rows()
    scalers = read_object(mixed / "model.json")["scalers"]
    for kind, name in [("targets", "logP"), ("targets", "charge"), ("features", "pH")]:
        values = [float(str(cell)) for row in parts["train"] if (cell := rows[row - 1][name]) != ""]
        assert scalers[kind][name]["mean"] == pytest.approx(np.mean(values))
        assert scalers[kind][name]["scale"] == pytest.approx(np.std(values))
    assert list(scalers["descriptors"]) == list(descriptor_names("fast"))
    model = load_model(mixed)
    assert model.target_scaler.mean.tolist() == [scalers["targets"][name]["mean"] for name in ("logP", "charge")]


def test_every_row_has_its_part_or_the_reason_why_not(mixed):
    rows, parts = read_csv(mixed / "predictions.csv"), read_object(mixed / "splits.json")
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 64)]
    assert [row["smiles"] for row in rows] == [row["smiles"] for row in mixed_rows()]
    for row in rows[:61]:
        assert int(row["row"]) in parts[row["part"]]
        assert row["status"] == ""
    assert sum(len(parts[part]) for part in PARTS) == 61
    assert rows[60]["part"] == rows[1]["part"]  # methanol, drawn in two ways
    assert "C1CC" in rows[61]["status"] or "ring" in rows[61]["status"]
    assert rows[62]["status"] == "no label in this row"
    for row in rows[61:]:
        assert {cell for name, cell in row.items() if name not in ("row", "smiles", "status")} == {""}


def test_metrics_are_scikit_learns_on_the_predictions_of_each_part_and_target(mixed):
    metrics, rows = read_object(mixed / "metrics.json"), read_csv(mixed / "predictions.csv")
    assert tuple(metrics) == PARTS
    for part in PARTS:
        assert list(metrics[part]) == ["logP", "charge"]
        for target in metrics[part]:
            check_regression(metrics[part][target], [row for row in rows if row["part"] == part], f"{target}.")
    assert metrics["train"]["charge"]["n"] < metrics["train"]["logP"]["n"]  # gaps are no labels


@pytest.mark.parametrize(("offset", "scale"), [(2_000_000.0, 1.0), (0.0, 1e-9)])
def test_metrics_agree_where_the_offset_hides_the_differences(tmp_path, offset, scale):
    rows = [{"smiles": row["smiles"], "y": repr(offset + scale * row["logP"])} for row in toy_rows()]
    summary = train(write_table(tmp_path / "t.csv", rows), tmp_path / "run")
    found = [row for row in read_csv(tmp_path / "run" / "predictions.csv") if row["part"] == "test"]
    check_regression(summary.metrics["test"], found)
    assert summary.metrics["test"]["rmse"] < 10 * scale


def test_bounds_are_shown_and_not_scored(tmp_path):
    rows = [dict(row, logP=f">{row['logP']}" if n % 3 == 0 else row["logP"]) for n, row in enumerate(toy_rows())]
    summary = train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", reading={"censored": True})
    found = read_csv(tmp_path / "run" / "predictions.csv")
    assert [row["measured"] for row in found] == [str(row["logP"]) for row in rows]
    check_regression(summary.metrics["train"], [row for row in found if row["part"] == "train"])
    assert sum(summary.metrics[part]["n"] for part in PARTS) == 40


def test_metrics_of_two_classes_from_the_predictions(tmp_path):
    rows = [{"smiles": smiles, "polar": int(smiles[-1] in "ON")} for smiles in SMILES]
    summary = train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", epochs=4)
    for part in ("train", "test"):
        found = [row for row in read_csv(tmp_path / "run" / "predictions.csv") if row["part"] == part]
        truth = np.array([int(row["measured"]) for row in found])
        best = np.array([float(row["probability"]) for row in found])
        positive = np.where([row["prediction"] == "1" for row in found], best, 1 - best)
        metrics = summary.metrics[part]
        assert metrics["accuracy"] == accuracy_score(truth, positive > 0.5)
        assert metrics["roc_auc"] == pytest.approx(roc_auc_score(truth, positive))
        assert metrics["pr_auc"] == pytest.approx(average_precision_score(truth, positive))
        assert metrics["log_loss"] == pytest.approx(log_loss(truth, positive, labels=[0, 1]))


def test_metrics_of_three_classes_from_the_predictions(tmp_path):
    kinds = {"O": "alcohol", "N": "amine"}
    rows = [{"smiles": smiles, "kind": kinds.get(smiles[-1], "other")} for smiles in SMILES]
    reading = {"task": "classification", "target_columns": ["kind"]}
    summary = train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", reading=reading, epochs=4)
    found = [row for row in read_csv(tmp_path / "run" / "predictions.csv") if row["part"] == "train"]
    classes = ["alcohol", "amine", "other"]
    assert read_object(tmp_path / "run" / "model.json")["task"]["classes"] == [classes]
    shares = np.array([[float(row[f"probability of {name}"]) for name in classes] for row in found])
    truth = np.array([classes.index(row["measured"]) for row in found])
    assert [classes[best] for best in shares.argmax(1)] == [row["prediction"] for row in found]
    assert [float(row["probability"]) for row in found] == shares.max(1).tolist()
    metrics = summary.metrics["train"]
    assert metrics["accuracy"] == accuracy_score(truth, shares.argmax(1))
    assert metrics["roc_auc"] == pytest.approx(roc_auc_score(truth, shares, multi_class="ovr"))
    assert metrics["log_loss"] == pytest.approx(log_loss(truth, shares))


def test_the_saved_model_gives_the_predictions_of_the_table(mixed):
    rows = [row for row in read_csv(mixed / "predictions.csv") if row["part"]]
    predictor = Predictor.load(mixed, workers=1)
    acidity = [[float(str(mixed_rows()[int(row["row"]) - 1]["pH"]))] for row in rows]
    found = predictor.predict([row["smiles"] for row in rows], acidity)
    predictor.close()
    for column, name in enumerate(("logP", "charge")):
        values = [float(prediction.values[column]) for prediction in found]
        assert values == pytest.approx([float(row[f"{name}.prediction"]) for row in rows], rel=1e-6)


def test_history_has_a_line_for_every_epoch_of_every_network(mixed):
    rows = read_csv(mixed / "history.csv")
    assert [(row["network"], row["epoch"]) for row in rows] == [(n, e) for n in "01" for e in "123"]
    networks = read_object(mixed / "model.json")["networks"]
    for number, network in enumerate(networks):
        losses = [float(row["validation_loss"]) for row in rows if row["network"] == str(number)]
        assert network["best_epoch"] == int(np.argmin(losses)) + 1
        assert network["best_validation_loss"] == min(losses)
    assert len({row["train_loss"] for row in rows}) == 6


def test_the_picture_is_a_whole_png_with_a_panel_for_each_target(finished, mixed):
    sizes = []
    for folder in (finished, mixed):
        content = (folder / "parity.png").read_bytes()
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert content[-8:-4] == b"IEND"
        sizes.append(struct.unpack(">II", content[16:24]))
    (width, height), (double, same) = sizes
    assert (double, same) == (2 * width, height)


def test_the_summary_is_what_the_files_say(tmp_path):
    summary = train(toy_table(tmp_path), tmp_path / "run")
    assert summary.metrics == read_object(tmp_path / "run" / "metrics.json")
    assert summary.parts == {"train": 48, "validation": 6, "test": 6}
    seconds = sum(float(row["seconds"]) for row in read_csv(tmp_path / "run" / "history.csv"))
    assert summary.seconds == pytest.approx(seconds, abs=1e-3)


def test_weights_and_features_reach_the_training_and_not_the_metrics(tmp_path):
    """A molecule measured twice with different results: the weight says which one is believed."""
    rows = [{"smiles": smiles, "y": value, "w": 1 if value else 0} for smiles in SMILES[:30] for value in (0.0, 4.0)]
    table = write_table(tmp_path / "t.csv", rows)
    settings = {"epochs": 30, "learning_rate": 0.02, "dropout": 0.0}
    weighted = train(table, tmp_path / "w", reading={"target_columns": ["y"], "weight_column": "w"}, **settings)
    plain = train(table, tmp_path / "p", reading={"target_columns": ["y"]}, **settings)
    means = [
        np.mean([float(row["prediction"]) for row in read_csv(tmp_path / name / "predictions.csv")]) for name in "wp"
    ]
    assert means[0] == pytest.approx(4.0, abs=0.3)
    assert means[1] == pytest.approx(2.0, abs=0.3)
    assert weighted.metrics["test"]["n"] == plain.metrics["test"]["n"] == 6  # unweighted rows
    check_regression(
        weighted.metrics["test"], [r for r in read_csv(tmp_path / "w" / "predictions.csv") if r["part"] == "test"]
    )


def test_a_feature_column_changes_what_is_predicted_for_one_molecule(tmp_path):
    rows = [{"smiles": smiles, "T": t, "y": t / 10} for smiles in SMILES[:20] for t in (10, 20, 30)]
    reading = {"target_columns": ["y"], "feature_columns": ["T"]}
    train(write_table(tmp_path / "t.csv", rows), tmp_path / "run", reading=reading, epochs=40, learning_rate=0.02)
    model = load_model(tmp_path / "run")
    assert model.feature_scaler.mean.item() == pytest.approx(20.0)
    found = [float(row["prediction"]) for row in read_csv(tmp_path / "run" / "predictions.csv")]
    assert np.mean(found[2::3]) - np.mean(found[::3]) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("fractions", [(0.8, 0.1, 0.1), (1.0, 0.0, 0.0)])
def test_numbers_that_explode_end_the_run_with_a_reason_and_no_model(tmp_path, fractions):
    with pytest.raises(DivergedError, match="lower learning rate"):
        train(
            toy_table(tmp_path),
            tmp_path / "run",
            split=SplitRequest(fractions=fractions),
            **{"epochs": 1, "batch_size": 64, "learning_rate": 1e30, "warmup": 0.0},
        )
    assert issubclass(DivergedError, ScoreGNNError)
    assert not (tmp_path / "run" / "model.json").exists()
    assert not (tmp_path / "run" / "metrics.json").exists()


def test_the_weights_on_disk_are_those_of_the_best_epoch(tmp_path):
    """Early stopping: the validation loss of the saved model is the lowest one of the history, not the last."""
    summary = train(toy_table(tmp_path), tmp_path / "run", epochs=40, patience=4, learning_rate=0.05, ensemble=2)
    rows = read_csv(tmp_path / "run" / "predictions.csv")
    truth = torch.tensor([float(row["measured"]) for row in rows if row["part"] == "validation"])
    smiles = [row["smiles"] for row in rows if row["part"] == "validation"]
    model = load_model(tmp_path / "run")
    history = read_csv(tmp_path / "run" / "history.csv")
    ended_early = 0
    for number, network in enumerate(read_object(tmp_path / "run" / "model.json")["networks"]):
        losses = [float(row["validation_loss"]) for row in history if row["network"] == str(number)]
        assert network["best_epoch"] == int(np.argmin(losses)) + 1
        ended_early += network["best_epoch"] + 4 == network["epochs"] == len(losses) < 40
        predictor = Predictor(alone(model, number), workers=1)
        values = torch.tensor([float(p.values[0]) for p in predictor.predict(smiles)])
        predictor.close()
        loss = float(((values - truth) / model.target_scaler.scale).square().mean())
        assert loss == pytest.approx(min(losses), rel=1e-4)
    assert ended_early == 2
    assert summary.config.patience == 4
