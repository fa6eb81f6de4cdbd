"""What a user gives beside molecules: `y` (numbers or classes, one target or several, with gaps), weights, features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from scoregnn.errors import InputError
from scoregnn.molecules.containers import is_missing
from scoregnn.training.task import Task


@dataclass(frozen=True)
class Targets:
    """What the columns of `y` mean.

    has_columns: whether `y` was a matrix; predictions then are too. classes: for classification the labels of each
    target in sorted order, in the type they came in.
    """

    task: Task
    has_columns: bool
    classes: tuple[np.ndarray, ...] = ()


def read_numbers(y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
    """Values [num_rows, num_targets], NaN where missing; raises `InputError` for anything but finite numbers."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("y must hold numbers (NaN where a label is missing)") from None
    values, has_columns = _as_columns(values, num_rows)
    if np.isinf(values).any():
        raise InputError("y holds an infinite value")
    return values, Targets(_task("regression", values.shape[1]), has_columns)


def read_classes(y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
    """Class codes [num_rows, num_targets], NaN where missing (None, NaN, NA).

    Raises `InputError` for a single class, for fractions, and for texts mixed with other labels.
    """
    # As objects, so that a NaN among texts does not become the text "nan".
    given = y if hasattr(y, "__array__") else np.array([*y], dtype=object)
    labels, has_columns = _as_columns(np.asarray(given), num_rows)
    codes = np.full(labels.shape, np.nan)
    found = []
    for column in range(labels.shape[1]):
        known = np.array([not is_missing(label) for label in labels[:, column]], dtype=bool)
        classes, codes[known, column] = _encoded(labels[known, column].tolist())
        found.append(classes)
    texts = tuple(tuple(map(_text, classes.tolist())) for classes in found)
    return codes, Targets(_task("classification", len(found), texts), has_columns, tuple(found))


def decode_labels(classes: np.ndarray, codes: Sequence[int | None]) -> np.ndarray:
    """Labels of the codes in the type of the classes, widened only where a code is None (a refused molecule)."""
    if None not in codes:
        return classes[np.array(codes, dtype=np.int64)]
    if classes.dtype.kind in "iuf":
        return np.array([np.nan if code is None else float(classes[code]) for code in codes])
    return np.array([None if code is None else classes[code] for code in codes], dtype=object)


def read_weights(sample_weight: Any, num_rows: int) -> np.ndarray:
    """Weights [num_rows], 1 each by default; raises `InputError` unless they are finite and at least 0."""
    if sample_weight is None:
        return np.ones(num_rows)
    weights = _finite(sample_weight, "sample_weight")
    if weights.shape != (num_rows,):
        raise InputError(f"sample_weight has shape {weights.shape}; each of {num_rows} molecules needs one number")
    if (weights < 0).any():
        raise InputError("sample_weight must not be negative")
    return weights


def read_features(features: Any, num_rows: int) -> np.ndarray:
    """Features [num_rows, num_features], no column by default; raises `InputError` unless they are finite numbers."""
    if features is None:
        return np.empty((num_rows, 0))
    matrix = _finite(features, "features")
    if matrix.ndim != 2 or len(matrix) != num_rows:
        raise InputError(f"features has shape {matrix.shape}; it needs one row for each of {num_rows} molecules")
    return matrix


def seed_of(random_state: Any) -> int:
    """The seed that scikit-learn's `random_state` (int, `RandomState` or None) stands for."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _finite(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds a value that is not finite")
    return array


def _as_columns(values: np.ndarray, num_rows: int) -> tuple[np.ndarray, bool]:
    if values.ndim not in (1, 2) or len(values) != num_rows or 0 in values.shape[1:]:
        raise InputError(f"y has shape {values.shape}; it needs one label or row for each of {num_rows} molecules")
    return values.reshape(num_rows, -1), values.ndim == 2


def _encoded(labels: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Different labels in sorted order, and the place among them of each."""
    no_labels = InputError("y must hold numbers, texts or booleans as labels, and one of these kinds only")
    texts = sum(isinstance(label, str) for label in labels)
    try:
        classes, codes = np.unique(np.array(labels), return_inverse=True)
    except (TypeError, ValueError):
        raise no_labels from None
    if classes.dtype.kind not in "biufU" or 0 < texts < len(labels):
        raise no_labels
    if len(classes) < 2:
        raise InputError(f"y has one class only ({classes.tolist()}); a classifier needs at least two")
    if classes.dtype.kind == "f" and (classes != classes.round()).any():
        raise InputError("y holds fractions, which are no classes; use a regressor for numbers")
    return classes, codes


def _text(label: Any) -> str:
    """A label as a table would hold it: 1.0, a number beside a NaN, is 1."""
    return str(int(label)) if isinstance(label, float) else str(label)


def _task(kind: str, count: int, classes: tuple[tuple[str, ...], ...] = ()) -> Task:
    names = ("y",) if count == 1 else tuple(f"y{number}" for number in range(1, count + 1))
    return Task(kind, names, ("",) * count, classes)
