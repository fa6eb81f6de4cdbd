"""Linear models with a penalty on their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.skops_models import SkopsBaseline
from scoregnn.errors import InputError


class _Linear(SkopsBaseline):
    _core_type = (Ridge, LogisticRegression)

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        alpha: float = 30.0,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.alpha = alpha
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if not self.alpha > 0:
            raise InputError(f"alpha must be above 0, not {self.alpha}")

    def _fit_target(self, rows: TrainingRows) -> Any:
        # C is the inverse of the penalty in the same sum over rows.
        model = LogisticRegression(C=1 / self.alpha, max_iter=5000) if rows.num_classes else Ridge(alpha=self.alpha)
        return model.fit(rows.matrix, rows.y, sample_weight=rows.weights)

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        found: Floats = core.predict_proba(matrix) if self._is_classifier else core.predict(matrix)
        return found


class RidgeRegressor(_Linear, BaselineRegressor):
    """Ridge regression on signed-log, standardised descriptors.

    Parameters
    ----------
    alpha=30: penalty on the squares of the coefficients of standardised columns. Descriptors come in families that
        say nearly the same, so that with a weak penalty coefficients grow against each other.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`; nothing
        here is random.

    References
    ----------
    Hoerl & Kennard, Technometrics 12, 55 (1970).
    """


class LogisticClassifier(_Linear, BaselineClassifier):
    """Logistic regression on signed-log, standardised descriptors; parameters as in `RidgeRegressor`."""
