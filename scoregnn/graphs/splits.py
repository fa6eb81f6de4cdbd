"""Splits of rows into train, validation and test that never tear a molecule apart.

All functions work on `groups`, the identity key of every row: rows of one key are on one side of every split.
The keys and the seed decide, not the order of the rows: a shuffled table gives the same parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoregnn.errors import InputError
from scoregnn.graphs.clusters import butina_clusters
from scoregnn.graphs.grouping import (
    TEST_FIRST,
    TRAIN_FIRST,
    Indices,
    fill_parts,
    fraction_text,
    label_codes,
    row_units,
    same_length,
    seeded_generator,
    target_sizes,
)

PARTS = ("train", "validation", "test")
SPLIT_KINDS = ("random", "scaffold", "scaffold-balanced", "butina", "time", "column")
"""Kinds with a name; the other choice is the path of a file of `scoregnn.graphs.split_files.save_split`."""

DEFAULT_FRACTIONS = (0.8, 0.1, 0.1)
COLUMN_LABELS = {
    "train": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "test": "test",
}


@dataclass(frozen=True, eq=False)
class Split:
    """Row positions of the three parts: sorted, counted from 0, each row in one part at most.

    Raises `InputError` for a negative position and for a row in two parts.
    """

    train: Indices
    validation: Indices
    test: Indices

    def __post_init__(self) -> None:
        for name in PARTS:
            object.__setattr__(self, name, np.sort(np.asarray(getattr(self, name), dtype=np.int64)))
        rows = np.sort(np.concatenate([self.train, self.validation, self.test]))
        if len(rows) and rows[0] < 0:
            raise InputError(f"a split cannot hold the row position {rows[0]}: positions start at 0")
        if (twice := np.flatnonzero(rows[1:] == rows[:-1])).size:
            raise InputError(f"the row position {rows[twice[0]]} is twice in the split: keep it in one part only")

    @property
    def parts(self) -> dict[str, Indices]:
        """The three arrays by the name of their part."""
        return {name: getattr(self, name) for name in PARTS}

    def labels(self, num_rows: int) -> list[str]:
        """The part of each of `num_rows` rows; "" for a row in no part."""
        labels = [""] * num_rows
        for name, rows in self.parts.items():
            for row in rows:
                labels[row] = name
        return labels


def random_split(groups: Sequence[Hashable], *, fractions: Sequence[float] = DEFAULT_FRACTIONS, seed: int = 0) -> Split:
    """Whole groups, at random, to parts as near to `fractions` of the rows as whole groups allow.

    The distinct keys are sorted, then shuffled by `np.random.default_rng(seed).permutation`. In that order
    each group goes to the first of test, validation and train which still has room for all its rows, else to
    the one with most room. Room is counted to the whole-row sizes nearest to the fractions, at least one row
    for a fraction above zero. Raises `InputError` for impossible fractions and for fewer groups than parts.
    """
    units, sizes = row_units(groups)
    order = seeded_generator(seed).permutation(len(sizes))
    return _split_of(fill_parts(sizes, [(unit, TEST_FIRST) for unit in order], fractions, "molecules")[units])


def scaffold_split(
    groups: Sequence[Hashable],
    scaffolds: Sequence[Hashable],
    *,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
    seed: int | None = None,
) -> Split:
    """Rows of one scaffold stay on one side. `scaffolds` is one label a row, such as a Bemis-Murcko SMILES.

    Acyclic molecules ("") are one set like any other, as in MoleculeNet (Wu et al. 2018,
    doi:10.1039/C7SC02664A). Where one molecule was drawn as tautomers with two scaffolds, the two sets are
    joined.

    Without a seed, the sets go from the largest to the smallest (equal sizes by their first key) to the first
    of train, validation and test with room for them: rare scaffolds are tested. With a seed, the balanced
    variant: sets of more rows than half of the smaller held-out part go to train first, all others as in
    `random_split`. Raises `InputError` for impossible fractions, unequal lengths and fewer sets than parts.
    """
    same_length(groups, scaffolds, "scaffolds")
    return _split_sets(groups, scaffolds, fractions, seed, "scaffolds")


def butina_split(
    groups: Sequence[Hashable],
    fingerprints: NDArray[np.uint8],
    *,
    cutoff: float = 0.35,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
    seed: int | None = 0,
) -> Split:
    """Rows of one Taylor-Butina cluster stay on one side; `seed` as in `scaffold_split`.

    `fingerprints` are packed bits `[num_rows, num_bytes]`; `cutoff` is a Tanimoto distance. See
    `cluster_groups`.
    """
    return _split_sets(groups, cluster_groups(groups, fingerprints, cutoff=cutoff), fractions, seed, "clusters")


def cluster_groups(groups: Sequence[Hashable], fingerprints: NDArray[np.uint8], *, cutoff: float = 0.35) -> list[int]:
    """Taylor-Butina cluster of every row: each group is clustered once, in the order of the sorted keys.

    Of rows with one key and different fingerprints (tautomers) the smallest fingerprint stands for the group.
    """
    codes, _ = label_codes(groups)
    fingerprints = np.ascontiguousarray(fingerprints)
    if fingerprints.ndim != 2 or len(fingerprints) != len(codes):
        raise InputError(f"fingerprints must be one row of bytes for each of {len(codes)} rows: {fingerprints.shape}")
    order = np.lexsort((*fingerprints.T[::-1], codes))
    first = order[np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 1))]
    clusters = butina_clusters(fingerprints[first], cutoff=cutoff)
    return [int(cluster) for cluster in clusters[codes]]


def time_split(
    groups: Sequence[Hashable],
    times: Sequence[float] | NDArray[np.float64],
    *,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
) -> Split:
    """The earliest rows to train, the latest to test; `scoregnn.graphs.times.parse_times` reads cells.

    A group takes its latest time and equal times stay together, so that everything in train is older than
    everything in validation, and that older than everything in test. Sizes are as near to the fractions as
    these cuts allow. Raises `InputError` for a time that is not finite and for fewer different times than
    parts.
    """
    codes, num_groups = label_codes(groups)
    stamps = np.asarray(times, dtype=np.float64)
    same_length(groups, stamps, "times")
    if not np.isfinite(stamps).all():
        raise InputError(
            f"a time must be finite, not {stamps[~np.isfinite(stamps)][0]}: a row without one cannot be split"
        )
    latest = np.full(num_groups, -np.inf)
    np.maximum.at(latest, codes, stamps)
    distinct, step = np.unique(latest[codes], return_inverse=True)
    targets = target_sizes(len(codes), fractions)
    wanted = [part for part in range(len(PARTS)) if targets[part] > 0]
    if len(distinct) < len(wanted):
        raise InputError(
            f"too few different times to split: {len(distinct)} for {len(wanted)} parts "
            f"({fraction_text(fractions)}); each part needs times of its own"
        )
    ends = np.cumsum(np.bincount(step, minlength=len(distinct)))
    part_of_step = np.empty(len(distinct), dtype=np.int64)
    start = 0
    for place, part in enumerate(wanted):
        still_needed = len(wanted) - 1 - place
        goal = sum(targets[: part + 1])
        last = start + int(np.argmin(np.abs(ends[start : len(distinct) - still_needed] - goal)))
        last = last if still_needed else len(distinct) - 1
        part_of_step[start : last + 1] = part
        start = last + 1
    return _split_of(part_of_step[step])


def column_split(
    groups: Sequence[Hashable],
    labels: Sequence[str],
    *,
    column: str = "split",
    rows: Sequence[int] | None = None,
) -> Split:
    """The parts as a column of the table says: train, validation (also valid, val) or test, in any case.

    `column` and the row numbers `rows` are named in messages; without `rows` they count from 1.
    Raises `InputError` for another label, an empty train part, and one molecule in two parts.
    """
    same_length(groups, labels, "labels")
    parts: dict[str, list[int]] = {name: [] for name in PARTS}
    for position, label in enumerate(labels):
        part = COLUMN_LABELS.get(str(label).strip().lower())
        if part is None:
            raise InputError(
                f"row {_number(rows, position)}: unknown part {label!r} in column {column!r}; "
                "use train, validation or test"
            )
        parts[part].append(position)
    split = Split(**{name: np.array(positions, dtype=np.int64) for name, positions in parts.items()})
    if not len(split.train):
        raise InputError(f"no row of column {column!r} says train: nothing to learn from")
    check_grouped(split, groups, rows=rows)
    return split


def check_grouped(split: Split, groups: Sequence[Hashable], *, rows: Sequence[int] | None = None) -> None:
    """Raises `InputError`, naming two rows, where one molecule is in two parts of the split."""
    keys = list(groups)
    seen: dict[Hashable, tuple[str, int]] = {}
    for part, positions in split.parts.items():
        for position in positions:
            if position >= len(keys):
                raise InputError(f"the split has row position {position}, but there are {len(keys)} rows")
            other, first = seen.setdefault(keys[position], (part, int(position)))
            if other != part:
                raise InputError(
                    f"rows {_number(rows, first)} ({other}) and {_number(rows, int(position))} ({part}) "
                    "are the same molecule: put all its rows into one part, or the test knows the answer"
                )


def k_folds(
    groups: Sequence[Hashable], *, n_folds: int, seed: int = 0, sets: Sequence[Hashable] | None = None
) -> list[Indices]:
    """Test positions of each fold: every row is in one fold, folds are as even as whole groups allow.

    `sets` are labels whose rows must stay together as well: the scaffold or the cluster of each row.
    Shuffled as in `random_split`, then the largest first to the fold with the fewest rows, so that two folds
    differ by the largest group at most. Raises `InputError` for fewer groups (sets) than folds.
    """
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise InputError(f"the number of folds must be a whole number of at least 2, not {n_folds!r}")
    units, sizes = row_units(groups, sets)
    if len(sizes) < n_folds:
        raise InputError(
            f"too few different {'molecules' if sets is None else 'sets'} for {n_folds} folds: "
            f"{len(sizes)} in {len(units)} rows"
        )
    shuffled = seeded_generator(seed).permutation(len(sizes))
    fold_of_unit = np.empty(len(sizes), dtype=np.int64)
    filled = np.zeros(n_folds, dtype=np.int64)
    for unit in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of_unit[unit] = np.argmin(filled)
        filled[fold_of_unit[unit]] += sizes[unit]
    fold_of_row = fold_of_unit[units]
    return [np.flatnonzero(fold_of_row == fold) for fold in range(n_folds)]


def _split_sets(
    groups: Sequence[Hashable],
    sets: Sequence[Hashable],
    fractions: Sequence[float],
    seed: int | None,
    name: str,
) -> Split:
    units, sizes = row_units(groups, sets)
    largest_first = np.lexsort((np.arange(len(sizes)), -sizes))
    if seed is None:
        order = [(unit, TRAIN_FIRST) for unit in largest_first]
    else:
        held_out = [size for size in target_sizes(len(units), fractions)[1:] if size > 0]
        big = sizes > min(held_out, default=len(units)) / 2
        order = [(unit, TRAIN_FIRST) for unit in largest_first if big[unit]]
        order += [(unit, TEST_FIRST) for unit in seeded_generator(seed).permutation(np.flatnonzero(~big))]
    return _split_of(fill_parts(sizes, order, fractions, name)[units])


def _split_of(part_of_row: Indices) -> Split:
    return Split(**{name: np.flatnonzero(part_of_row == part) for part, name in enumerate(PARTS)})


def _number(rows: Sequence[int] | None, position: int) -> int:
    """The number of a row in messages: as the table counts, or from 1."""
    return position + 1 if rows is None else int(rows[position])
