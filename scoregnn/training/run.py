"""A whole run: table in, run folder out; what `scoregnn train` calls."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from scoregnn.config import Config
from scoregnn.errors import InputError, RunFolderError
from scoregnn.files import write_atomically
from scoregnn.graphs.split_files import load_split, save_split
from scoregnn.graphs.splits import SPLIT_KINDS, Split
from scoregnn.graphs.tables import LabelledTable
from scoregnn.training.checkpoint import EpochRecord
from scoregnn.training.loop import DivergedError
from scoregnn.training.metrics import evaluate
from scoregnn.training.model import Model, check_training_rows, fit_model, keeps_head, usable_device
from scoregnn.training.plots import parity_png
from scoregnn.training.prepare import PreparedTable, SplitRequest, prepare, split_rows
from scoregnn.training.record import RECORD, check_folder, describe_run
from scoregnn.training.run_folder import (
    check_file,
    hash_keys,
    load_model,
    locked,
    read_description,
    read_json,
    save_model,
    write_json,
)
from scoregnn.training.run_tables import history_csv, predictions_csv

CHECKPOINTS = "checkpoints"


@dataclass(frozen=True)
class RunRequest:
    """What a run is asked to do, apart from the data and the place.

    refit: train once more on all rows after the evaluation; that model is the one kept. start: folder of a model to
    fine-tune; freeze: train only its readout and head. units: of the targets. time_limit: seconds for a molecule.
    """

    config: Config
    split: SplitRequest = field(default_factory=SplitRequest)
    refit: bool = False
    start: str | None = None
    freeze: bool = False
    units: tuple[str, ...] = ()
    time_limit: float = 20.0

    def __post_init__(self) -> None:
        if self.freeze and self.start is None:
            raise InputError("--freeze needs --from DIR: there is nothing to freeze in a new model")


class Reporter(Protocol):
    """Hears what a run decides and how far it is."""

    def note(self, text: str) -> None: ...

    def stage(self, name: str, networks: int, epochs: int) -> None: ...

    def epoch(self, network: int, record: EpochRecord) -> None: ...


@dataclass(frozen=True)
class RunSummary:
    """What a finished run found. metrics: as in metrics.json. parts: rows of each part. seconds: of training."""

    folder: Path
    config: Config
    metrics: Mapping[str, Any]
    parts: Mapping[str, int]
    num_parameters: int
    seconds: float
    refit: bool


def run_training(
    table: LabelledTable,
    request: RunRequest,
    folder: Path,
    *,
    source: Mapping[str, Any],
    resume: bool = False,
    reporter: Reporter,
    device: torch.device | str = "cpu",
) -> RunSummary:
    """Trains and evaluates on `table`, leaving everything in `folder`.

    source: where the table comes from and how it was read, kept in `run.json`. With `resume` a broken run in `folder`
    goes on from its last epoch and ends with the same numbers; a finished one is only reported.
    Raises `RunFolderError` when the folder is in use, holds another run, or a run and `resume` is not given.
    """
    start = load_model(request.start) if request.start is not None else None
    device = usable_device(device)
    with locked(folder):
        record = describe_run(dataclasses.asdict(request), table.data_sha256, source)
        begun = check_folder(folder, record, resume, reporter.note)
        if (folder / "model.json").exists():
            shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
            reporter.note(f"the run in {folder} is finished; these are its results")
            return summarize(folder)
        prepared = prepare(
            table,
            request.config,
            split_kind=request.split.kind,
            units=request.units if start is None or request.units else _units_of(start, table.target_names),
            time_limit=request.time_limit,
        )
        for note in prepared.notes:
            reporter.note(note)
        split = split_rows(prepared, request.split)
        check_training_rows(prepared.data, torch.from_numpy(split.train))
        _check_classes(prepared, split)
        if start is not None:
            _check_start(prepared, split, start, request.config, reporter)
        # Only now, so that a mistake in the request leaves the folder free for its correction.
        if not begun:
            write_json(folder / RECORD, record)
        _keep_split(folder, prepared, split, request.split)
        _train_and_write(folder, prepared, split, request, start, reporter, device)
        return summarize(folder)


def summarize(folder: Path) -> RunSummary:
    """What the files of a finished run say; `RunFolderError` where one of them is damaged."""
    model = read_description(folder)
    check_file(folder / "model.safetensors", model.get("weights_sha256"))
    metrics = json.loads(check_file(folder / "metrics.json", model["data"]["metrics_sha256"]))
    return RunSummary(
        folder=folder,
        config=Config.from_dict(model["config"]),
        metrics=metrics,
        parts=model["data"]["parts"],
        num_parameters=model["num_parameters"],
        seconds=model["data"]["seconds"],
        refit=model["data"]["refit"],
    )


def _train_and_write(
    folder: Path,
    prepared: PreparedTable,
    split: Split,
    request: RunRequest,
    start: Model | None,
    reporter: Reporter,
    device: torch.device | str,
) -> None:
    config, table = request.config, prepared.table
    checkpoints = folder / CHECKPOINTS

    def fit_stage(name: str, train: np.ndarray, validation: np.ndarray, stop_epochs: list[int] | None) -> Model:
        (checkpoints / name).mkdir(parents=True, exist_ok=True)
        reporter.stage(name, config.ensemble, config.epochs)
        return fit_model(
            prepared.data,
            train,
            validation,
            config,
            prepared.task,
            feature_names=table.feature_names,
            start=start,
            freeze=request.freeze,
            stop_epochs=stop_epochs,
            checkpoints=checkpoints / name,
            on_epoch=reporter.epoch,
            device=device,
        )

    model = fit_stage("evaluation", split.train, split.validation, None)
    predicted = model.predict(prepared.data.store, prepared.data.features)
    if not all(np.isfinite(column).all() for column in predicted):
        raise DivergedError("the trained network gives no finite numbers; try a lower learning rate or a smaller dt")
    targets, bounds = prepared.data.targets.numpy(), prepared.data.bounds.numpy()
    metrics = {
        part: evaluate(prepared.task, targets[rows], bounds[rows], [column[rows] for column in predicted])
        for part, rows in split.parts.items()
        if len(rows)
    }
    evaluated, fitted = model, split.train
    if request.refit:
        fitted = np.concatenate([split.train, split.validation, split.test])
        model = fit_stage("refit", fitted, np.empty(0, dtype=np.int64), [p.best_epoch for p in evaluated.progress])
    keys = hash_keys([prepared.keys[row] for row in fitted])
    model.training_keys = keys if start is None else torch.unique(torch.cat([keys, start.training_keys]))

    write_json(folder / "metrics.json", metrics)
    write_atomically(folder / "history.csv", history_csv(evaluated.progress))
    write_atomically(folder / "predictions.csv", predictions_csv(prepared, split, predicted))
    parts = {name: rows for name, rows in split.parts.items() if len(rows)}
    write_atomically(folder / "parity.png", parity_png(prepared.task, targets, bounds, predicted, parts))
    fits = [evaluated, model] if request.refit else [model]
    seconds = sum(record.seconds for fit in fits for progress in fit.progress for record in progress.history)
    save_model(
        folder,
        model,
        data={
            "source": read_json(folder / RECORD)["source"],
            "sha256": table.data_sha256,
            "rows": len(table.rows),
            "used": len(prepared.rows),
            "parts": {name: len(rows) for name, rows in split.parts.items()},
            "split": dataclasses.asdict(request.split),
            "metrics_sha256": hashlib.sha256((folder / "metrics.json").read_bytes()).hexdigest(),
            "refit": request.refit,
            "start": request.start,
            "seconds": round(seconds, 3),
        },
    )
    shutil.rmtree(checkpoints, ignore_errors=True)


def _keep_split(folder: Path, prepared: PreparedTable, split: Split, request: SplitRequest) -> None:
    """Writes `splits.json`; a run that is resumed must have the parts it was begun with."""
    table, path = prepared.table, folder / "splits.json"
    if path.exists():
        try:
            begun = load_split(path, num_rows=len(table.rows), data_sha256=table.data_sha256, rows=prepared.row_numbers)
        except InputError as error:
            raise RunFolderError(f"{error}; or choose another --output") from None
        if any(not np.array_equal(begun.parts[name], rows) for name, rows in split.parts.items()):
            raise RunFolderError(
                f"the split now differs from {path}, with which the run was begun (another RDKit, another split file); "
                f"restore it or choose another --output"
            )
        return
    save_split(
        path,
        split,
        kind=request.kind if request.kind in SPLIT_KINDS else "saved",
        seed=request.seed,
        data_sha256=table.data_sha256,
        num_rows=len(table.rows),
        rows=prepared.row_numbers,
    )


def _units_of(start: Model, targets: Sequence[str]) -> tuple[str, ...]:
    """Units of the targets that the model to fine-tune has under the same name; "" for the others."""
    known = dict(zip(start.task.targets, start.task.units, strict=True))
    return tuple(known.get(name, "") for name in targets)


def _check_classes(prepared: PreparedTable, split: Split) -> None:
    if prepared.task.kind != "classification":
        return
    codes = prepared.data.targets.numpy()[split.train]
    for column, name in enumerate(prepared.task.targets):
        seen = np.unique(codes[np.isfinite(codes[:, column]), column])
        if len(seen) < 2:
            raise InputError(
                f"the training part has one class only for {name!r}; a classifier needs two; try another split or seed"
            )


def _check_start(prepared: PreparedTable, split: Split, start: Model, config: Config, reporter: Reporter) -> None:
    """A model to fine-tune must fit, and what it has already seen is no test."""
    if start.task.kind != prepared.task.kind:
        raise InputError(f"the model to fine-tune is for {start.task.kind}, the data are for {prepared.task.kind}")
    for name in Config.architecture:
        has, wanted = getattr(start.config, name), getattr(config, name)
        if has != wanted:
            raise InputError(f"the model to fine-tune has {name} {has}, which cannot become {wanted}")
    if not keeps_head(start, prepared.task, prepared.table.feature_names):
        reporter.note(
            "the head begins with fresh weights: targets or feature columns are not those of the model to fine-tune"
        )
    seen = set(start.training_keys.tolist())
    known = sum(1 for row in split.test if hash_keys([prepared.keys[row]]).item() in seen)
    if known:
        reporter.note(
            f"warning: {known} of {len(split.test)} test molecules are known to the model that is fine-tuned; "
            "the test error is too good"
        )
