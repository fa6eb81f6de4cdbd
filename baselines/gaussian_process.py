"""Gaussian process regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

from scoregnn.baselines.base import BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.skops_models import SkopsBaseline
from scoregnn.errors import InputError

_JITTER = 1e-10


class GPRegressor(SkopsBaseline, BaselineRegressor):
    """An exact Gaussian process, Matérn + linear kernel + noise, on signed-log, standardised descriptors.

    The kernel's scales and the noise are found by maximum marginal likelihood; with more than `likelihood_rows` rows
    on so many of them, drawn with `random_state`, since each step costs the cube of their number. The prediction then
    rests on all rows. Weights scale the noise of each row (variance / weight) in that last step.

    Parameters
    ----------
    nu=1.5: smoothness of the Matérn kernel; 0.5, 1.5, 2.5 and inf are fast. On ESOL and FreeSolv 2.5 is as good.
    restarts=0: further random starts of the search; on ESOL two more end in the same place and take three times as
        long, for the first start is scaled by the number of columns.
    likelihood_rows=1000: see above.
    max_rows=5000: more rows raise an `InputError`: the exact solution takes the memory of their square and the time
        of their cube.
    feature_kind="descriptors", standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`.

    References
    ----------
    Rasmussen & Williams, Gaussian Processes for Machine Learning, MIT Press 2006.
    """

    _core_type = GaussianProcessRegressor
    _trusted = tuple(
        f"sklearn.gaussian_process.kernels.{name}"
        for name in ("ConstantKernel", "DotProduct", "Matern", "Product", "Sum")
    )

    def __init__(
        self,
        *,
        feature_kind: str = "descriptors",
        nu: float = 1.5,
        restarts: int = 0,
        likelihood_rows: int = 1000,
        max_rows: int = 5000,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.nu = nu
        self.restarts = restarts
        self.likelihood_rows = likelihood_rows
        self.max_rows = max_rows
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if not self.nu > 0:
            raise InputError(f"nu must be above 0, not {self.nu}")

    def _fit_target(self, rows: TrainingRows) -> Any:
        count = len(rows.y)
        if count > self.max_rows:
            raise InputError(
                f"a Gaussian process of {count:,} rows is more than max_rows={self.max_rows:,}: its memory grows with"
                " the square of the rows; choose another model, or raise max_rows"
            )
        chosen = np.arange(count)
        if count > self.likelihood_rows:
            drawn = np.random.default_rng(rows.seed).permutation(count)[: self.likelihood_rows]
            chosen = np.sort(drawn)
        search = GaussianProcessRegressor(
            self._kernel(rows.matrix.shape[1]),
            normalize_y=True,
            n_restarts_optimizer=self.restarts,
            random_state=rows.seed,
        )
        with warnings.catch_warnings():
            # A scale at the end of its range says that the data do not need that part of the kernel.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search.fit(rows.matrix[chosen], rows.y[chosen])
        signal, noise = search.kernel_.k1, search.kernel_.k2.noise_level
        model = GaussianProcessRegressor(signal, alpha=noise / rows.weights + _JITTER, optimizer=None, normalize_y=True)
        model.fit(rows.matrix, rows.y)
        del model.L_  # [n, n], of use for a variance only, and nearly all of a saved model
        return model

    def _kernel(self, num_columns: int) -> Any:
        # Distances of standardised columns grow with the square root of their number.
        length = max(num_columns, 1) ** 0.5
        return (
            ConstantKernel(1.0, (1e-3, 1e3)) * Matern(length, (1e-1 * length, 1e2 * length), nu=self.nu)
            + ConstantKernel(0.1 / max(num_columns, 1), (1e-8, 1e2)) * DotProduct(1.0, "fixed")
            + WhiteKernel(0.1, (1e-4, 1e1))
        )

    def _predict_target(self, core: Any, matrix: Floats) -> Floats:
        found: Floats = core.predict(matrix)
        return found
