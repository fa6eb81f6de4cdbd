"""The molecules a diagnosis looks at: a labelled table, or the test part of the run that made the model."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scoregnn.errors import InputError, RunFolderError
from scoregnn.graphs.store import MoleculeStore
from scoregnn.molecules import FeaturizeOptions, Featurizer, Molecule
from scoregnn.prediction.evaluation import read_for_model
from scoregnn.prediction.predictor import Predictor
from scoregnn.training.prepare import prepare

Molecules = tuple[MoleculeStore, np.ndarray | None, Tensor]
"""Graphs, values of the first target [n] (None where they are not known), the model's feature columns."""


def labelled_molecules(
    predictor: Predictor, path: str, smiles_column: str | None, target_columns: tuple[str, ...]
) -> Molecules:
    """The valid rows of a labelled table."""
    table = read_for_model(predictor, path, smiles_column=smiles_column, target_columns=target_columns)
    prepared = prepare(table, predictor.config, time_limit=predictor.time_limit, workers=predictor.workers)
    return prepared.data.store, prepared.data.targets[:, 0].numpy(), prepared.data.features


def run_molecules(predictor: Predictor, folder: Path) -> Molecules:
    """The test part in the run folder's `predictions.csv` (where there is none, the validation part).

    Raises `RunFolderError` where the file is missing, and `InputError` for a model with feature columns, whose values
    that file does not hold.
    """
    if predictor.model.features:
        raise InputError("this model needs feature columns; name a table that has them with --data")
    path = folder / "predictions.csv"
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read ({error.strerror}); name a table with --data") from None
    name = "measured" if len(predictor.task.targets) == 1 else f"{predictor.task.targets[0]}.measured"
    parts = {part: [row for row in rows if row.get("part") == part] for part in ("test", "validation")}
    chosen = parts["test"] or parts["validation"]
    if not chosen or name not in chosen[0]:
        raise RunFolderError(f"{path} holds no test part; name a table with --data")
    options = FeaturizeOptions(standardize=predictor.config.standardize, descriptors=predictor.config.descriptors)
    with Featurizer(options, time_limit=predictor.time_limit, workers=predictor.workers) as featurizer:
        read = list(featurizer.map(row["smiles"] for row in chosen))
    pairs = [
        (molecule, row[name]) for molecule, row in zip(read, chosen, strict=True) if isinstance(molecule, Molecule)
    ]
    values = np.array([_value(predictor, cell) for _, cell in pairs])
    store = MoleculeStore.from_molecules([molecule for molecule, _ in pairs])
    return store, values, torch.empty(len(store), 0, dtype=torch.float64)


def _value(predictor: Predictor, cell: str) -> float:
    """A label of `predictions.csv`; a missing one and a bound are NaN."""
    if predictor.task.kind == "classification":
        classes = predictor.task.classes[0]
        return float(classes.index(cell)) if cell in classes else np.nan
    try:
        return float(cell)
    except ValueError:
        return np.nan
