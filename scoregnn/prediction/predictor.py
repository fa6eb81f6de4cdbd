"""A saved model at work: one molecule, a list, or a stream that never ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.graphs.store import MoleculeStore
from scoregnn.graphs.tables.values import CellError, is_missing, parse_number
from scoregnn.molecules import FeaturizeOptions, Featurizer, MolBlock, Molecule, MoleculeInput, Refusal
from scoregnn.training.model import Model
from scoregnn.training.run_folder import load_model
from scoregnn.training.task import Task

CHUNK = 512


@dataclass(frozen=True)
class Prediction:
    """What the model says of one molecule.

    values: one entry a target, a number in the target's unit (regression) or the probabilities of the classes
    [num_classes]; empty when the molecule was refused. reason: why it was refused, "" otherwise.
    """

    values: tuple[np.ndarray, ...]
    reason: str = ""


class Predictor:
    """Predicts from SMILES (or SDF records, or binary RDKit molecules) with a trained model.

    model: from `Predictor.load(folder)` or a fresh fit. time_limit: seconds for reading one molecule.
    steps: iterations instead of those of the training (refused where their number is built in). tolerance: stop a
    molecule's iterations when no component of its state moves by as much; then `steps` is the most there are.
    Molecules are read in worker processes, so that one which RDKit cannot digest costs only itself; they stay for the
    next call, until `close` or the end of this object.
    """

    def __init__(
        self,
        model: Model,
        *,
        time_limit: float = 20.0,
        workers: int | None = None,
        steps: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        self.model = model
        self.time_limit = time_limit
        self.workers = workers
        options = FeaturizeOptions(standardize=self.config.standardize, descriptors=self.config.descriptors)
        self._featurizer = Featurizer(options, time_limit=time_limit, workers=workers)
        if steps is not None:
            for network in model.networks:
                network.set_steps(steps)
        if tolerance is not None:
            model.settle_within(tolerance)

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        time_limit: float = 20.0,
        workers: int | None = None,
        device: torch.device | str = "cpu",
        steps: int | None = None,
        tolerance: float | None = None,
    ) -> Predictor:
        """The model of a run folder; raises `RunFolderError` if it cannot be used."""
        model = load_model(folder).to(device)
        return cls(model, time_limit=time_limit, workers=workers, steps=steps, tolerance=tolerance)

    def close(self) -> None:
        """Ends the worker processes; nothing can be predicted afterwards."""
        self._featurizer.close()

    @property
    def task(self) -> Task:
        return self.model.task

    @property
    def config(self) -> Config:
        return self.model.config

    def predict(
        self, molecules: Sequence[MoleculeInput], features: Sequence[Sequence[float]] | np.ndarray | None = None
    ) -> list[Prediction]:
        """One prediction for each molecule, in order.

        features: [n, num_features], needed when the model was trained with feature columns; a row with a value that
        is not finite is refused. Raises `InputError` when their number is not that of the molecules or of the model.
        """
        if isinstance(molecules, str | bytes | MolBlock):
            raise InputError("a sequence of molecules is needed, not a single one: put it into a list")
        rows = [()] * len(molecules) if features is None else features
        if len(rows) != len(molecules):
            raise InputError(f"features have {len(rows)} rows for {len(molecules)} molecules")
        return list(self.stream(zip(molecules, rows, strict=True)))

    def stream(self, rows: Iterable[tuple[MoleculeInput, Sequence[float] | str]]) -> Iterator[Prediction]:
        """Predictions as the rows come, in order; only a few chunks are held at a time.

        rows: pairs of a molecule and the values of its feature columns; a text instead of values is the reason why
        they cannot be used, and comes back as the refusal of that row.
        """
        waiting: deque[Sequence[float] | str] = deque()

        def molecules() -> Iterator[MoleculeInput]:
            for molecule, values in rows:
                waiting.append(values)
                yield molecule

        read = self._featurizer.map(molecules())
        while chunk := list(islice(read, CHUNK)):
            yield from self._predict_chunk(chunk, [waiting.popleft() for _ in chunk])

    def _predict_chunk(
        self, molecules: Sequence[Molecule | Refusal], features: list[Sequence[float] | str]
    ) -> list[Prediction]:
        results = [
            Prediction((), _refusal(molecule, values)) for molecule, values in zip(molecules, features, strict=True)
        ]
        good = [place for place, result in enumerate(results) if not result.reason]
        if not good:
            return results
        store = MoleculeStore.from_molecules([m for place in good if isinstance(m := molecules[place], Molecule)])
        joined = torch.from_numpy(np.array([features[place] for place in good], dtype=np.float64))
        columns = self.model.predict(store, joined)
        for row, place in enumerate(good):
            values = tuple(column[row] for column in columns)
            finite = all(np.isfinite(value).all() for value in values)
            results[place] = Prediction(values) if finite else Prediction((), "the model gives no finite number for it")
        return results


def _refusal(molecule: Molecule | Refusal, features: Sequence[float] | str) -> str:
    if isinstance(molecule, Refusal):
        return molecule.reason
    if isinstance(features, str):
        return features
    return "" if np.isfinite(features).all() else "the value of a feature column is not finite"


def feature_values(cells: Sequence[str], names: Sequence[str]) -> tuple[float, ...] | str:
    """Numbers from the cells of the feature columns `names`, read as in training, or why they cannot be used."""
    values = []
    for cell, name in zip(cells, names, strict=True):
        if is_missing(cell):
            return f"feature column {name!r} is empty"
        try:
            values.append(parse_number(cell))
        except CellError as error:
            return f"feature column {name!r}: {error}"
    return tuple(values)
