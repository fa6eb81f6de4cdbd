"""How good a saved model is on labelled data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoregnn.errors import InputError
from scoregnn.graphs.tables import LabelledTable, open_table, read_labelled
from scoregnn.prediction.predictor import Predictor
from scoregnn.training.metrics import evaluate
from scoregnn.training.prepare import prepare
from scoregnn.training.run_folder import hash_keys


@dataclass(frozen=True)
class Evaluation:
    """metrics: as in metrics.json. used, seen: rows scored, and those whose molecule the model was trained on."""

    metrics: dict[str, Any]
    used: int
    seen: int
    notes: tuple[str, ...]


def read_for_model(
    predictor: Predictor,
    path: str,
    *,
    smiles_column: str | None = None,
    target_columns: Sequence[str] = (),
    censored: bool = False,
    skip_bad_rows: bool = False,
) -> LabelledTable:
    """A labelled table read as the model was trained: its task, its feature columns, its targets where they are named.

    target_columns: as many as the model has targets, in their order; left out, the columns of the targets' names are
    taken if they are all there, otherwise, for a single number, what the table's reader finds.
    """
    task = predictor.task
    table = open_table(path, smiles_column=smiles_column, named_columns=(*target_columns, *predictor.model.features))
    if not target_columns and set(task.targets) <= set(table.columns):
        target_columns = task.targets
    elif not target_columns and (task.kind == "classification" or len(task.targets) > 1):
        raise InputError(
            f"{table.source}: the model predicts {', '.join(task.targets)} by {task.kind}; there is no column of that "
            "name; name those to compare with by --target-column, in this order"
        )
    return read_labelled(
        table,
        target_columns=target_columns,
        task=task.kind,
        feature_columns=predictor.model.features,
        censored=censored,
        skip_bad_rows=skip_bad_rows,
    )


def evaluate_table(predictor: Predictor, table: LabelledTable) -> Evaluation:
    """Metrics of the model on the valid rows of `table`, whose targets and feature columns must be the model's.

    Raises `InputError` when classes, targets or feature columns do not fit.
    """
    model = predictor.model
    task = model.task
    if table.task != task.kind or len(table.target_names) != len(task.targets):
        raise InputError(
            f"{table.source}: the model predicts {len(task.targets)} targets by {task.kind} "
            f"({', '.join(task.targets)}); "
            f"the table gives {', '.join(table.target_names)} for {table.task}; name the columns with --target-column"
        )
    if table.feature_names != model.features:
        raise InputError(f"{table.source}: the model needs the feature columns {', '.join(model.features)}")
    prepared = prepare(table, model.config, time_limit=predictor.time_limit, workers=predictor.workers)
    targets = prepared.data.targets.numpy()
    if task.kind == "classification":
        targets = _recode(targets, table, task.classes)
    predicted = model.predict(prepared.data.store, prepared.data.features)
    known = set(model.training_keys.tolist())
    seen = sum(1 for key in prepared.keys if hash_keys([key]).item() in known)
    return Evaluation(
        metrics=evaluate(task, targets, prepared.data.bounds.numpy(), predicted),
        used=len(prepared.rows),
        seen=seen,
        notes=tuple(prepared.notes),
    )


def _recode(targets: np.ndarray, table: LabelledTable, classes: Sequence[Sequence[str]]) -> np.ndarray:
    """Class codes of the table as codes of the model."""
    recoded = np.full_like(targets, np.nan)
    for column, (given, known) in enumerate(zip(table.classes or (), classes, strict=True)):
        for code, label in enumerate(given):
            if label not in known:
                raise InputError(
                    f"{table.source}: {table.target_names[column]!r} holds the class {label!r}; "
                    f"the model knows {', '.join(known)}"
                )
            recoded[targets[:, column] == code, column] = known.index(label)
    return recoded
