"""What all baselines share: parameters, checks, one model a target, predictions in the places of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from scoregnn.baselines.columns import compressed, fit_scaler, scaled
from scoregnn.baselines.features import FeatureTable, column_names, is_descriptor, parts_of, read_features_of
from scoregnn.baselines.threads import limited_threads
from scoregnn.errors import InputError
from scoregnn.molecules.containers import as_molecule_inputs, check_on_invalid, report_refused
from scoregnn.training.labels import (
    Targets,
    decode_labels,
    read_classes,
    read_features,
    read_numbers,
    read_weights,
    seed_of,
)
from scoregnn.training.scaling import ColumnScaler

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a model of one target is fitted on.

    matrix: [n, num_columns]. y: [n] numbers, or for num_classes > 0 codes 0 … num_classes - 1, each there at least
    once. weights: [n], above 0, of mean 1. keys: identity of the molecule of each row. seed: of all that is random.
    """

    matrix: Floats
    y: Floats
    weights: Floats
    keys: list[str]
    num_classes: int
    seed: int


@dataclass(frozen=True, eq=False)
class FittedTarget:
    """The model of one target: what scales its columns (None: nothing does), and which classes it has met.

    codes: for classification the places, among all classes of the target, of those that its rows had.
    """

    core: Any
    scaler: ColumnScaler | None
    codes: tuple[int, ...]


class Baseline(BaseEstimator):
    """Base of all; a family says how a model of one target is fitted, asked, and turned into files.

    Parameters of every family
    --------------------------
    feature_kind: what is learned from, see `scoregnn.baselines.features`.
    standardize: "as-drawn" (default) or "parent", see `scoregnn.molecules.parsing`.
    random_state: int, `RandomState` or None, default 0. The same int gives the same model.
    on_invalid: "raise" (default) or "nan": what becomes of a molecule that cannot be read. With "nan" it is left out
        of a fit and predicted as NaN (text labels: None), with a warning.
    time_limit: seconds for reading one molecule, default 20.
    n_jobs: threads of the model, and processes that read molecules; None or -1 takes all cores. The default is 1:
        cross-validation runs several fits at the same time, and their threads would hinder each other.
    """

    # How the columns come to the model: "scaled" (see fit_scaler), "compressed" (see compressed) or "as-is".
    _columns: ClassVar[str] = "scaled"
    _is_classifier: ClassVar[bool] = False
    # Whether columns given by the user are of use to the model.
    _takes_features: ClassVar[bool] = True

    feature_kind: str
    standardize: str = "as-drawn"
    random_state: Any = 0
    on_invalid: str = "raise"
    time_limit: float = 20.0
    n_jobs: int | None = 1

    def _fit_target(self, rows: TrainingRows) -> Any:
        """The fitted model of one target."""
        raise NotImplementedError

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        """Values [n], or probabilities [n, num_classes]."""
        raise NotImplementedError

    def _dump(self, cores: list[Any]) -> dict[str, bytes]:
        """The models of all targets as files."""
        raise NotImplementedError

    def _load(self, files: dict[str, bytes], num_targets: int) -> list[Any]:
        """The models again; any error but a `RunFolderError` means that a file is damaged."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, features: Any = None) -> Self:
        """Learns from molecules and their labels.

        X: n molecules: SMILES or RDKit molecules, in a list, an array, a pandas or polars column.
        y: [n] or [n, num_targets], NaN where a label is missing; every target gets a model of its own, fitted on
        the rows that have it. sample_weight: [n], at least 0; only their ratios count, and 0 leaves a row out.
        features: [n, num_features] numbers joined to the columns of each molecule; `predict` then needs them too.
        Raises `InputError` (a `ValueError`) for molecules that cannot be read, unless on_invalid="nan", and for
        parameters out of range.
        """
        self._check()
        items = as_molecule_inputs(X)
        labels, targets = self._read_labels(y, len(items))
        weights = read_weights(sample_weight, len(items))
        joined = self._joined(features, len(items))
        table = self._read(items)
        report_refused(table.refused, len(items), on_invalid=self.on_invalid, consequence="left out")
        matrix = np.hstack([table.values, joined])
        seed = seed_of(self.random_state)
        usable = np.zeros(len(items), dtype=bool)
        usable[table.rows] = True
        if not (usable[:, None] & np.isfinite(labels)).any():
            raise InputError("no valid molecule with a label to train on")
        usable &= weights > 0
        fitted = []
        for column, name in enumerate(targets.task.targets):
            rows = np.flatnonzero(usable & np.isfinite(labels[:, column]))
            if not len(rows):
                raise InputError(
                    f"target {name} has no valid molecule with a label and a weight above 0 (sample_weight)"
                )
            fitted.append(self._fitted_target(matrix, labels[:, column], weights, table, rows, joined.shape[1], seed))
        self._set_fitted(fitted, targets, joined.shape[1], seed)
        return self

    def save(self, folder: Path | str) -> None:
        """Writes the fitted model as data: `baseline.json` and files in the model's own format, never a pickle.

        `scoregnn.baselines.load_baseline` reads them. A baseline saved there before is replaced. Raises
        `RunFolderError` for a folder that holds a network or the run of one.
        """
        from scoregnn.baselines.saving import save_baseline

        self._check_fitted()
        save_baseline(self, Path(folder))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "targets_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.multi_output = True
        tags.no_validation = True
        return tags

    def _set_fitted(self, fitted: list[FittedTarget], targets: Targets, num_features: int, seed: int) -> None:
        self.targets_ = targets
        self.num_features_ = num_features
        self.seed_ = seed
        self._models = fitted

    def _check_fitted(self) -> None:
        if not hasattr(self, "targets_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _check(self) -> None:
        """Raises `InputError` for parameters out of range; families add theirs."""
        check_on_invalid(self.on_invalid)
        parts_of(self.feature_kind)
        if self.n_jobs is not None and (
            not isinstance(self.n_jobs, int | np.integer) or self.n_jobs < -1 or self.n_jobs == 0
        ):
            raise InputError(f"n_jobs must be a number of threads, or -1 or None for all cores, not {self.n_jobs!r}")

    @property
    def _most_threads(self) -> int | None:
        """For linear algebra; None sets no limit."""
        return None if self._threads == -1 else self._threads

    @property
    def _threads(self) -> int:
        """For the libraries, which know -1 as all cores."""
        return -1 if self.n_jobs is None else int(self.n_jobs)

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        raise NotImplementedError

    def _joined(self, features: Any, num_rows: int) -> np.ndarray:
        if features is not None and not self._takes_features:
            raise InputError(f"{type(self).__name__} takes no features; leave them out, or choose another model")
        return read_features(features, num_rows)

    def _read(self, items: Any) -> FeatureTable:
        workers = None if self._threads == -1 else self._threads
        return read_features_of(
            items, self.feature_kind, standardize=self.standardize, time_limit=self.time_limit, workers=workers
        )

    def _fitted_target(
        self,
        matrix: Floats,
        labels: Floats,
        weights: Floats,
        table: FeatureTable,
        rows: NDArray[np.int64],
        num_features: int,
        seed: int,
    ) -> FittedTarget:
        y, codes = labels[rows], np.empty(0)
        if self._is_classifier:
            codes, places = np.unique(y, return_inverse=True)
            y = places.astype(np.float64)
            if len(codes) < 2:
                raise InputError("one class only is left in y beside molecules and rows that cannot be used")
        scaler = None
        if self._columns == "scaled":
            names = np.where(is_descriptor(self.feature_kind), "descriptor", "fingerprint").astype(np.str_)
            scaler = fit_scaler(matrix[rows], np.concatenate([names, np.full(num_features, "feature")]))
        training = TrainingRows(
            matrix=self._prepared(matrix[rows], scaler),
            y=y,
            weights=weights[rows] / weights[rows].mean(),
            keys=[table.keys[row] for row in rows],
            num_classes=len(codes),
            seed=seed,
        )
        with limited_threads(self._most_threads):
            core = self._fit_target(training)
        return FittedTarget(core, scaler, tuple(int(code) for code in codes))

    def _prepared(self, matrix: Floats, scaler: ColumnScaler | None) -> Floats:
        if scaler is not None:
            return scaled(matrix, scaler)
        if self._columns == "as-is":
            return matrix
        flags = is_descriptor(self.feature_kind)
        return compressed(matrix, np.concatenate([flags, np.zeros(matrix.shape[1] - len(flags), dtype=bool)]))

    def _outputs(self, X: Any, features: Any) -> tuple[list[Floats], NDArray[np.bool_]]:
        """For each target [n] values or [n, num_classes] probabilities, NaN where refused; which rows were."""
        self._check_fitted()
        check_on_invalid(self.on_invalid)
        items = as_molecule_inputs(X)
        if features is not None and self._takes_features and not self.num_features_:
            raise InputError("this model was fitted without features; predict without them")
        joined = self._joined(features, len(items))
        if joined.shape[1] != self.num_features_:
            needed = ", ".join(f"feature_{number + 1}" for number in range(self.num_features_))
            raise InputError(f"this model needs the features {needed}; features has {joined.shape[1]} columns")
        outputs = [np.full((len(items), *self._output_shape(target)), np.nan) for target in range(len(self._models))]
        refused: dict[int, str] = {}
        for start in range(0, len(items), _ROWS_AT_ONCE):
            table = self._read(items[start : start + _ROWS_AT_ONCE])
            refused |= {start + row: reason for row, reason in table.refused.items()}
            rows = table.rows
            if not len(rows):
                continue
            matrix = np.hstack([table.values[rows], joined[start + rows]])
            for output, model in zip(outputs, self._models, strict=True):
                with limited_threads(self._most_threads):
                    found = self._predict_target(model.core, self._prepared(matrix, model.scaler))
                if model.codes:
                    spread = np.zeros((len(rows), output.shape[1]))
                    spread[:, model.codes] = found
                    found = spread
                output[start + rows] = found
        report_refused(refused, len(items), on_invalid=self.on_invalid, consequence="predicted as missing")
        missing = np.zeros(len(items), dtype=bool)
        missing[list(refused)] = True
        return outputs, missing

    def _output_shape(self, target: int) -> tuple[int, ...]:
        return (len(self.targets_.classes[target]),) if self._is_classifier else ()

    @property
    def column_names_(self) -> tuple[str, ...]:
        """Names of the columns that the models see, those of the user last."""
        self._check_fitted()
        return column_names(self.feature_kind) + tuple(f"feature_{n + 1}" for n in range(self.num_features_))


class BaselineRegressor(RegressorMixin, Baseline):
    """Numbers."""

    def predict(self, X: Any, features: Any = None) -> Floats:
        """Values in the unit of `y`: [n], or [n, num_targets] when `y` had columns."""
        outputs, _ = self._outputs(X, features)
        return np.column_stack(outputs) if self.targets_.has_columns else outputs[0]

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        return read_numbers(y, num_rows)


class BaselineClassifier(ClassifierMixin, Baseline):
    """Classes; labels may be numbers, texts or booleans.

    classes_: the labels in sorted order (a list of arrays when `y` had columns).
    """

    _is_classifier = True

    def predict(self, X: Any, features: Any = None) -> np.ndarray:
        """The most probable label of each molecule: [n], or [n, num_targets] when `y` had columns."""
        outputs, missing = self._outputs(X, features)
        columns = []
        for classes, output in zip(self.targets_.classes, outputs, strict=True):
            codes = [None if gone else int(row.argmax()) for row, gone in zip(output, missing, strict=True)]
            columns.append(decode_labels(classes, codes))
        return np.stack(columns, axis=1) if self.targets_.has_columns else columns[0]

    def predict_proba(self, X: Any, features: Any = None) -> Floats | list[Floats]:
        """Probabilities [n, num_classes], columns as in `classes_` (a list of them when `y` had columns)."""
        outputs, _ = self._outputs(X, features)
        return outputs if self.targets_.has_columns else outputs[0]

    @property
    def classes_(self) -> Any:
        self._check_fitted()
        classes = self.targets_.classes
        return list(classes) if self.targets_.has_columns else classes[0]

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        return read_classes(y, num_rows)
