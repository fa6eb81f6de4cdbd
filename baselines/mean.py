"""The least that a model must beat: the same answer for every molecule."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.skops_models import SkopsBaseline


class _Constant(SkopsBaseline):
    _core_type = (DummyRegressor, DummyClassifier)
    feature_kind = "none"

    def __init__(
        self,
        *,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> Any:
        model = DummyClassifier(strategy="prior") if rows.num_classes else DummyRegressor(strategy="mean")
        return model.fit(np.zeros((len(rows.y), 1)), rows.y, sample_weight=rows.weights)

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        blank = np.zeros((len(matrix), 1))
        found: Floats = core.predict_proba(blank) if self._is_classifier else core.predict(blank)
        return found


class MeanRegressor(_Constant, BaselineRegressor):
    """The weighted mean of the training values. Parameters as in `Baseline`; features are looked at by nobody."""


class MajorityClassifier(_Constant, BaselineClassifier):
    """The weighted shares of the classes, so that the most frequent one is predicted; parameters as in `Baseline`."""
