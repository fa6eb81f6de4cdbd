"""What holds for every split of any rows, searched by hypothesis."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregnn.errors import InputError
from scoregnn.graphs.grouping import target_sizes
from scoregnn.graphs.splits import (
    Split,
    butina_split,
    check_grouped,
    cluster_groups,
    k_folds,
    random_split,
    scaffold_split,
    time_split,
)

FRACTIONS = [(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (0.9, 0.0, 0.1), (0.7, 0.3, 0.0), (1.0, 0.0, 0.0)]


@st.composite
def tables(draw):
    """Groups (few, so that many rows share one), and a scaffold, a fingerprint and a time for each row."""
    num_rows = draw(st.integers(1, 60))
    num_groups = draw(st.integers(1, num_rows))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, num_groups, num_rows)
    groups = [f"k{code:02d}" for code in codes]
    scaffolds = [f"s{value}" for value in rng.integers(0, max(1, num_groups // 2), num_groups)[codes]]
    fingerprints = np.packbits(rng.random((num_groups, 16)) < 0.4, axis=1)[codes]
    times = rng.integers(0, 12, num_rows).astype(float)
    return groups, scaffolds, fingerprints, times


KINDS = {
    "random": lambda t, f, s: random_split(t[0], fractions=f, seed=s),
    "scaffold": lambda t, f, s: scaffold_split(t[0], t[1], fractions=f),
    "scaffold-balanced": lambda t, f, s: scaffold_split(t[0], t[1], fractions=f, seed=s),
    "butina": lambda t, f, s: butina_split(t[0], t[2], fractions=f, seed=s),
    "time": lambda t, f, s: time_split(t[0], t[3], fractions=f),
}


def split_or_refusal(kind, table, fractions, seed) -> Split | str:
    try:
        return KINDS[kind](table, fractions, seed)
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), fractions=st.sampled_from(FRACTIONS), seed=st.integers(0, 1000))
def test_each_row_once_molecules_whole_parts_filled(kind, table, fractions, seed):
    groups = table[0]
    split = split_or_refusal(kind, table, fractions, seed)
    if isinstance(split, str):
        assert split.startswith("too few")
        if kind == "random":
            assert len(set(groups)) < sum(fraction > 0 for fraction in fractions)
        return
    rows = np.concatenate(list(split.parts.values()))
    assert sorted(rows) == list(range(len(groups)))
    check_grouped(split, groups)
    for fraction, part in zip(fractions, split.parts.values(), strict=True):
        assert (len(part) > 0) == (fraction > 0)
        assert (np.diff(part) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), seed=st.integers(0, 1000), shuffle=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(kind, table, seed, shuffle):
    groups, scaffolds, fingerprints, times = table
    order = np.random.default_rng(shuffle).permutation(len(groups))
    moved = ([groups[i] for i in order], [scaffolds[i] for i in order], fingerprints[order], times[order])
    first = split_or_refusal(kind, table, (0.6, 0.2, 0.2), seed)
    second = split_or_refusal(kind, moved, (0.6, 0.2, 0.2), seed)
    if isinstance(first, str):
        assert second == first
    else:
        labels = first.labels(len(groups))
        assert second.labels(len(groups)) == [labels[i] for i in order]


@pytest.mark.parametrize("kind", ["scaffold", "scaffold-balanced", "butina"])
@given(table=tables(), seed=st.integers(0, 1000))
def test_sets_are_on_one_side(kind, table, seed):
    split = split_or_refusal(kind, table, (0.6, 0.2, 0.2), seed)
    if not isinstance(split, str):
        check_grouped(split, cluster_groups(table[0], table[2]) if kind == "butina" else table[1])


@given(table=tables(), fractions=st.sampled_from(FRACTIONS), seed=st.integers(0, 1000))
def test_no_part_is_overfull_by_a_whole_group(table, fractions, seed):
    groups = table[0]
    split = split_or_refusal("random", table, fractions, seed)
    if isinstance(split, str):
        return
    largest = max(groups.count(group) for group in groups)
    for part, target in zip(split.parts.values(), target_sizes(len(groups), fractions), strict=True):
        assert len(part) <= target + largest - 1


@given(table=tables(), fractions=st.sampled_from(FRACTIONS))
def test_train_is_older_than_validation_older_than_test(table, fractions):
    split = split_or_refusal("time", table, fractions, 0)
    if isinstance(split, str):
        return
    groups, times = table[0], table[3]
    latest = {group: max(t for g, t in zip(groups, times, strict=True) if g == group) for group in groups}
    spans = [[latest[groups[row]] for row in part] for part in split.parts.values() if len(part)]
    for earlier, later in itertools.pairwise(spans):
        assert max(earlier) < min(later)


@given(table=tables(), n_folds=st.integers(2, 6), seed=st.integers(0, 1000), with_sets=st.booleans())
def test_folds_partition_and_differ_by_one_unit_at_most(table, n_folds, seed, with_sets):
    groups = table[0]
    units = table[1] if with_sets else groups
    if len(set(units)) < n_folds:
        with pytest.raises(InputError, match="too few different"):
            k_folds(groups, n_folds=n_folds, seed=seed, sets=units if with_sets else None)
        return
    folds = k_folds(groups, n_folds=n_folds, seed=seed, sets=units if with_sets else None)
    assert sorted(np.concatenate(folds)) == list(range(len(groups)))
    fold_of = {}
    for number, fold in enumerate(folds):
        for row in fold:
            assert fold_of.setdefault(units[row], number) == number
    counts = [len(fold) for fold in folds]
    assert max(counts) - min(counts) <= max(units.count(unit) for unit in units)
