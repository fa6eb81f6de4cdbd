"""Metrics against numbers worked out by hand."""

import numpy as np
import pytest

from scoregnn.training.metrics import evaluate
from scoregnn.training.task import Task


def test_regression_by_hand():
    task = Task("regression", ("y",), ("",))
    targets = np.array([[1.0], [2.0], [4.0], [np.nan], [100.0]])
    bounds = np.array([[0], [0], [0], [0], [1]], dtype=np.int8)
    found = evaluate(task, targets, bounds, [np.array([1.0, 4.0, 3.0, 50.0, 0.0])])
    # Errors 0, 2, -1; mean of the truth 7/3, sum of squares around it 14/3; ranks (1, 2, 3) and (1, 3, 2).
    assert found["rmse"] == pytest.approx(np.sqrt(5 / 3))
    assert found["mae"] == pytest.approx(1.0)
    assert found["r2"] == pytest.approx(1 - 5 / (14 / 3))
    assert found["spearman"] == pytest.approx(0.5)
    assert found["n"] == 3


def test_what_is_not_defined_is_none():
    task = Task("regression", ("y",), ("",))
    found = evaluate(task, np.array([[1.0]]), np.zeros((1, 1)), [np.array([3.0])])
    assert found == {"rmse": 2.0, "mae": 2.0, "r2": None, "spearman": None, "n": 1}
    assert evaluate(task, np.array([[np.nan]]), np.zeros((1, 1)), [np.array([3.0])]) == {"n": 0}


def test_binary_classification_by_hand():
    task = Task("classification", ("y",), ("",), (("0", "1"),))
    positive = np.array([0.1, 0.6, 0.4, 0.8])
    probability = np.stack([1 - positive, positive], axis=1)
    found = evaluate(task, np.array([[0.0], [0.0], [1.0], [1.0]]), np.zeros((4, 1)), [probability])
    assert found["roc_auc"] == pytest.approx(3 / 4)  # of 4 pairs only (0.4 < 0.6) is in the wrong order
    assert found["pr_auc"] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert found["accuracy"] == pytest.approx(0.5)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.4, 0.8]).mean())


def test_several_targets_are_reported_by_name_and_a_class_that_is_absent_gives_no_area():
    task = Task("classification", ("a", "b"), ("", ""), (("x", "y", "z"), ("no", "yes")))
    three = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]])
    two = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    found = evaluate(task, np.array([[0, 0], [1, 0], [2, 0.0]]), np.zeros((3, 2)), [three, two])
    assert found["a"]["roc_auc"] == 1.0
    assert found["a"]["accuracy"] == 1.0
    assert found["b"]["roc_auc"] is None
    assert found["b"]["accuracy"] == pytest.approx(2 / 3)
