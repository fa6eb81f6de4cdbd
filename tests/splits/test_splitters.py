"""scikit-learn splitters on molecules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rdkit import Chem
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

from scoregnn.errors import InputError
from scoregnn.estimators.splitters import MoleculeKFold, MoleculeShuffleSplit

# Rows 0-2, and 3-4, are one molecule written in several ways; rows 5-7 share the scaffold of row 3.
SMILES = ["CCO", "OCC", "[CH3]CO", "c1ccccc1", "C1=CC=CC=C1", "Cc1ccccc1", "Oc1ccccc1", "CCc1ccccc1"]
SMILES += [
    "CN",
    "CCN",
    "CCCN",
    "C1CC1",
    "C1CCC1",
    "C1CCCC1",
    "c1ccncc1",
    "Cc1ccncc1",
    "C",
    "CC",
    "CCC",
    "[Na+].[Cl-]",
]
SPLITTERS = [MoleculeKFold(n_splits=3), MoleculeShuffleSplit(n_splits=3, test_size=0.2)]


class Memory(RegressorMixin, BaseEstimator):
    """Knows a molecule by its canonical SMILES: scores above zero only where the test rows were seen."""

    def __init__(self, unused: int = 0) -> None:
        self.unused = unused

    def fit(self, X, y):
        self.known_ = {Chem.CanonSmiles(text): value for text, value in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known_.get(Chem.CanonSmiles(text), -100.0) for text in X])


def seen_share(estimator, X, y):
    return float(np.mean(estimator.predict(X) != -100.0))


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_no_molecule_is_seen_before_it_is_tested(splitter):
    y = np.arange(len(SMILES), dtype=float)
    assert cross_val_score(Memory(), SMILES, y, cv=splitter, scoring=seen_share).tolist() == [0.0, 0.0, 0.0]
    # The same measure finds the duplicates that scikit-learn's own folds tear apart.
    assert max(cross_val_score(Memory(), SMILES, y, cv=20, scoring=seen_share)) == 1.0


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_grid_search_takes_them(splitter):
    search = GridSearchCV(Memory(), {"unused": [1, 2]}, cv=check_cv(splitter), scoring=seen_share)
    search.fit(SMILES, np.zeros(len(SMILES)))
    assert search.n_splits_ == 3
    assert search.cv_results_["mean_test_score"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["random", "scaffold", "butina"])
def test_folds_partition_the_rows(kind):
    splitter = MoleculeKFold(n_splits=3, kind=kind)
    folds = list(splitter.split(SMILES))
    assert splitter.get_n_splits() == len(folds) == 3
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(SMILES)))
    for train, test in folds:
        assert sorted(np.concatenate([train, test])) == list(range(len(SMILES)))
        assert len({0, 1, 2} & set(test)) in (0, 3)
        assert len({3, 4} & set(test)) in (0, 2)


@pytest.mark.parametrize("splitter", [MoleculeKFold(3, kind="scaffold"), MoleculeShuffleSplit(3, kind="scaffold")])
def test_scaffolds_stay_together(splitter):
    for _, test in splitter.split(SMILES):
        assert len({3, 4, 5, 6, 7} & set(test)) in (0, 5)
        assert len({14, 15} & set(test)) in (0, 2)


def test_every_container_gives_the_same_folds():
    expected = [test.tolist() for _, test in MoleculeKFold(3).split(SMILES)]
    molecules = [Chem.MolFromSmiles(text) for text in SMILES]
    for X in (np.array(SMILES), pd.Series(SMILES, index=range(5, 25)), pl.Series(SMILES), molecules):
        assert [test.tolist() for _, test in MoleculeKFold(3).split(X)] == expected


def test_seeds():
    def tests(splitter):
        return [test.tolist() for _, test in splitter.split(SMILES)]

    for kind in (MoleculeKFold, MoleculeShuffleSplit):
        assert tests(kind(4, random_state=1)) == tests(kind(4, random_state=1))
        assert tests(kind(4, random_state=1)) != tests(kind(4, random_state=2))
        state = np.random.RandomState(1)
        assert tests(kind(4, random_state=state)) != tests(kind(4, random_state=state))
        assert len(tests(kind(4, random_state=None))) == 4
    assert len({tuple(test) for test in tests(MoleculeShuffleSplit(5))}) > 1


def test_size_of_the_test_rows():
    for size, expected in ((0.25, 5), (5, 5), (0.5, 10)):
        for train, test in MoleculeShuffleSplit(2, test_size=size).split(SMILES):
            assert (len(train), len(test)) == (20 - expected, expected)


def test_salts_are_their_parent_where_the_model_says_so():
    X = ["CN", "CN.Cl", "CC", "CCC", "CCCC", "CCCCC"]
    assert any((0 in test) != (1 in test) for _, test in MoleculeKFold(6).split(X))
    for _, test in MoleculeKFold(5, standardize="parent").split(X):
        assert (0 in test) == (1 in test)


def test_repr_shows_the_settings():
    expected = "MoleculeKFold(kind='scaffold', n_splits=4, random_state=0, standardize='as-drawn')"
    assert " ".join(repr(MoleculeKFold(4, kind="scaffold")).split()) == expected
    assert "test_size=0.2" in repr(MoleculeShuffleSplit(test_size=0.2))


@pytest.mark.parametrize(
    ("splitter", "X", "message"),
    [
        (MoleculeKFold(2), ["C", "not_a_smiles", "CC"], "^row 2: .*leave the row out before splitting"),
        (MoleculeKFold(2), ["C", None, "CC"], "^row 2: "),
        (MoleculeKFold(5), ["C", "CC", "CCC"], "too few different molecules for 5 folds: 3 in 3 rows"),
        (MoleculeKFold(2, kind="scafold"), SMILES, "unknown kind 'scafold'; did you mean 'scaffold'"),
        (MoleculeKFold(2, standardize="none"), SMILES, "unknown standardize 'none'"),
        (MoleculeKFold(2, random_state=-1), SMILES, "random_state"),
        (MoleculeKFold(2, random_state="one"), SMILES, "random_state"),
        (MoleculeKFold(1), SMILES, "at least 2, not 1"),
        (MoleculeShuffleSplit(0), SMILES, "n_splits must be a whole number of at least 1"),
        (MoleculeShuffleSplit(test_size=1.5), SMILES, "test_size must be a fraction"),
        (MoleculeShuffleSplit(test_size=20), SMILES, "test_size must be .* below 20 rows, not 20"),
        (MoleculeShuffleSplit(test_size=True), SMILES, "test_size"),
    ],
)
def test_mistakes(splitter, X, message):
    with pytest.raises(InputError, match=message):
        list(splitter.split(X))


def test_groups_of_the_user_are_not_ignored_in_silence():
    for splitter in SPLITTERS:
        with pytest.raises(InputError, match="finds the groups itself"):
            list(splitter.split(SMILES, groups=np.zeros(len(SMILES))))
