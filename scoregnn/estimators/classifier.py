"""Classification on SMILES, scikit-learn style."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from scoregnn.estimators.base import ScoreEstimator
from scoregnn.training.labels import Targets, decode_labels, read_classes


class ScoreClassifier(ClassifierMixin, ScoreEstimator):
    """Predicts classes from SMILES with a SCORE network.

    The parameters are those of `ScoreRegressor`. Labels may be numbers, texts or booleans, two or more classes; with
    several targets `y` is [n, num_targets], where NaN or None marks a missing label. A molecule that cannot be read is
    predicted as NaN (text labels: None) under on_invalid="nan".

    Attributes
    ----------
    classes_: the labels in sorted order (a list of arrays when `y` had columns). model_, predictor_: as there.

    Example
    -------
    >>> from scoregnn import ScoreClassifier
    >>> model = ScoreClassifier(epochs=2).fit(["C", "CC", "CO", "CCO"], ["apolar", "apolar", "polar", "polar"])
    >>> model.predict_proba(["CCCO"]).shape
    (1, 2)
    """

    def predict(self, X: Any, features: Any = None) -> np.ndarray:
        """The most probable label of each molecule: [n], or [n, num_targets] when `y` had columns."""
        found = self._predictions(X, features)
        columns = []
        for column, classes in enumerate(self._targets.classes):
            codes = [None if p.reason else int(p.values[column].argmax()) for p in found]
            columns.append(decode_labels(classes, codes))
        return np.stack(columns, axis=1) if self._targets.has_columns else columns[0]

    def predict_proba(self, X: Any, features: Any = None) -> np.ndarray | list[np.ndarray]:
        """Probabilities [n, num_classes], columns as in `classes_` (a list of them when `y` had columns)."""
        found = self._predictions(X, features)
        columns = []
        for column, classes in enumerate(self._targets.classes):
            missing = np.full(len(classes), np.nan)
            rows = [missing if p.reason else p.values[column] for p in found]
            columns.append(np.array(rows).reshape(len(found), len(classes)))
        return columns if self._targets.has_columns else columns[0]

    @property
    def classes_(self) -> Any:
        self._fitted()
        classes = self._targets.classes
        return list(classes) if self._targets.has_columns else classes[0]

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        return read_classes(y, num_rows)
