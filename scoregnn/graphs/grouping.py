"""Rows into indivisible units, and units into parts of given sizes: the arithmetic under every split."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from scoregnn.errors import InputError

Indices = NDArray[np.int64]

TRAIN_FIRST = (0, 1, 2)
TEST_FIRST = (2, 1, 0)


def label_codes(labels: Sequence[Hashable]) -> tuple[Indices, int]:
    """Codes `[num_rows]` of the labels in sorted order, and how many different ones there are."""
    code = {label: number for number, label in enumerate(sorted(set(labels)))}  # type: ignore[type-var]
    return np.fromiter((code[label] for label in labels), dtype=np.int64, count=len(labels)), len(code)


def row_units(groups: Sequence[Hashable], sets: Sequence[Hashable] | None = None) -> tuple[Indices, Indices]:
    """The unit of each row `[num_rows]`, numbered by smallest group, and the rows in each unit `[num_units]`.

    A unit is a group, or with `sets` all that hangs together through groups and sets.
    """
    units, num_units = label_codes(groups)
    if sets is not None:
        same_length(groups, sets, "sets")
        set_codes, num_sets = label_codes(sets)
        num_nodes = num_units + num_sets
        links = coo_array((np.ones(len(units)), (units, num_units + set_codes)), shape=(num_nodes, num_nodes))
        component = connected_components(links, directed=False)[1][:num_units]
        _, first, renumbered = np.unique(component, return_index=True, return_inverse=True)
        units = np.argsort(np.argsort(first))[renumbered][units].astype(np.int64)
        num_units = len(first)
    return units, np.bincount(units, minlength=num_units).astype(np.int64)


def target_sizes(num_rows: int, fractions: Sequence[float]) -> list[int]:
    """Rows of train, validation and test nearest to the fractions, at least one for a fraction above 0.

    Rows left over by rounding down go to the largest remainders, at equal remainders to test first.
    Raises `InputError` for fractions that are not three numbers of at least 0 with sum 1, or leave train
    empty.
    """
    fractions = list(fractions)
    if len(fractions) != 3 or not all(math.isfinite(fraction) and fraction >= 0 for fraction in fractions):
        raise InputError(f"fractions must be three numbers of at least 0 (train, validation, test), not {fractions}")
    if abs(sum(fractions) - 1) > 1e-6:
        raise InputError(f"the fractions of train, validation and test must add up to 1, not to {sum(fractions):g}")
    if not fractions[0]:
        raise InputError("the fraction of train must be above 0: nothing to learn from")
    if num_rows < (parts := sum(fraction > 0 for fraction in fractions)):
        raise InputError(f"too few rows to split: {num_rows} for {parts} parts ({fraction_text(fractions)})")
    exact = [fraction * num_rows for fraction in fractions]
    sizes = [math.floor(size + 1e-9) for size in exact]
    by_remainder = sorted(TEST_FIRST, key=lambda part: round(sizes[part] - exact[part], 9))
    for part in by_remainder[: num_rows - sum(sizes)]:
        sizes[part] += 1
    for part in TEST_FIRST:
        if fractions[part] > 0 and sizes[part] == 0:
            sizes[part] = 1
            sizes[sizes.index(max(sizes))] -= 1
    return sizes


def fill_parts(
    sizes: Indices, order: Iterable[tuple[int, tuple[int, ...]]], fractions: Sequence[float], unit_name: str
) -> Indices:
    """The part (0, 1 or 2) of each unit `[num_units]`. `order` lists every unit with the parts it prefers.

    A unit goes to the first preferred part with room for all its rows, else to the one with most room; the
    last units go to parts that would stay empty. Raises `InputError` for fewer units than parts.
    """
    num_rows = int(sizes.sum())
    room = target_sizes(num_rows, fractions)
    empty = {part for part in range(3) if fractions[part] > 0}
    asked = frozenset(empty)
    if len(sizes) < len(asked):
        raise InputError(
            f"too few different {unit_name} to split: {len(sizes)} in {num_rows} rows for {len(asked)} parts "
            f"({fraction_text(fractions)}); give more rows or set the fraction of a part to 0"
        )
    parts = np.empty(len(sizes), dtype=np.int64)
    remaining = len(sizes)
    for unit, preferred in order:
        allowed = asked if remaining > len(empty) else empty
        choice = [part for part in preferred if part in allowed]
        size = int(sizes[unit])
        part = next((part for part in choice if room[part] >= size), max(choice, key=room.__getitem__))
        parts[unit] = part
        room[part] -= size
        empty.discard(part)
        remaining -= 1
    return parts


def fraction_text(fractions: Sequence[float]) -> str:
    """The fractions as they are named in messages."""
    return f"train {fractions[0]:g}, validation {fractions[1]:g}, test {fractions[2]:g}"


def seeded_generator(seed: int) -> np.random.Generator:
    """`np.random.default_rng(seed)`; raises `InputError` for a seed that is not a whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed must be a whole number of at least 0, not {seed!r}")
    return np.random.default_rng(seed)


def same_length(groups: Sequence[Hashable], values: Sequence[object] | NDArray[np.generic], name: str) -> None:
    """Raises `InputError` where there is not one value a row."""
    if len(values) != len(groups):
        raise InputError(f"{name} must have one value a row: {len(values)} for {len(groups)} rows")
