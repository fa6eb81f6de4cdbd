"""Gradient boosting with LightGBM."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.boosting import BoostedTrees, Rows


class _LightGBM(BoostedTrees):
    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        n_estimators: int = 2000,
        early_stopping_rounds: int | None = 100,
        learning_rate: float = 0.03,
        num_leaves: int = 15,
        min_child_samples: int = 5,
        subsample: float = 0.7,
        colsample_bytree: float = 0.3,
        reg_lambda: float = 1.0,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.n_estimators = n_estimators
        self.early_stopping_rounds = early_stopping_rounds
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> lightgbm.Booster:
        params = self._library_params(rows)

        patience = self.early_stopping_rounds or 0  # not called for None

        def best(train: Rows, inner: Rows) -> int:
            data = _data(rows, train)
            booster = lightgbm.train(
                params,
                data,
                num_boost_round=self.n_estimators,
                valid_sets=[_data(rows, inner, reference=data)],
                callbacks=[lightgbm.early_stopping(patience, verbose=False)],
            )
            return int(booster.best_iteration)

        trees = self._num_trees(rows, best)
        return lightgbm.train(params, _data(rows, np.arange(len(rows.y))), num_boost_round=trees)

    def _library_params(self, rows: TrainingRows) -> dict[str, Any]:
        if rows.num_classes == 0:
            objective: dict[str, Any] = {"objective": "regression"}
        elif rows.num_classes == 2:
            objective = {"objective": "binary"}
        else:
            objective = {"objective": "multiclass", "num_class": rows.num_classes}
        return objective | {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "bagging_fraction": max(self.subsample, 1 / len(rows.y)),  # at least one row
            "bagging_freq": 1,
            "feature_fraction": self.colsample_bytree,
            "lambda_l2": self.reg_lambda,
            "seed": rows.seed,
            "deterministic": True,
            "force_col_wise": True,  # else a timing decides, and with it the order of sums
            "num_threads": self._num_threads,
            "verbosity": -1,
        }

    @property
    def _num_threads(self) -> int:
        return 0 if self._threads == -1 else self._threads

    def _predict_target(self, core: lightgbm.Booster, matrix: Floats) -> Floats:
        found = np.asarray(core.predict(matrix, num_threads=self._num_threads), dtype=np.float64)
        return np.column_stack([1 - found, found]) if self._is_classifier and found.ndim == 1 else found

    def _dump(self, cores: list[Any]) -> dict[str, bytes]:
        return {f"lightgbm-{n}.txt": core.model_to_string().encode() for n, core in enumerate(cores, start=1)}

    def _load(self, files: dict[str, bytes], num_targets: int) -> list[Any]:
        texts = [files[f"lightgbm-{number}.txt"].decode() for number in range(1, num_targets + 1)]
        for text in texts:
            _check_whole(text)
        return [lightgbm.Booster(model_str=text) for text in texts]


def _data(rows: TrainingRows, chosen: Rows, reference: lightgbm.Dataset | None = None) -> lightgbm.Dataset:
    return lightgbm.Dataset(rows.matrix[chosen], label=rows.y[chosen], weight=rows.weights[chosen], reference=reference)


def _check_whole(text: str) -> None:
    """Raises `ValueError` for a text that is cut off or no model: LightGBM's own reader would end the process."""
    header, _, trees = text.partition("\n\n")
    sizes = [line.removeprefix("tree_sizes=").split() for line in header.splitlines() if line.startswith("tree_sizes=")]
    if not header.startswith("tree\n") or len(sizes) != 1:
        raise ValueError("no LightGBM model")
    start, content = 0, trees.encode()
    for number, size in enumerate(sizes[0]):
        if not content.startswith(b"Tree=%d\n" % number, start):
            raise ValueError(f"tree {number} is not where a LightGBM model has it")
        start += int(size)
    if not content.startswith(b"end of trees", start):
        raise ValueError("the LightGBM model does not end after its trees")


class LightGBMRegressor(_LightGBM, BaselineRegressor):
    """LightGBM on descriptors.

    Parameters
    ----------
    n_estimators, early_stopping_rounds: most trees, and the patience that stops before; see `BoostedTrees`.
    learning_rate=0.03: small steps, since about 1,000 molecules fit in seconds even with many trees.
    num_leaves=15, min_child_samples=5: smaller trees, but finer leaves than the defaults (31 and 20), which are made
        for tens of thousands of rows.
    subsample=0.7, colsample_bytree=0.3: each tree sees other rows and a third of the descriptors, many of which say
        the same; this decorrelates the trees.
    reg_lambda=1: as XGBoost has it.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`.

    References
    ----------
    Ke et al., NeurIPS 2017, 3146.
    """


class LightGBMClassifier(_LightGBM, BaselineClassifier):
    """LightGBM for classes; parameters and reference as in `LightGBMRegressor`."""
