"""Predictions for a table: one output row for every input row, the input's columns kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoregnn.errors import InputError
from scoregnn.graphs.tables import Row, Table
from scoregnn.molecules import MoleculeInput
from scoregnn.prediction.predictor import Prediction, Predictor, feature_values
from scoregnn.training.run_tables import predicted_cells, prediction_columns
from scoregnn.training.task import Task


@dataclass(frozen=True)
class PredictedRow:
    """One line of the output and whether its molecule was refused (the reason is its last cell)."""

    number: int
    cells: tuple[str, ...]
    reason: str


def output_columns(task: Task) -> tuple[str, ...]:
    """Columns added to the input: prediction (and probability), unit, status; by target where there are several."""
    names: list[str] = []
    for target in task.targets:
        prefix = f"{target}." if len(task.targets) > 1 else ""
        names += [f"{prefix}{cell}" for cell in (*prediction_columns(task), "unit")]
    return (*names, "status")


def kept_columns(columns: tuple[str, ...], task: Task) -> tuple[str, ...]:
    """The input's columns under their names; one that a result needs becomes `input.NAME`."""
    needed = set(output_columns(task))
    taken = needed | set(columns)
    kept: list[str] = []
    for name in columns:
        if name in needed:
            while name in taken:
                name = f"input.{name}"
            taken.add(name)
        kept.append(name)
    return tuple(kept)


def smiles_table(smiles: Sequence[str]) -> Table:
    """A table of one column, `smiles`, made of texts."""
    return Table(
        source="the command line",
        columns=("smiles",),
        smiles_column="smiles",
        notes=[],
        read=lambda: (((text,), text) for text in smiles),
    )


def predict_table(predictor: Predictor, table: Table) -> tuple[tuple[str, ...], Iterator[PredictedRow]]:
    """The header of the output, and its rows in the order of the input, made as they are asked for.

    Raises `InputError` when a feature column of the model is not in the table.
    """
    features = predictor.model.features
    missing = [name for name in features if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.source}: the model needs the feature column {missing[0]!r}; "
            f"columns here: {', '.join(table.columns)}"
        )
    places = [table.columns.index(name) for name in features]
    return kept_columns(table.columns, predictor.task) + output_columns(predictor.task), _rows(predictor, table, places)


def _rows(predictor: Predictor, table: Table, places: list[int]) -> Iterator[PredictedRow]:
    waiting: deque[Row] = deque()

    def inputs() -> Iterator[tuple[MoleculeInput, tuple[float, ...] | str]]:
        for row in table.rows():
            waiting.append(row)
            yield row.molecule, feature_values([row.cells[place] for place in places], predictor.model.features)

    for prediction in predictor.stream(inputs()):
        row = waiting.popleft()
        yield PredictedRow(row.number, row.cells + result_cells(predictor.task, prediction), prediction.reason)


def result_cells(task: Task, prediction: Prediction) -> tuple[str, ...]:
    """The cells under `output_columns(task)` for one prediction."""
    cells: list[str] = []
    for column, unit in enumerate(task.units):
        if prediction.reason:
            cells += [""] * len(prediction_columns(task)) + [unit]
        else:
            cells += [*predicted_cells(task, column, prediction.values[column]), unit]
    return (*cells, prediction.reason)
