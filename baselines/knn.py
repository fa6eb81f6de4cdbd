"""The k nearest neighbours by Tanimoto similarity."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from scoregnn.baselines.base import BaselineClassifier, BaselineRegressor, Floats, TrainingRows
from scoregnn.baselines.features import parts_of
from scoregnn.baselines.skops_models import SkopsBaseline
from scoregnn.errors import InputError

_ROWS_AT_ONCE = 1000


class TanimotoNeighbors(BaseEstimator):
    """Averages of the targets of the most similar training rows.

    counts_: sparse [n, num_columns], fingerprints of the training rows. outputs_: [n, num_outputs], values or one
    column a class. weights_: [n].
    """

    def __init__(self, k: int = 5, power: float = 1.0) -> None:
        self.k = k
        self.power = power

    def fit(self, matrix: Floats, outputs: Floats, weights: Floats) -> Self:
        """Keeps the rows: matrix [n, num_columns] whole numbers, outputs [n, num_outputs], weights [n]."""
        self.counts_ = sparse.csr_matrix(matrix)
        self.outputs_ = outputs
        self.weights_ = weights
        return self

    def predict(self, matrix: Floats) -> Floats:
        """[m, num_outputs]."""
        found = np.empty((len(matrix), self.outputs_.shape[1]))
        for start in range(0, len(matrix), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            found[block] = self._averages(tanimoto(sparse.csr_matrix(matrix[block]), self.counts_))
        return found

    def _averages(self, similarity: Floats) -> Floats:
        # Stable: of equally similar rows the first ones are taken.
        nearest = np.argsort(-similarity, axis=1, kind="stable")[:, : self.k]
        shares = np.take_along_axis(similarity, nearest, axis=1) ** self.power * self.weights_[nearest]
        total = shares.sum(axis=1)
        found: Floats = np.einsum("rk,rko->ro", shares, self.outputs_[nearest]) / np.where(total > 0, total, 1)[:, None]
        # Nothing in common with any neighbour: the training mean says more than any one of them.
        found[total == 0] = np.average(self.outputs_, axis=0, weights=self.weights_)
        return found


def tanimoto(left: Any, right: Any) -> Floats:
    """Similarities of two sparse matrices of counts, [n, m]: sum of minima / sum of maxima, 1 for two empty rows.

    A count c is coded as c ones in columns of their own, so that the sum of the minima is a matrix product.
    """
    sizes = [np.asarray(matrix.sum(axis=1)).ravel() for matrix in (left, right)]
    levels = int(max((matrix.data.max(initial=0) for matrix in (left, right)), default=0))
    shared = (_unary(left, levels) @ _unary(right, levels).T).toarray()
    union = sizes[0][:, None] + sizes[1][None, :] - shared
    return np.where(union > 0, shared / np.where(union > 0, union, 1), 1.0)


def _unary(counts: Any, levels: int) -> Any:
    counts = sparse.csr_matrix(counts)
    repeats = counts.data.astype(np.int64)
    ends = np.cumsum(repeats)
    level = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - repeats, repeats)
    columns: NDArray[np.int64] = np.repeat(counts.indices.astype(np.int64) * max(levels, 1), repeats) + level
    starts = np.concatenate([[0], ends])[counts.indptr]
    shape = (counts.shape[0], counts.shape[1] * max(levels, 1))
    return sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)


class _KNN(SkopsBaseline):
    _columns = "as-is"
    _takes_features = False
    _core_type = TanimotoNeighbors
    _trusted = ("scipy.sparse._csr.csr_matrix", "scoregnn.baselines.knn.TanimotoNeighbors")

    def __init__(
        self,
        *,
        feature_kind: str = "morgan-counts",
        k: int = 8,
        power: float = 6.0,
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = 1,
    ) -> None:
        self.feature_kind = feature_kind
        self.k = k
        self.power = power
        self.standardize = standardize
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if parts_of(self.feature_kind) not in (("morgan-bits",), ("morgan-counts",)):
            raise InputError(f"neighbours are found by morgan-bits or morgan-counts, not by {self.feature_kind!r}")
        if self.k < 1:
            raise InputError(f"k must be at least 1, not {self.k}")
        if self.power < 0:
            raise InputError(f"power must be at least 0, not {self.power}")

    def _fit_target(self, rows: TrainingRows) -> TanimotoNeighbors:
        outputs = np.eye(rows.num_classes)[rows.y.astype(np.int64)] if rows.num_classes else rows.y[:, None]
        return TanimotoNeighbors(self.k, self.power).fit(rows.matrix, outputs, rows.weights)

    def _predict_target(self, core: TanimotoNeighbors, matrix: Floats) -> Floats:
        found = core.predict(matrix)
        return found if self._is_classifier else found[:, 0]


class KNNRegressor(_KNN, BaselineRegressor):
    """The mean of the k most similar molecules, weighted by similarity ** power.

    Similarity is Tanimoto's on Morgan fingerprints, on counts the sum of the minima over that of the maxima. A
    molecule that shares nothing with its neighbours gets the training mean. Features of the user are refused: they
    are no part of a fingerprint.

    Parameters
    ----------
    k=8, power=6: a few neighbours, of which the nearest decides: similarity 0.8 counts 64 times as much as 0.4, and
        so a molecule without near relatives gets a mean of more of them. Power 0 is the plain mean. Chosen as
        the parameters of `SVMRegressor` were.
    feature_kind="morgan-counts": tells homologues apart, whose bits are the same; or "morgan-bits".
    standardize, random_state, on_invalid, time_limit, n_jobs: as in `Baseline`; nothing here is random.

    References
    ----------
    Rogers & Tanimoto, Science 132, 1115 (1960).
    """


class KNNClassifier(_KNN, BaselineClassifier):
    """Shares of the classes among the k most similar molecules; parameters as in `KNNRegressor`."""
