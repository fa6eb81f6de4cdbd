"""Counts of a data set, computed from its rows so that a card cannot claim what is not there."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from scoregnn.datasets.registry import get
from scoregnn.graphs.tables import LabelledTable
from scoregnn.molecules import identity_key, murcko_scaffold, parse_molecule


def describe(name: str) -> dict[str, Any]:
    """Counts and ranges of a data set.

    Returns:
        `rows`; `distinct_molecules` (by identity key); `repeated_molecules`, those with several rows, and
        `conflicting_molecules`, those of them whose rows differ in a target; `atoms` (least and most heavy
        atoms); `rows_without_bonds`; `acyclic_rows`; `scaffolds`, different Bemis-Murcko scaffolds, the empty
        one of acyclic molecules among them; `commonest_scaffold` (of a molecule with rings) and
        `commonest_scaffold_rows`; `targets`, for each its `unit`, number of `values`, `min`, `max`, `mean`
        and (sample) standard deviation `sd`.

    Raises:
        InputError: unknown data set, or its file is damaged.
    """
    dataset = get(name)
    table = dataset.table()
    molecules = [parse_molecule(row.molecule) for row in table.rows]
    atoms = [molecule.GetNumAtoms() for molecule in molecules]
    scaffolds = Counter(murcko_scaffold(molecule) for molecule in molecules)
    rings = Counter({scaffold: rows for scaffold, rows in scaffolds.items() if scaffold})
    commonest, commonest_rows = rings.most_common(1)[0] if rings else ("", 0)
    return {
        "rows": len(table.rows),
        **_repeats([identity_key(molecule) for molecule in molecules], table),
        "atoms": (min(atoms), max(atoms)),
        "rows_without_bonds": sum(molecule.GetNumBonds() == 0 for molecule in molecules),
        "acyclic_rows": scaffolds[""],
        "scaffolds": len(scaffolds),
        "commonest_scaffold": commonest,
        "commonest_scaffold_rows": commonest_rows,
        "targets": {
            target: _statistics(table.targets[:, at], unit)
            for at, (target, unit) in enumerate(zip(table.target_names, dataset.card.units, strict=True))
        },
    }


def _repeats(keys: list[str], table: LabelledTable) -> dict[str, int]:
    rows: dict[str, list[int]] = defaultdict(list)
    for at, key in enumerate(keys):
        rows[key].append(at)
    repeated = [places for places in rows.values() if len(places) > 1]
    return {
        "distinct_molecules": len(rows),
        "repeated_molecules": len(repeated),
        "conflicting_molecules": sum(bool(np.nanmax(np.ptp(table.targets[at], axis=0)) > 0) for at in repeated),
    }


def _statistics(values: np.ndarray[Any, np.dtype[np.float64]], unit: str) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    return {
        "unit": unit,
        "values": int(known.size),
        "min": float(known.min()),
        "max": float(known.max()),
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)),
    }
