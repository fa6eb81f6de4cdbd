"""Regression on SMILES, scikit-learn style."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from scoregnn.estimators.base import ScoreEstimator
from scoregnn.training.labels import Targets, read_numbers


class ScoreRegressor(RegressorMixin, ScoreEstimator):
    """Predicts numbers from SMILES with a SCORE network.

    Parameters
    ----------
    block, steps, dt, learn_dt, integrator, rtol, atol, adjoint, velocity, initial_weight, adaptive_initial, share,
    self_loops, norm, activation, recompute, hidden, heads, dropout, readout, head, head_layers, standardize,
    descriptors, epochs, batch_size, learning_rate, weight_decay, warmup, clip_norm, patience, deep_supervision,
    ensemble:
        as in `scoregnn.config.Config`, which holds ranges and defaults.
    validation_fraction: share of the training molecules kept aside to choose the best epoch, in [0, 1), default 0.1.
        Rows of one molecule stay together. With 0, or fewer than ten different molecules, the last epoch is kept.
    random_state: int, `RandomState` or None, default 0. The same int gives the same model.
    on_invalid: "raise" (default) or "nan": what becomes of a molecule that cannot be read. With "nan" it is left out
        of a fit and predicted as NaN, with a warning.
    time_limit: seconds for reading one molecule, default 20.
    n_jobs: processes that read molecules; None or -1 takes all cores. device: of torch, default "cpu".

    Attributes
    ----------
    model_: the fitted networks and scalers. predictor_: the `Predictor` around them.

    References
    ----------
    Godin, SCORE: Skip-Connection ODE Recurrent Embedding, 2026, arXiv 2603.10544.

    Example
    -------
    >>> from scoregnn import ScoreRegressor
    >>> model = ScoreRegressor(epochs=2).fit(["C", "CC", "CCC", "CO", "CCO"], [0.9, 1.4, 1.9, 1.6, 1.1])
    >>> model.predict(["CCCC"]).shape
    (1,)
    """

    def predict(self, X: Any, features: Any = None) -> np.ndarray:
        """Values in the unit of `y`: [n], or [n, num_targets] when `y` had columns."""
        found = self._predictions(X, features)
        count = len(self.model_.task.targets)
        values = np.full((len(found), count), np.nan)
        for row, prediction in enumerate(found):
            if not prediction.reason:
                values[row] = prediction.values
        return values if self._targets.has_columns else values[:, 0]

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        return read_numbers(y, num_rows)
