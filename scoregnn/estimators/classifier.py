"""Classification on SMILES, scikit-learn style."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from scoregnn.errors import InputError
from scoregnn.estimators.base import ScoreEstimator, target_names
from scoregnn.training.task import Task


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
        for column, classes in enumerate(self._classes):
            codes = [None if p.reason else int(p.values[column].argmax()) for p in found]
            columns.append(_labels(classes, codes))
        return np.stack(columns, axis=1) if self._y_has_columns else columns[0]

    def predict_proba(self, X: Any, features: Any = None) -> np.ndarray | list[np.ndarray]:
        """Probabilities [n, num_classes], columns as in `classes_` (a list of them when `y` had columns)."""
        found = self._predictions(X, features)
        columns = []
        for column, classes in enumerate(self._classes):
            missing = np.full(len(classes), np.nan)
            rows = [missing if p.reason else p.values[column] for p in found]
            columns.append(np.array(rows).reshape(len(found), len(classes)))
        return columns if self._y_has_columns else columns[0]

    @property
    def classes_(self) -> Any:
        self._fitted()
        return self._classes if self._y_has_columns else self._classes[0]

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Task]:
        labels = np.asarray(y)
        if labels.ndim not in (1, 2) or len(labels) != num_rows:
            raise InputError(f"y has shape {labels.shape}; it needs one label or row for each of {num_rows} molecules")
        self._y_has_columns = labels.ndim == 2
        labels = labels.reshape(num_rows, -1)
        codes = np.full(labels.shape, np.nan)
        self._classes = []
        for column in range(labels.shape[1]):
            known = np.array([not _is_missing(label) for label in labels[:, column]])
            classes, numbers = np.unique(labels[known, column], return_inverse=True)
            if len(classes) < 2:
                raise InputError(f"y has one class only ({classes.tolist()}); a classifier needs at least two")
            if classes.dtype.kind == "f" and (classes != classes.round()).any():
                raise InputError("y holds fractions, which are no classes; use ScoreRegressor for numbers")
            codes[known, column] = numbers
            self._classes.append(classes)
        names = target_names(labels.shape[1])
        texts = tuple(tuple(str(label) for label in classes) for classes in self._classes)
        return codes, Task("classification", names, ("",) * len(names), texts)


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float | np.floating) and bool(np.isnan(label)))


def _labels(classes: np.ndarray, codes: list[int | None]) -> np.ndarray:
    """Labels of the codes in the type of the classes, widened only if a molecule was refused."""
    if None not in codes:
        return classes[np.array(codes, dtype=np.int64)]
    if classes.dtype.kind in "iuf":
        return np.array([np.nan if code is None else float(classes[code]) for code in codes])
    return np.array([None if code is None else classes[code] for code in codes], dtype=object)
