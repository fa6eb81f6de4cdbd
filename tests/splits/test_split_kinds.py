"""Splits on hand-made groups, where the right parts are known."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from scoregnn.errors import InputError
from scoregnn.graphs.grouping import target_sizes
from scoregnn.graphs.splits import (
    PARTS,
    Split,
    check_grouped,
    column_split,
    k_folds,
    random_split,
    scaffold_split,
    time_split,
)


def sizes(split: Split) -> list[int]:
    return [len(rows) for rows in split.parts.values()]


@pytest.mark.parametrize(
    ("rows", "fractions", "expected"),
    [
        (1128, (0.8, 0.1, 0.1), [902, 113, 113]),
        (10, (0.8, 0.1, 0.1), [8, 1, 1]),
        (15, (0.8, 0.1, 0.1), [12, 1, 2]),
        (5, (0.8, 0.1, 0.1), [3, 1, 1]),
        (3, (0.98, 0.01, 0.01), [1, 1, 1]),
        (4, (0.75, 0.0, 0.25), [3, 0, 1]),
        (7, (1.0, 0.0, 0.0), [7, 0, 0]),
        (9, (1 / 3, 1 / 3, 1 / 3), [3, 3, 3]),
        (1000, (0.7, 0.2, 0.1), [700, 200, 100]),
    ],
)
def test_sizes_nearest_to_the_fractions(rows, fractions, expected):
    assert target_sizes(rows, fractions) == expected
    assert sizes(random_split([f"m{row}" for row in range(rows)], fractions=fractions)) == expected


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.8, 0.1), "three numbers"),
        ((0.8, 0.3, -0.1), "at least 0"),
        ((0.8, float("nan"), 0.1), "at least 0"),
        ((0.8, 0.1, 0.2), "add up to 1, not to 1.1"),
        ((0.0, 0.5, 0.5), "train must be above 0"),
    ],
)
def test_impossible_fractions(fractions, message):
    with pytest.raises(InputError, match=message):
        random_split(list("abcdefghij"), fractions=fractions)


def test_too_few_molecules_say_how_many():
    with pytest.raises(InputError, match="too few different molecules to split: 2 in 10 rows for 3 parts"):
        random_split(["a", "b"] * 5)
    with pytest.raises(InputError, match="too few rows to split: 0 for 3 parts"):
        random_split([])
    with pytest.raises(InputError, match="too few different scaffolds to split: 1 in 4 rows"):
        scaffold_split(list("abcd"), [""] * 4)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_seed_must_be_a_whole_number(seed):
    with pytest.raises(InputError, match="seed must be a whole number"):
        random_split(list("abcdef"), seed=seed)


def test_random_split_follows_its_documented_recipe():
    groups = [f"k{row:02d}" for row in range(20)]
    order = np.random.default_rng(7).permutation(20)
    split = random_split(groups, seed=7)
    assert split.test.tolist() == sorted(order[:2])
    assert split.validation.tolist() == sorted(order[2:4])
    assert split.train.tolist() == sorted(order[4:])


def test_a_group_too_large_for_test_always_goes_to_train():
    groups = ["big"] * 6 + [f"k{row}" for row in range(14)]
    for seed in range(20):
        split = random_split(groups, seed=seed)
        assert set(range(6)) <= set(split.train.tolist())
        assert sizes(split) == [16, 2, 2]


def test_every_part_gets_a_group_where_there_are_just_enough():
    groups = ["a"] * 8 + ["b"] * 7 + ["c"] * 5
    for seed in range(6):
        assert all(sizes(random_split(groups, seed=seed)))


def test_seeds_differ_and_test_does_not_depend_on_the_validation_fraction():
    groups = [f"k{row:03d}" for row in range(100)]
    assert random_split(groups, seed=0).test.tolist() != random_split(groups, seed=1).test.tolist()
    without = random_split(groups, fractions=(0.9, 0.0, 0.1), seed=3)
    assert without.test.tolist() == random_split(groups, seed=3).test.tolist()
    assert len(without.validation) == 0


def test_scaffolds_go_largest_first_to_train():
    scaffolds = ["benzene"] * 5 + [""] * 3 + ["pyridine", "furan"]
    split = scaffold_split(list("abcdefghij"), scaffolds)
    assert split.train.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    # Equal sizes go by their first key: "i" (pyridine) before "j" (furan).
    assert (split.validation.tolist(), split.test.tolist()) == ([8], [9])


def test_molecules_of_two_scaffolds_join_them():
    groups = ["tautomer", "tautomer", "b", "c", "d", "e"]
    scaffolds = ["pyridone", "pyridinol", "pyridone", "pyridinol", "x", "y"]
    split = scaffold_split(groups, scaffolds)
    assert split.train.tolist() == [0, 1, 2, 3]


def test_balanced_scaffolds_keep_big_sets_in_train_and_shuffle_the_rest():
    scaffolds = ["big"] * 20 + [f"s{row}" for row in range(80)]
    groups = [f"k{row:03d}" for row in range(100)]
    tests = set()
    for seed in range(5):
        split = scaffold_split(groups, scaffolds, seed=seed)
        assert set(range(20)) <= set(split.train.tolist())
        assert sizes(split) == [80, 10, 10]
        tests.add(tuple(split.test))
    assert len(tests) == 5


def test_set_of_half_the_test_size_is_not_big():
    groups = [f"k{row:03d}" for row in range(100)]
    scaffolds = [f"s{row // 5:02d}" for row in range(100)]
    in_test = {scaffolds[row] for seed in range(30) for row in scaffold_split(groups, scaffolds, seed=seed).test}
    assert len(in_test) > 10


def test_later_rows_are_tested():
    split = time_split(list("abcdefghij"), [2019, 2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2018])
    assert split.train.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (split.validation.tolist(), split.test.tolist()) == ([9], [0])


def test_a_molecule_counts_at_its_latest_time():
    split = time_split(["a", "b", "c", "d", "a"], [1, 2, 3, 4, 5], fractions=(0.6, 0.0, 0.4))
    assert split.test.tolist() == [0, 4]


def test_equal_times_stay_together():
    years = [2000] * 7 + [2001] * 2 + [2002]
    split = time_split(list("abcdefghij"), years)
    assert sizes(split) == [7, 2, 1]
    split = time_split(list("abcdefghij"), years, fractions=(0.9, 0.0, 0.1))
    assert sizes(split) == [9, 0, 1]


def test_time_split_refuses_what_it_cannot_order():
    with pytest.raises(InputError, match="too few different times to split: 2 for 3 parts"):
        time_split(list("abcd"), [1, 1, 2, 2])
    with pytest.raises(InputError, match="must be finite, not nan"):
        time_split(list("abcd"), [1, 2, 3, float("nan")])
    with pytest.raises(InputError, match="one value a row: 2 for 4 rows"):
        time_split(list("abcd"), [1, 2])


def test_column_labels():
    split = column_split(list("abcdef"), ["train", " Valid", "VAL", "validation", "test", "train"])
    assert [rows.tolist() for rows in split.parts.values()] == [[0, 5], [1, 2, 3], [4]]


def test_column_faults_name_the_rows_of_the_table():
    with pytest.raises(InputError, match=r"^row 4: unknown part 'tset' in column 'part'; use train"):
        column_split(list("abc"), ["train", "test", "tset"], column="part", rows=[1, 2, 4])
    with pytest.raises(InputError, match="row 2: unknown part ''"):
        column_split(list("ab"), ["train", ""])
    with pytest.raises(InputError, match=r"rows 3 \(train\) and 9 \(test\) are the same molecule"):
        column_split(list("aba"), ["train", "train", "test"], rows=[3, 4, 9])
    with pytest.raises(InputError, match="no row of column 'split' says train"):
        column_split(list("ab"), ["test", "test"])


def test_check_grouped():
    check_grouped(Split(train=[0, 1], validation=[2], test=[3]), list("aabc"))
    with pytest.raises(InputError, match=r"rows 1 \(validation\) and 4 \(test\)"):
        check_grouped(Split(train=[1], validation=[0], test=[3]), list("abca"))
    with pytest.raises(InputError, match="row position 4, but there are 3 rows"):
        check_grouped(Split(train=[0], validation=[], test=[4]), list("abc"))


def test_split_holds_each_row_once():
    with pytest.raises(InputError, match="row position 3 is twice"):
        Split(train=[3, 1], validation=[], test=[3])
    with pytest.raises(InputError, match="row position -1"):
        Split(train=[0], validation=[-1], test=[1])


def test_labels_name_the_part_of_each_row():
    split = Split(train=[4, 0], validation=[2], test=[1])
    assert split.train.tolist() == [0, 4]
    assert split.labels(6) == ["train", "test", "validation", "", "train", ""]


def test_folds_are_even_and_deal_out_the_large_groups():
    groups = ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + list("defghi")
    for seed in range(10):
        folds = k_folds(groups, n_folds=3, seed=seed)
        assert [len(fold) for fold in folds] == [5, 5, 5]
        assert [sum(row < 9 for row in fold) for fold in folds] == [3, 3, 3]


def test_folds_keep_sets_together():
    folds = k_folds(list("abcdef"), n_folds=3, sets=["x", "y", "z", "x", "y", "z"])
    assert sorted(fold.tolist() for fold in folds) == [[0, 3], [1, 4], [2, 5]]


def test_impossible_folds():
    with pytest.raises(InputError, match="at least 2, not 1"):
        k_folds(list("abc"), n_folds=1)
    with pytest.raises(InputError, match="too few different molecules for 3 folds: 2 in 4 rows"):
        k_folds(list("abab"), n_folds=3)
    with pytest.raises(InputError, match="too few different sets for 2 folds: 1"):
        k_folds(list("abcd"), n_folds=2, sets=[0, 0, 0, 0])


def test_esol_has_exact_sizes_and_no_molecule_on_both_sides(shared_data):
    from rdkit import Chem, rdBase

    with (shared_data / "esol.csv").open(newline="") as file:
        smiles = [row["smiles"].strip() for row in csv.DictReader(file)]
    with rdBase.BlockLogs():
        keys = [Chem.MolToInchiKey(Chem.MolFromSmiles(text)) for text in smiles]
    assert (len(keys), len(set(keys))) == (1128, 1117)
    for seed in range(5):
        split = random_split(keys, seed=seed)
        assert sizes(split) == [902, 113, 113]
        check_grouped(split, keys)
        part = split.labels(1128)
        assert set(part) == set(PARTS)
