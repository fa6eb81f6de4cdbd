"""scikit-learn cross-validation on molecules: no molecule is ever in both the training and the test rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state

from scoregnn.config import STANDARDIZATIONS, suggestion
from scoregnn.errors import InputError
from scoregnn.graphs.grouping import Indices
from scoregnn.graphs.splits import cluster_groups, k_folds, random_split, scaffold_split
from scoregnn.molecules import FeaturizeOptions, Featurizer, Refusal
from scoregnn.molecules.containers import as_molecule_inputs

SPLITTER_KINDS = ("random", "scaffold", "butina")


class MoleculeKFold(BaseCrossValidator):
    """K folds of whole molecules, even in rows; `split(X)` takes SMILES or RDKit molecules as `X`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    kind : {"random", "scaffold", "butina"}, default="random"
        What stays together besides the rows of one molecule: nothing, the rows of one Bemis-Murcko scaffold,
        or those of one Taylor-Butina cluster (Morgan fingerprints of radius 2, Tanimoto distance 0.35).
    standardize : {"as-drawn", "parent"}, default="as-drawn"
        Policy under which two rows are one molecule; that of the model to be judged.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds; None gives other folds each time.

    Examples
    --------
    >>> X = ["CCO", "OCC", "c1ccccc1", "CC", "CN", "CCN"]
    >>> for train, test in MoleculeKFold(n_splits=2).split(X):
    ...     assert (0 in test) == (1 in test)
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        kind: str = "random",
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_splits = n_splits
        self.kind = kind
        self.standardize = standardize
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Training and test positions of each fold.

        Raises `InputError` for a row without a valid molecule, and for fewer molecules (or sets) than folds.
        """
        _refuse_groups(self, groups)
        yield from super().split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Indices]:
        keys, sets = _keys_and_sets(X, self.kind, self.standardize)
        (seed,) = _seeds(self.random_state, 1)
        yield from k_folds(keys, n_folds=self.n_splits, seed=seed, sets=sets)


class MoleculeShuffleSplit(BaseShuffleSplit):
    """Repeated random splits of whole molecules into training and test rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 1.
    test_size : float or int, default=0.1
        Fraction of the rows to test, above 0 and below 1, or their number; met as nearly as whole molecules
        (sets) allow.
    kind, standardize, random_state
        As in `MoleculeKFold`. With "scaffold" and "butina" sets larger than half of the test stay in
        training.
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        test_size: float | int = 0.1,
        kind: str = "random",
        standardize: str = "as-drawn",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(n_splits, test_size=test_size, random_state=random_state)
        self.kind = kind
        self.standardize = standardize

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Training and test positions of each split.

        Raises `InputError` for a row without a valid molecule, an impossible `test_size` or too few
        molecules.
        """
        _refuse_groups(self, groups)
        yield from super().split(X, y)

    def _iter_indices(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        if isinstance(self.n_splits, bool) or not isinstance(self.n_splits, int) or self.n_splits < 1:
            raise InputError(f"n_splits must be a whole number of at least 1, not {self.n_splits!r}")
        keys, sets = _keys_and_sets(X, self.kind, self.standardize)
        fraction = _test_fraction(self.test_size, len(keys))
        fractions = (1 - fraction, 0.0, fraction)
        for seed in _seeds(self.random_state, self.n_splits):
            if sets is None:
                split = random_split(keys, fractions=fractions, seed=seed)
            else:
                split = scaffold_split(keys, sets, fractions=fractions, seed=seed)
            yield split.train, split.test


def _keys_and_sets(X: Any, kind: str, standardize: str) -> tuple[list[str], list[Any] | None]:
    """Identity key of each row, and the label of the set it must stay with (None where there are no sets)."""
    for name, value, known in (
        ("kind", kind, SPLITTER_KINDS),
        ("standardize", standardize, STANDARDIZATIONS),
    ):
        if value not in known:
            raise InputError(f"unknown {name} {value!r}{suggestion(str(value), known)}")
    options = FeaturizeOptions(
        standardize=standardize, identity=True, scaffold=kind == "scaffold", fingerprint=kind == "butina"
    )
    keys: list[str] = []
    sets: list[Any] = []
    with Featurizer(options) as featurizer:
        for row, molecule in enumerate(featurizer.map(as_molecule_inputs(X)), start=1):
            if isinstance(molecule, Refusal):
                raise InputError(f"row {row}: {molecule.reason}; leave the row out before splitting")
            assert molecule.key is not None
            keys.append(molecule.key)
            sets.append(molecule.scaffold if kind == "scaffold" else molecule.fingerprint)
    if kind == "random":
        return keys, None
    return keys, sets if kind == "scaffold" else cluster_groups(keys, np.array(sets))


def _seeds(random_state: int | np.random.RandomState | None, count: int) -> list[int]:
    """`count` seeds out of whatever scikit-learn takes as `random_state`."""
    try:
        state = check_random_state(random_state)
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None
    return [int(seed) for seed in state.randint(2**31 - 1, size=count)]


def _test_fraction(test_size: float | int, num_rows: int) -> float:
    whole = isinstance(test_size, int | np.integer) and not isinstance(test_size, bool)
    if whole and 0 < test_size < num_rows:
        return test_size / num_rows
    if not whole and isinstance(test_size, float) and 0 < test_size < 1:
        return test_size
    raise InputError(
        f"test_size must be a fraction between 0 and 1 or a number below {num_rows} rows, not {test_size!r}"
    )


def _refuse_groups(splitter: object, groups: Any) -> None:
    if groups is not None:
        name = type(splitter).__name__
        raise InputError(f"{name} finds the groups itself, from the molecules: leave groups out")
