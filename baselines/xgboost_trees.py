"""Gradient boosting with XGBoost."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.boosting import BoostedTrees, Rows


class _XGBoost(BoostedTrees):
    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        n_estimators: int = 2000,
        early_stopping_rounds: int | None = 100,
        learning_rate: float = 0.03,
        max_depth: int = 4,
        min_child_weight: float = 3.0,
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
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> xgboost.Booster:
        params = self._library_params(rows)

        def best(train: Rows, inner: Rows) -> int:
            booster = xgboost.train(
                params,
                _data(rows, train),
                num_boost_round=self.n_estimators,
                evals=[(_data(rows, inner), "inner")],
                early_stopping_rounds=self.early_stopping_rounds,
                verbose_eval=False,
            )
            return int(booster.best_iteration) + 1

        trees = self._num_trees(rows, best)
        return xgboost.train(params, _data(rows, np.arange(len(rows.y))), num_boost_round=trees, verbose_eval=False)

    def _library_params(self, rows: TrainingRows) -> dict[str, Any]:
        if rows.num_classes == 0:
            objective: dict[str, Any] = {"objective": "reg:squarederror"}
        elif rows.num_classes == 2:
            objective = {"objective": "binary:logistic"}
        else:
            objective = {"objective": "multi:softprob", "num_class": rows.num_classes}
        return objective | {
            "tree_method": "hist",
            "learning_rate": self.learning_rate,
            "max_depth": self.max_depth,
            "min_child_weight": self.min_child_weight,
            "subsample": self.subsample,
            "colsample_bytree": self.colsample_bytree,
            "reg_lambda": self.reg_lambda,
            "seed": rows.seed,
            "nthread": 0 if self._threads == -1 else self._threads,
            "verbosity": 0,
        }

    def _predict_target(self, core: xgboost.Booster, matrix: Floats) -> Floats:
        core.set_param({"nthread": 0 if self._threads == -1 else self._threads})
        found = core.predict(xgboost.DMatrix(matrix, nthread=self._threads)).astype(np.float64)
        return np.column_stack([1 - found, found]) if self._is_classifier and found.ndim == 1 else found

    def _dump(self, cores: list[Any]) -> dict[str, bytes]:
        return {f"xgboost-{number}.json": bytes(core.save_raw("json")) for number, core in enumerate(cores, start=1)}

    def _load(self, files: dict[str, bytes], num_targets: int) -> list[Any]:
        cores = []
        for number in range(1, num_targets + 1):
            content = files[f"xgboost-{number}.json"]
            json.loads(content)  # its own reader may end the process where this raises
            booster = xgboost.Booster()
            booster.load_model(bytearray(content))
            cores.append(booster)
        return cores


def _data(rows: TrainingRows, chosen: Rows) -> xgboost.DMatrix:
    return xgboost.DMatrix(rows.matrix[chosen], label=rows.y[chosen], weight=rows.weights[chosen], nthread=1)


class XGBoostRegressor(_XGBoost, BaselineRegressor):
    """XGBoost on descriptors.

    Parameters
    ----------
    n_estimators, early_stopping_rounds: most trees, and the patience that stops before; see `BoostedTrees`.
    learning_rate=0.03: small steps, since about 1,000 molecules fit in seconds even with many trees.
    max_depth=4, min_child_weight=3: shallow trees, whose leaves hold at least three of few rows.
    subsample=0.7, colsample_bytree=0.3: each tree sees other rows and a third of the descriptors, many of which say
        the same; this decorrelates the trees.
    reg_lambda=1: the library's default.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`.

    References
    ----------
    Chen & Guestrin, KDD 2016, doi:10.1145/2939672.2939785.
    """


class XGBoostClassifier(_XGBoost, BaselineClassifier):
    """XGBoost for classes; parameters and reference as in `XGBoostRegressor`, but min_child_weight=1.

    Here it counts p (1 - p) of each row, a quarter at most: 3 would be twelve rows a leaf.
    """

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        n_estimators: int = 2000,
        early_stopping_rounds: int | None = 100,
        learning_rate: float = 0.03,
        max_depth: int = 4,
        min_child_weight: float = 1.0,
        subsample: float = 0.7,
        colsample_bytree: float = 0.3,
        reg_lambda: float = 1.0,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        super().__init__(
            feature_kind=feature_kind,
            n_estimators=n_estimators,
            early_stopping_rounds=early_stopping_rounds,
            learning_rate=learning_rate,
            max_depth=max_depth,
            min_child_weight=min_child_weight,
            subsample=subsample,
            colsample_bytree=colsample_bytree,
            reg_lambda=reg_lambda,
            standardize=standardize,
            random_state=random_state,
            on_invalid=on_invalid,
            time_limit=time_limit,
            n_jobs=n_jobs,
        )
