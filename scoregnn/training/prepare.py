"""From a labelled table to what the loop trains on: molecules checked, rows split, tensors filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from scoregnn.config import Config, suggestion
from scoregnn.errors import InputError
from scoregnn.graphs.split_files import load_split
from scoregnn.graphs.splits import (
    DEFAULT_FRACTIONS,
    SPLIT_KINDS,
    Split,
    butina_split,
    check_grouped,
    column_split,
    random_split,
    scaffold_split,
    time_split,
)
from scoregnn.graphs.store import MoleculeStore
from scoregnn.graphs.tables import LabelledTable, column_values
from scoregnn.graphs.times import parse_times
from scoregnn.molecules import FeaturizeOptions, Featurizer, Molecule, Refusal, descriptor_names
from scoregnn.training.data import TrainingData
from scoregnn.training.task import Task


@dataclass(frozen=True)
class SplitRequest:
    """How rows are divided: a kind of `scoregnn.graphs.splits.SPLIT_KINDS` or the path of a
    file of `scoregnn.graphs.split_files`.

    column: of the table, for "time" and "column". seed: for the random kinds. fractions: train, validation, test.
    """

    kind: str = "random"
    seed: int = 0
    column: str | None = None
    fractions: tuple[float, float, float] = DEFAULT_FRACTIONS

    def __post_init__(self) -> None:
        if self.kind not in SPLIT_KINDS and not self.kind.endswith(".json") and not Path(self.kind).is_file():
            raise InputError(f"unknown split {self.kind!r}{suggestion(self.kind, SPLIT_KINDS)}, or a splits.json")
        if self.kind in ("time", "column") and self.column is None:
            raise InputError(f"a split by {self.kind} needs --split-column NAME")
        if self.kind not in ("time", "column") and self.column is not None:
            raise InputError(f"--split-column is for --split time or column, not for {self.kind}")


@dataclass(frozen=True)
class PreparedTable:
    """The usable rows of a table (position p is row `rows[p]` of the table, counted from 0) and why others are not.

    data: one entry a usable row. keys: identity of each. smiles: canonical SMILES of each. refused: reason by row.
    """

    table: LabelledTable
    task: Task
    rows: np.ndarray
    data: TrainingData
    keys: list[str]
    smiles: list[str]
    scaffolds: list[str]
    fingerprints: np.ndarray
    refused: dict[int, str]
    notes: list[str]

    @property
    def row_numbers(self) -> list[int]:
        """The usable rows as the user counts them, from 1."""
        return [int(row) + 1 for row in self.rows]


def prepare(
    table: LabelledTable,
    config: Config,
    *,
    split_kind: str = "random",
    units: Sequence[str] = (),
    time_limit: float = 20.0,
    workers: int | None = None,
) -> PreparedTable:
    """Featurises every row of `table`; rows that are refused or carry no label are kept aside with the reason."""
    options = FeaturizeOptions(
        standardize=config.standardize,
        descriptors=config.descriptors,
        identity=True,
        scaffold=split_kind.startswith("scaffold"),
        fingerprint=split_kind == "butina",
        smiles=True,
    )
    refused = {number - 1: reason for number, reason in table.skipped.items()}
    molecules: list[Molecule] = []
    rows: list[int] = []
    with Featurizer(options, time_limit=time_limit, workers=workers) as featurizer:
        for row, molecule in enumerate(featurizer.map(row.molecule for row in table.rows)):
            if isinstance(molecule, Refusal):
                refused.setdefault(row, molecule.reason)
            elif row not in refused and np.isnan(table.targets[row]).all():
                refused[row] = "no label in this row"
            elif row not in refused:
                molecules.append(molecule)
                rows.append(row)
    if not molecules:
        first = next(iter(sorted(refused.items())), (0, "no rows"))
        raise InputError(f"{table.source}: no valid row; row {first[0] + 1}: {first[1]}")
    index = np.array(rows, dtype=np.int64)
    weights = table.weights[index] if table.weights is not None else np.ones(len(index))
    prepared = PreparedTable(
        table=table,
        task=_task(table, units),
        rows=index,
        data=TrainingData(
            store=MoleculeStore.from_molecules(molecules),
            targets=torch.from_numpy(table.targets[index]),
            bounds=torch.from_numpy(table.bounds[index]),
            weights=torch.from_numpy(weights),
            features=torch.from_numpy(table.features[index]),
        ),
        keys=[molecule.key or "" for molecule in molecules],
        smiles=[molecule.smiles or "" for molecule in molecules],
        scaffolds=[molecule.scaffold or "" for molecule in molecules],
        fingerprints=np.stack([m.fingerprint for m in molecules if m.fingerprint is not None])
        if split_kind == "butina"
        else np.empty((0, 0), dtype=np.uint8),
        refused=dict(sorted(refused.items())),
        notes=[],
    )
    prepared.notes.extend(_notes(prepared, config))
    return prepared


def split_rows(prepared: PreparedTable, request: SplitRequest) -> Split:
    """Positions of the three parts among the usable rows; rows of one molecule are on one side."""
    groups, table = prepared.keys, prepared.table
    numbers = prepared.row_numbers
    match request.kind:
        case "random":
            return random_split(groups, fractions=request.fractions, seed=request.seed)
        case "scaffold":
            return scaffold_split(groups, prepared.scaffolds, fractions=request.fractions)
        case "scaffold-balanced":
            return scaffold_split(groups, prepared.scaffolds, fractions=request.fractions, seed=request.seed)
        case "butina":
            return butina_split(groups, prepared.fingerprints, fractions=request.fractions, seed=request.seed)
        case "time":
            cells = [column_values(table, str(request.column))[row] for row in prepared.rows]
            return time_split(
                groups, parse_times(cells, column=str(request.column), rows=numbers), fractions=request.fractions
            )
        case "column":
            cells = [column_values(table, str(request.column))[row] for row in prepared.rows]
            return column_split(groups, cells, column=str(request.column), rows=numbers)
    split = load_split(request.kind, num_rows=len(table.rows), data_sha256=table.data_sha256, rows=prepared.row_numbers)
    check_grouped(split, groups, rows=prepared.row_numbers)
    return split


def _task(table: LabelledTable, units: Sequence[str]) -> Task:
    if units and len(units) not in (1, len(table.target_names)):
        raise InputError(f"{len(units)} units do not fit {len(table.target_names)} targets; give one or one a target")
    each = tuple(units) if len(units) == len(table.target_names) else tuple(units[:1]) * len(table.target_names)
    return Task(
        kind=table.task,
        targets=table.target_names,
        units=each or ("",) * len(table.target_names),
        classes=table.classes or (),
    )


def _notes(prepared: PreparedTable, config: Config) -> list[str]:
    notes = []
    if prepared.refused:
        shown = "; ".join(f"row {row + 1}: {reason}" for row, reason in list(prepared.refused.items())[:3])
        more = "; …" if len(prepared.refused) > 3 else ""
        notes.append(f"{len(prepared.refused)} of {len(prepared.table.rows)} rows are not used ({shown}{more})")
    repeats = [count for count in Counter(prepared.keys).values() if count > 1]
    if repeats:
        notes.append(
            f"{len(repeats)} molecules are in more than one row ({sum(repeats)} rows); "
            "all rows of a molecule go to one part"
        )
    missing = ~torch.isfinite(prepared.data.store.descriptors)
    if missing.any():
        names = [name for name, flag in zip(descriptor_names(config.descriptors), missing.any(0), strict=True) if flag]
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        notes.append(
            f"{int(missing.any(1).sum())} molecules lack descriptors ({shown}); "
            "the median of the training part stands in"
        )
    return notes
