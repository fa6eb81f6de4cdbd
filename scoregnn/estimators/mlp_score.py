"""MLP-SCORE on any numeric matrix (descriptors, fingerprints), scikit-learn style."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.nn.mlp import ScoreMLP
from scoregnn.training.data import MatrixData
from scoregnn.training.labels import seed_of
from scoregnn.training.loop import train_network
from scoregnn.training.scaling import ColumnScaler, TargetScaler
from scoregnn.training.task import Task

Floats = NDArray[np.float64]
_FEWEST_FOR_VALIDATION = 20


class _MLPScore(BaseEstimator):
    """Parameters and fitting of both estimators; computes in float64, for small matrices need no less."""

    def __init__(
        self,
        *,
        hidden: int = 128,
        steps: int = 4,
        dt: float = 0.25,
        integrator: str = "euler",
        velocity: str = "contractive",
        share: bool = True,
        dropout: float = 0.1,
        epochs: int = 100,
        batch_size: int = 64,
        learning_rate: float = 2e-3,
        weight_decay: float = 1e-2,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.hidden = hidden
        self.steps = steps
        self.dt = dt
        self.integrator = integrator
        self.velocity = velocity
        self.share = share
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _fit(self, matrix: Floats, targets: Floats, task: Task) -> None:
        config = self._config()
        rows, held_out = self._parts(len(matrix), config.seed)
        x, y = torch.tensor(matrix), torch.tensor(targets)
        bounds = torch.zeros(y.shape, dtype=torch.int8)
        self._columns = ColumnScaler.fit(x[rows], compress=False)
        self._target = (
            TargetScaler.fit(y[rows], bounds[rows]) if task.kind == "regression" else TargetScaler.identity(y.shape[1])
        )
        data = MatrixData(self._scaled(x), self._target.transform(y), bounds, torch.ones(len(x), dtype=torch.float64))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.network_ = ScoreMLP(
                matrix.shape[1],
                config.hidden,
                task.num_outputs,
                steps=config.steps,
                dt=config.dt,
                integrator=config.integrator,
                velocity=config.velocity,
                share=config.share,
                dropout=config.dropout,
            ).double()
            progress = train_network(self.network_, data, task, rows, held_out, config, seed=config.seed)
        self.best_epoch_ = progress.best_epoch

    def _outputs(self, X: Any) -> Tensor:
        check_is_fitted(self)
        matrix = validate_data(self, X, reset=False, dtype=np.float64)
        with torch.no_grad():
            return self.network_(self._scaled(torch.tensor(matrix)))  # type: ignore[no-any-return]

    def _scaled(self, x: Tensor) -> Tensor:
        return self._columns.transform(x).double()

    def _config(self) -> Config:
        """The parameters checked by the one place that knows their ranges."""
        own = self.get_params(deep=False)
        state = own.pop("random_state")
        fraction = own.pop("validation_fraction")
        if not 0 <= fraction < 1:
            raise InputError(f"validation_fraction must be at least 0 and below 1, not {fraction}")
        return Config(**own, heads=1, seed=seed_of(state))

    def _parts(self, num_rows: int, seed: int) -> tuple[Tensor, Tensor]:
        """Rows to fit on, and rows that choose the best epoch (none where there are few)."""
        if num_rows < _FEWEST_FOR_VALIDATION:
            return torch.arange(num_rows), torch.arange(0)
        order = torch.from_numpy(np.random.default_rng(seed).permutation(num_rows))
        held_out = math.floor(self.validation_fraction * num_rows)
        return order[held_out:].sort().values, order[:held_out].sort().values


class MLPScoreRegressor(RegressorMixin, _MLPScore):
    """MLP-SCORE for numbers: one shared layer, iterated as a contractive ODE, on a numeric matrix.

    Parameters
    ----------
    hidden: width of the state, default 128. steps, dt, integrator, velocity, share: as in `scoregnn.config.Config`;
        share=False with dt=1 is an ordinary multilayer perceptron of equal width.
    dropout, epochs, batch_size, learning_rate, weight_decay: of the training, ranges as in `Config`.
    validation_fraction: share of the rows kept aside to choose the best epoch, in [0, 1), default 0.1; below 20 rows
        none is kept and the last epoch is taken.
    random_state: int, `RandomState` or None, default 0.

    Attributes
    ----------
    network_: the `ScoreMLP`. best_epoch_: whose weights it has. n_features_in_, feature_names_in_: as usual.

    References
    ----------
    Godin, SCORE: Skip-Connection ODE Recurrent Embedding, 2026, arXiv 2603.10544.

    Example
    -------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> MLPScoreRegressor(epochs=50).fit(X, X[:, 0] * X[:, 1]).predict(X).shape
    (200,)
    """

    def fit(self, X: Any, y: Any) -> Self:
        """X: [n, num_columns], finite numbers. y: [n] or [n, num_targets]."""
        matrix, labels = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        self._y_has_columns = labels.ndim == 2
        targets = np.asarray(labels, dtype=np.float64).reshape(len(matrix), -1)
        names = tuple(f"y{column}" for column in range(targets.shape[1]))
        self._fit(matrix, targets, Task("regression", names, ("",) * len(names)))
        return self

    def predict(self, X: Any) -> Floats:
        """Values in the unit of `y`: [n], or [n, num_targets] when `y` had columns."""
        values: Floats = self._target_values(self._outputs(X))
        return values if self._y_has_columns else values[:, 0]

    def _target_values(self, outputs: Tensor) -> Floats:
        return self._target.inverse(outputs).numpy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class MLPScoreClassifier(ClassifierMixin, _MLPScore):
    """MLP-SCORE for classes; parameters and references as in `MLPScoreRegressor`.

    Attributes
    ----------
    classes_: the labels in sorted order. network_, best_epoch_, n_features_in_: as in `MLPScoreRegressor`.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """X: [n, num_columns], finite numbers. y: [n], labels of two or more classes."""
        matrix, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only, {self.classes_[0]!r}; a classifier needs at least two")
        task = Task("classification", ("y",), ("",), (tuple(map(str, self.classes_)),))
        self._fit(matrix, codes.astype(np.float64)[:, None], task)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities [n, num_classes], columns as in `classes_`."""
        logits = self._outputs(X)
        if logits.shape[1] == 1:
            return torch.cat([(-logits).sigmoid(), logits.sigmoid()], dim=1).numpy()
        return logits.softmax(dim=1).numpy()

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label: [n]."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]  # type: ignore[no-any-return]
