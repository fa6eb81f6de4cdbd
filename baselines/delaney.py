"""Delaney's equation for aqueous solubility, from the molecule alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from scoregnn.baselines.base import BaselineRegressor, FittedTarget, Floats, TrainingRows
from scoregnn.baselines.features import column_names
from scoregnn.training.labels import Targets
from scoregnn.training.task import Task


class DelaneyRegressor(BaselineRegressor):
    """log S = 0.16 - 0.63 logP - 0.0062 weight + 0.066 rotatable bonds - 0.74 aromatic proportion, in log mol/L.

    The published equation with its published coefficients; nothing is fitted, so `predict` needs no `fit`, which is
    there so that the equation can stand beside models that learn. Delaney took logP from Daylight's ClogP, here it is
    RDKit's Crippen logP, so that single values differ from those printed in his table. Several targets all get the
    same value; features of the user are no part of the equation and are not looked at. Parameters as in `Baseline`.

    Source: J. S. Delaney, J. Chem. Inf. Comput. Sci. 2004, 44, 1000, doi:10.1021/ci034243x.

    Example
    -------
    >>> DelaneyRegressor().fit(["CCO"], [1.1]).predict(["c1ccccc1"]).round(2)
    array([-2.13])
    """

    _columns = "as-is"
    feature_kind = "delaney"

    def __init__(
        self,
        *,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _fit_target(self, rows: TrainingRows) -> None:
        return None

    def _predict_target(self, core: None, matrix: Floats) -> Floats:
        found: Floats = delaney_equation(*matrix[:, : len(column_names("delaney"))].T)
        return found

    def _check_fitted(self) -> None:
        if not hasattr(self, "targets_"):
            targets = Targets(Task("regression", ("y",), ("log mol/L",)), has_columns=False)
            self._set_fitted([FittedTarget(None, None, ())], targets, num_features=0, seed=0)

    def _dump(self, cores: list[Any]) -> dict[str, bytes]:
        return {}

    def _load(self, files: dict[str, bytes], num_targets: int) -> list[Any]:
        return [None] * num_targets


def delaney_equation(logp: Any, weight: Any, rotatable_bonds: Any, aromatic_proportion: Any) -> Any:
    """log S in log mol/L from Crippen logP, weight (g/mol), rotatable bonds and share of aromatic heavy atoms.

    Numbers, or arrays of one shape.
    """
    return 0.16 - 0.63 * logp - 0.0062 * weight + 0.066 * rotatable_bonds - 0.74 * aromatic_proportion
