"""The two tables of a run folder: every row with its part and prediction, and the course of the training."""

from __future__ import annotations

import csv
import dataclasses
import io

import numpy as np

from scoregnn.graphs.splits import Split
from scoregnn.training.checkpoint import EpochRecord, Progress
from scoregnn.training.prepare import PreparedTable
from scoregnn.training.task import Task

_BOUND_SIGNS = {0: "", 1: ">", -1: "<"}


def predictions_csv(prepared: PreparedTable, split: Split, predicted: list[np.ndarray]) -> str:
    """Every row of the table, in order: row, smiles, part, then measured and predicted for each target, and status.

    predicted: for each target values [n] or probabilities [n, num_classes] of the usable rows; with more than two
    classes each probability has a column. A row that was not used has no part and its reason in `status`. Numbers are
    written in full, so that every metric can be computed from them.
    """
    task, table = prepared.task, prepared.table
    position = {int(row): place for place, row in enumerate(prepared.rows)}
    parts = split.labels(len(prepared.rows))
    lines: list[list[str]] = []
    for row, read in enumerate(table.rows):
        drawn = read.molecule if isinstance(read.molecule, str) else ""
        place = position.get(row)
        if place is None:
            lines.append([str(row + 1), drawn, "", *[""] * _width(task), prepared.refused[row]])
            continue
        values: list[str] = []
        for column in range(len(task.targets)):
            values.append(_label(task, prepared, place, column))
            values += _full_cells(task, column, predicted[column][place])
        status = "" if parts[place] else "in no part of the split"
        lines.append([str(row + 1), drawn or prepared.smiles[place], parts[place], *values, status])
    header = ["row", "smiles", "part"]
    for column, name in enumerate(task.targets):
        prefix = f"{name}." if len(task.targets) > 1 else ""
        header += [f"{prefix}{cell}" for cell in ("measured", *_full_columns(task, column))]
    return _text([*header, "status"], lines)


def history_csv(progress: list[Progress]) -> str:
    """One line for each epoch of each network."""
    fields = [field.name for field in dataclasses.fields(EpochRecord)]
    lines = [
        [str(member), *["" if (value := getattr(record, name)) is None else repr(value) for name in fields]]
        for member, part in enumerate(progress)
        for record in part.history
    ]
    return _text(["network", *fields], lines)


def prediction_columns(task: Task) -> tuple[str, ...]:
    """Names of the cells that a prediction of one target fills."""
    return ("prediction",) if task.kind == "regression" else ("prediction", "probability")


def predicted_cells(task: Task, column: int, value: np.ndarray) -> list[str]:
    """The prediction of one target as text: the number, or the most probable label and its probability."""
    if task.kind == "regression":
        return [f"{float(value):.6g}"]
    best = int(value.argmax())
    return [task.classes[column][best], f"{float(value[best]):.6g}"]


def _label(task: Task, prepared: PreparedTable, place: int, column: int) -> str:
    target = float(prepared.data.targets[place, column])
    if np.isnan(target):
        return ""
    if task.kind == "classification":
        return task.classes[column][int(target)]
    return f"{_BOUND_SIGNS[int(prepared.data.bounds[place, column])]}{target!r}"


def _width(task: Task) -> int:
    return sum(1 + len(_full_columns(task, column)) for column in range(len(task.targets)))


def _full_columns(task: Task, column: int) -> tuple[str, ...]:
    names = prediction_columns(task)
    if task.kind == "classification" and len(labels := task.classes[column]) > 2:
        names += tuple(f"probability of {label}" for label in labels)
    return names


def _full_cells(task: Task, column: int, value: np.ndarray) -> list[str]:
    """The cells under `_full_columns`."""
    if task.kind == "regression":
        return [repr(float(value))]
    best = int(value.argmax())
    every = [repr(float(share)) for share in value] if len(value) > 2 else []
    return [task.classes[column][best], repr(float(value[best])), *every]


def _text(header: list[str], lines: list[list[str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return buffer.getvalue()
