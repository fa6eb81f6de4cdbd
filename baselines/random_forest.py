"""Random forests."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier as SklearnForestClassifier
from sklearn.ensemble import RandomForestRegressor as SklearnForestRegressor

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.skops_models import SkopsBaseline


class _RandomForest(SkopsBaseline):
    _columns = "compressed"
    _core_type = (SklearnForestRegressor, SklearnForestClassifier)
    _trusted = ("sklearn.tree._tree.Tree",)

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        n_estimators: int = 500,
        max_features: float | str | None = 0.33,
        min_samples_leaf: int = 1,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> Any:
        kind = SklearnForestClassifier if rows.num_classes else SklearnForestRegressor
        forest = kind(
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=rows.seed,
            n_jobs=self._threads,
        )
        return forest.fit(rows.matrix, rows.y, sample_weight=rows.weights)

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        # One thread: several add up the trees in the order in which they finish, and sums differ in the last digit.
        core.n_jobs = 1
        found: Floats = core.predict_proba(matrix) if self._is_classifier else core.predict(matrix)
        return found


class RandomForestRegressor(_RandomForest, BaselineRegressor):
    """A random forest on descriptors.

    Parameters
    ----------
    n_estimators=500: more trees never overfit, they only cost time.
    max_features=0.33: a third of the columns at each cut, Breiman's choice for regression, which many descriptors
        that say the same make better and faster than all.
    min_samples_leaf=1: full trees; their average does the smoothing.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`.

    References
    ----------
    Breiman, Machine Learning 45, 5 (2001); for molecules Svetnik et al., J. Chem. Inf. Comput. Sci. 43, 1947 (2003).
    """


class RandomForestClassifier(_RandomForest, BaselineClassifier):
    """A random forest for classes; parameters as in `RandomForestRegressor`, but max_features="sqrt"."""

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        n_estimators: int = 500,
        max_features: float | str | None = "sqrt",
        min_samples_leaf: int = 1,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        super().__init__(
            feature_kind=feature_kind,
            n_estimators=n_estimators,
            max_features=max_features,
            min_samples_leaf=min_samples_leaf,
            standardize=standardize,
            random_state=random_state,
            on_invalid=on_invalid,
            time_limit=time_limit,
            n_jobs=n_jobs,
        )
