"""Tables with measured values: targets, bounds, weights and features as arrays, every row in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoregnn.errors import InputError
from scoregnn.graphs.tables.cells import BLANK, CellReader, Floats
from scoregnn.graphs.tables.classes import encode_classes, is_binary
from scoregnn.graphs.tables.detection import find_target
from scoregnn.graphs.tables.messages import counted, no_column, shown
from scoregnn.graphs.tables.opening import open_table
from scoregnn.graphs.tables.roles import Roles
from scoregnn.graphs.tables.table import Row, Table
from scoregnn.molecules.inputs import MolBlock

TASKS = ("auto", "regression", "classification")


@dataclass(frozen=True)
class LabelledTable:
    """A table read for training. Arrays have one entry for each row of the file, in its order.

    Attributes:
        source: name of the table in messages. columns: its columns. rows: all of them, skipped ones too.
        targets: [num_rows, T], NaN where nothing was measured (and in skipped rows).
        bounds: [num_rows, T], 0 the value itself, +1 the true value is above the target, -1 it is below.
        target_names: T names.
        classes: for classification the labels of each target; `targets` then holds their positions.
        weights: [num_rows], at least 0 (0 in skipped rows), or None where all rows count the same.
        features: [num_rows, K] numbers to be joined to the molecule, NaN only in skipped rows; K may be 0.
        feature_names: K names.
        skipped: reason by row number, for the rows that training must leave out.
        notes: what was decided, and warnings; one sentence each.
        task: "regression" or "classification".
        data_sha256: hash of the rows that are not skipped: molecules, targets, bounds, weights, features and
            classes; the same for the same data in another file format.
    """

    source: str
    columns: tuple[str, ...]
    rows: list[Row]
    targets: Floats
    bounds: npt.NDArray[np.int8]
    target_names: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...] | None
    weights: Floats | None
    features: Floats
    feature_names: tuple[str, ...]
    skipped: dict[int, str]
    notes: list[str]
    task: str
    data_sha256: str


def read_labelled(
    path: str | Path | Table,
    *,
    smiles_column: str | None = None,
    target_columns: Sequence[str] = (),
    task: str = "auto",
    weight_column: str | None = None,
    feature_columns: Sequence[str] = (),
    censored: bool = False,
    skip_bad_rows: bool = False,
    other_columns: Sequence[str] = (),
) -> LabelledTable:
    """Reads a table with targets; the file is opened as `open_table` says.

    Empty cells, NA, N/A, NaN, null and None (case does not count) are missing values: allowed in targets, not
    in weights and features. Without `target_columns` the only column that can be a target is taken, and said.
    Blank lines are always left out, and counted in the notes.

    Args:
        path: the file, or "-" for standard input; or a table already open, whose SMILES column is settled.
        smiles_column: the column of the SMILES; None finds it.
        target_columns: measured values, one or more columns.
        task: "auto" takes numbers 0 and 1 for two classes and any other numbers for regression; texts and
            more than two classes need "classification".
        weight_column: how much a row counts, at least 0.
        feature_columns: numbers beside the molecule, such as pH or temperature.
        censored: read `>3` and `<-2` as bounds (`>=`, `<=` alike; `=3` is 3); regression only.
        skip_bad_rows: leave rows with a bad value out, with the reason, instead of refusing the table.
        other_columns: columns that must be there (time, predefined split).

    Raises:
        InputError: everything `open_table` raises; no rows; no such column, or one named twice; a bad value
            (row, column and value are named); nothing but missing values; a single class; all weights 0.
    """
    if task not in TASKS:
        raise InputError(f"unknown task {shown(task)}; known: {', '.join(TASKS)}")
    if censored and task == "classification":
        raise InputError("censored values are for regression; classes have no bounds")
    roles = Roles.of(target_columns, weight_column, feature_columns, other_columns)
    if isinstance(path, Table):
        table = path
    else:
        table = open_table(path, smiles_column=smiles_column, named_columns=roles.named)
    rows = list(table.rows())
    if not rows:
        raise InputError(f"{table.source} holds a header but no rows")
    notes = list(table.notes)
    names = roles.targets
    if not names:
        target, note = find_target(table, rows, roles.named)
        names, roles = (target,), Roles((target,), roles.weight, roles.features, roles.others)
        notes.append(note)
    roles.check(table)

    reader = CellReader(table, rows, skip_bad_rows)
    weights = reader.weights(roles.weight) if roles.weight is not None else None
    features = reader.numbers(roles.features, "feature")
    targets, bounds, classes = _read_targets(reader, table.source, names, task, censored)
    if classes is not None and task == "auto":
        notes.append("All targets are 0 or 1: the task is classification (--task regression overrules).")
    dead = sorted(number - 1 for number in reader.skipped)
    features[dead] = np.nan
    if weights is not None:
        weights[dead] = 0.0
    notes += _remarks(table.source, names, targets, bounds, reader.skipped, classes)
    if weights is not None and not (weights[~np.isnan(targets).all(axis=1)] > 0).any():
        place = f"{table.source}, column {shown(str(roles.weight))}"
        raise InputError(f"{place}: all weights are 0 where there is a target")
    kept = np.setdiff1d(np.arange(len(rows)), dead)
    arrays = [targets, bounds.astype(np.float64), features, *([] if weights is None else [weights])]
    return LabelledTable(
        source=table.source,
        columns=table.columns,
        rows=rows,
        targets=targets,
        bounds=bounds,
        target_names=names,
        classes=classes,
        weights=weights,
        features=features,
        feature_names=roles.features,
        skipped=reader.skipped,
        notes=notes,
        task="regression" if classes is None else "classification",
        data_sha256=_digest(rows, kept, arrays, classes),
    )


def _read_targets(
    reader: CellReader, source: str, names: Sequence[str], task: str, censored: bool
) -> tuple[Floats, npt.NDArray[np.int8], tuple[tuple[str, ...], ...] | None]:
    """Targets and bounds `[num_rows, T]`, and the classes where the task is or becomes classification."""
    columns = [reader.texts(name) for name in names]
    if task != "classification":
        targets, bounds = reader.targets(names, censored)
        if task == "regression" or censored or not is_binary(targets):
            return targets, bounds, None
    targets, classes = encode_classes(source, names, columns, reader.skipped)
    return targets, np.zeros(targets.shape, dtype=np.int8), classes


def column_values(table: Table | LabelledTable, name: str) -> list[str]:
    """The cells of one column, a text for each row, as read.

    Raises:
        InputError: no such column.
    """
    if name not in table.columns:
        raise InputError(no_column(table.source, name, table.columns))
    at = table.columns.index(name)
    rows: Iterable[Row] = table.rows() if isinstance(table, Table) else table.rows
    return [row.cells[at] for row in rows]


def _remarks(
    source: str,
    names: Sequence[str],
    targets: Floats,
    bounds: npt.NDArray[np.int8],
    skipped: dict[int, str],
    classes: tuple[tuple[str, ...], ...] | None,
) -> list[str]:
    """What the user should know of the values. Raises `InputError` where a target has none."""
    notes = []
    known = ~np.isnan(targets)
    blank = sum(reason == BLANK for reason in skipped.values())
    if blank:
        notes.append(f"{counted(blank, 'blank line')} left out.")
    if bad := len(skipped) - blank:
        first = next(number for number in sorted(skipped) if skipped[number] != BLANK)
        notes.append(f"Warning: {counted(bad, 'row')} left out, the first is row {first} ({skipped[first]}).")
    empty = len(targets) - len(skipped) - int(known.any(axis=1).sum())
    if empty:
        notes.append(f"{counted(empty, 'row')} without any target value.")
    for at, name in enumerate(names):
        values = targets[known[:, at], at]
        if not values.size:
            raise InputError(f"{source}, column {shown(name)}: no value at all to learn from")
        if classes is not None:
            counts = np.bincount(values.astype(np.int64), minlength=len(classes[at]))
            parts = [f"{shown(label)} ({count:,})" for label, count in zip(classes[at], counts, strict=True)]
            more = f" and {len(parts) - 10} more" if len(parts) > 10 else ""
            notes.append(f"Classes of {shown(name)}: {', '.join(parts[:10])}{more}.")
        elif (values == values[0]).all():
            notes.append(f"Warning: the target {shown(name)} is {values[0]:g} in every row.")
        if bounded := int(np.count_nonzero(bounds[:, at])):
            notes.append(f"{bounded:,} of {counted(values.size, 'value')} of {shown(name)} are bounds.")
    return notes


def _digest(rows: Sequence[Row], kept: npt.NDArray[np.intp], arrays: Sequence[Floats], classes: object) -> str:
    """Hash of the kept rows, whatever the file format."""
    digest = hashlib.sha256(json.dumps([[len(kept), *[list(array.shape[1:]) for array in arrays]], classes]).encode())
    for at in kept:
        molecule = rows[at].molecule
        text = molecule.text if isinstance(molecule, MolBlock) else molecule.strip()
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    for array in arrays:
        digest.update(np.ascontiguousarray(array[kept], dtype="<f8").tobytes())
    return digest.hexdigest()
