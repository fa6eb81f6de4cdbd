"""How many trees boosting gets, found inside the rows given to `fit`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scoregnn.baselines.base import Baseline, TrainingRows
from scoregnn.errors import InputError
from scoregnn.graphs.splits import random_split

FEWEST_FOR_STOPPING = 50
"""Different molecules below which a tenth of them says nothing about the best number of trees."""

FEW_ROWS_TREES = 200
"""Trees in that case, or n_estimators if that is less."""

Rows = NDArray[np.int64]


class BoostedTrees(Baseline):
    """Base of both libraries.

    The number of trees is chosen on an inner part of the training rows, a tenth of the molecules drawn with
    `random_state`, rows of one molecule together: trees are added until the inner error has not fallen for
    `early_stopping_rounds` of them. The model is then fitted anew on all training rows with the best number. Below
    50 different molecules, or with early_stopping_rounds=None, there is no inner part: 200 (n_estimators) trees.
    """

    _columns = "compressed"
    n_estimators: int
    early_stopping_rounds: int | None

    def _check(self) -> None:
        super()._check()
        if self.n_estimators < 1:
            raise InputError(f"n_estimators must be at least 1, not {self.n_estimators}")
        if self.early_stopping_rounds is not None and self.early_stopping_rounds < 1:
            raise InputError(f"early_stopping_rounds must be at least 1 or None, not {self.early_stopping_rounds}")

    def _num_trees(self, rows: TrainingRows, best: Callable[[Rows, Rows], int]) -> int:
        """`best(train, inner)` gives the number of trees with the least error on the inner rows."""
        if self.early_stopping_rounds is None:
            return self.n_estimators
        if len(set(rows.keys)) < FEWEST_FOR_STOPPING:
            return min(FEW_ROWS_TREES, self.n_estimators)
        split = random_split(rows.keys, fractions=(0.9, 0.1, 0.0), seed=rows.seed)
        return max(1, best(split.train, split.validation))
