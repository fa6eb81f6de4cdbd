"""Support vector machines with the RBF kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.skops_models import SkopsBaseline
from scoregnn.errors import InputError

_CACHE_MB = 500
_CALIBRATION_FOLDS = 5


class _SVM(SkopsBaseline):
    C: float
    gamma: float

    def _check(self) -> None:
        super()._check()
        if not self.C > 0:
            raise InputError(f"C must be above 0, not {self.C}")
        if not self.gamma > 0:
            raise InputError(f"gamma must be above 0, not {self.gamma}")

    def _width(self, rows: TrainingRows) -> float:
        return float(self.gamma / max(rows.matrix.shape[1], 1))


class SVMRegressor(_SVM, BaselineRegressor):
    """Support vector regression (RBF kernel) on signed-log, standardised descriptors.

    Parameters
    ----------
    C=10: of a standardised target; the usual 1 underfits where the noise is a small part of the spread, as for
        measured solubilities.
    epsilon=0.05: width of the tube in standard deviations of the target, of the order of the error of measurement.
    gamma=0.3: of the kernel exp(-gamma |x - x'|^2 / number of columns). Standardised columns lie 2 apart in that
        mean, so that the kernel of two average molecules is 0.5; chosen by cross-validation inside the training
        part of the first of five grouped folds (seed 0) of ESOL and FreeSolv, as were C and epsilon.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`; the
        solver uses one thread and nothing random.

    References
    ----------
    Drucker et al., NIPS 9, 155 (1997).
    """

    _core_type = TransformedTargetRegressor

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        C: float = 10.0,  # noqa: N803 - the name of scikit-learn
        epsilon: float = 0.05,
        gamma: float = 0.3,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.C = C
        self.epsilon = epsilon
        self.gamma = gamma
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if self.epsilon < 0:
            raise InputError(f"epsilon must be at least 0, not {self.epsilon}")

    def _fit_target(self, rows: TrainingRows) -> Any:
        machine = SVR(C=self.C, epsilon=self.epsilon, gamma=self._width(rows), cache_size=_CACHE_MB)
        model = TransformedTargetRegressor(machine, transformer=StandardScaler())
        return model.fit(rows.matrix, rows.y, sample_weight=rows.weights)

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        found: Floats = core.predict(matrix)
        return found


class SVMClassifier(_SVM, BaselineClassifier):
    """Support vector classification (RBF kernel) on signed-log, standardised descriptors.

    Probabilities are Platt's: a logistic regression on the distances from the boundary. It is fitted on distances of
    rows that the machine has not seen (5 inner folds, rows of one molecule together); where a class has too few
    molecules for that, on those of the training rows. The most probable label is predicted.

    Parameters
    ----------
    C=1: as scikit-learn has it; labels of assays are noisy, and a high C would learn the noise.
    gamma=0.3: as in `SVMRegressor`.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`.

    References
    ----------
    Cortes & Vapnik, Machine Learning 20, 273 (1995); Platt, Advances in Large Margin Classifiers (1999).
    """

    _core_type = dict

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        C: float = 1.0,  # noqa: N803 - the name of scikit-learn
        gamma: float = 0.3,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.C = C
        self.gamma = gamma
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> Any:
        everything = np.arange(len(rows.y))
        machine = self._machine(rows, everything)
        distances = self._unseen_distances(rows)
        if distances is None:
            distances = _distances(machine, rows.matrix)
        calibration = LogisticRegression().fit(distances, rows.y, sample_weight=rows.weights)
        return {"machine": machine, "calibration": calibration}

    def _machine(self, rows: TrainingRows, chosen: NDArray[np.int64]) -> SVC:
        machine = SVC(C=self.C, gamma=self._width(rows), cache_size=_CACHE_MB)
        return machine.fit(rows.matrix[chosen], rows.y[chosen], sample_weight=rows.weights[chosen])

    def _unseen_distances(self, rows: TrainingRows) -> Floats | None:
        """[n, 1] or [n, num_classes], each from a machine fitted without the row; None where that is impossible."""
        keys = np.array(rows.keys)
        fewest = min(len(np.unique(keys[rows.y == code])) for code in range(rows.num_classes))
        if fewest < _CALIBRATION_FOLDS:
            return None
        folds = StratifiedGroupKFold(_CALIBRATION_FOLDS, shuffle=True, random_state=rows.seed)
        found: list[tuple[NDArray[np.int64], Floats]] = []
        for train, test in folds.split(rows.matrix, rows.y, keys):
            if len(np.unique(rows.y[train])) < rows.num_classes:
                return None
            found.append((test, _distances(self._machine(rows, train), rows.matrix[test])))
        order = np.argsort(np.concatenate([test for test, _ in found]))
        return np.concatenate([distances for _, distances in found])[order]

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        found: Floats = core["calibration"].predict_proba(_distances(core["machine"], matrix))
        return found


def _distances(machine: SVC, matrix: Floats) -> Floats:
    found = machine.decision_function(matrix)
    return found.reshape(len(matrix), -1)  # type: ignore[no-any-return]
