"""Metrics of a finished model, by scikit-learn and scipy (imported when asked for; the training loop needs neither)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from scoregnn.training.task import Task


def regression_metrics(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float | None]:
    """RMSE and MAE in the unit of the target, R2, Spearman's rho, n; what is not defined for the data is None."""
    from scipy.stats import spearmanr
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    constant = len(truth) < 2 or np.ptp(truth) == 0
    return {
        "rmse": float(root_mean_squared_error(truth, predicted)),
        "mae": float(mean_absolute_error(truth, predicted)),
        "r2": None if constant else float(r2_score(truth, predicted)),
        "spearman": None if constant or np.ptp(predicted) == 0 else float(spearmanr(truth, predicted).statistic),
        "n": len(truth),
    }


def classification_metrics(truth: np.ndarray, probability: np.ndarray) -> dict[str, float | None]:
    """ROC-AUC and PR-AUC (one class against the rest, macro mean for several), accuracy, log loss, n.

    truth: class codes [n]. probability: [n, num_classes]. The areas are None where a class does not occur.
    """
    from sklearn.metrics import accuracy_score, average_precision_score, log_loss, roc_auc_score
    from sklearn.preprocessing import label_binarize

    codes = np.arange(probability.shape[1])
    complete = len(np.unique(truth)) == len(codes)
    if len(codes) == 2:
        shown, scores = truth == 1, probability[:, 1]
    else:
        shown, scores = label_binarize(truth, classes=codes), probability
    return {
        "roc_auc": float(roc_auc_score(shown, scores, average="macro")) if complete else None,
        "pr_auc": float(average_precision_score(shown, scores, average="macro")) if complete else None,
        "accuracy": float(accuracy_score(truth, probability.argmax(1))),
        "log_loss": float(log_loss(truth, probability, labels=codes)),
        "n": len(truth),
    }


def evaluate(task: Task, targets: np.ndarray, bounds: np.ndarray, predicted: list[np.ndarray]) -> dict[str, Any]:
    """Metrics over exact labels; one dictionary, or one by target name where there are several.

    targets: [n, num_targets], NaN where missing; bounds: [n, num_targets]; predicted: for each target values [n]
    (regression) or class probabilities [n, num_classes]. A target without labels gives {"n": 0}.
    """
    results: dict[str, Any] = {}
    for column, name in enumerate(task.targets):
        known = np.isfinite(targets[:, column]) & (bounds[:, column] == 0)
        if not known.any():
            results[name] = {"n": 0}
        elif task.kind == "regression":
            results[name] = regression_metrics(targets[known, column], predicted[column][known])
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results[name] = classification_metrics(targets[known, column].astype(int), predicted[column][known])
    return results if len(task.targets) > 1 else results[task.targets[0]]
