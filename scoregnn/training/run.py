"""A whole run: table in, run folder out; what `scoregnn train` calls."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from scoregnn.config import Config
from scoregnn.errors import InputError, RunFolderError
from scoregnn.files import write_atomically
from scoregnn.graphs.split_files import save_split
from scoregnn.graphs.splits import SPLIT_KINDS, Split
from scoregnn.graphs.tables import LabelledTable
from scoregnn.training.checkpoint import EpochRecord
from scoregnn.training.metrics import evaluate
from scoregnn.training.model import Model, fit_model
from scoregnn.training.plots import parity_png
from scoregnn.training.prepare import PreparedTable, SplitRequest, prepare, split_rows
from scoregnn.training.run_folder import (
    hash_keys,
    load_model,
    locked,
    package_versions,
    read_json,
    save_model,
    write_json,
)
from scoregnn.training.run_tables import history_csv, predictions_csv

RUN_FORMAT = 1


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
    with locked(folder):
        _open_folder(folder, request, table, source, resume, reporter)
        if (folder / "model.json").exists():
            reporter.note(f"the run in {folder} is finished; these are its results")
            return summarize(folder)
        prepared = prepare(
            table,
            request.config,
            split_kind=request.split.kind,
            units=start.task.units if start and not request.units else request.units,
            time_limit=request.time_limit,
        )
        for note in prepared.notes:
            reporter.note(note)
        split = split_rows(prepared, request.split)
        _check_classes(prepared, split)
        _check_start(prepared, split, start, reporter)
        save_split(
            folder / "splits.json",
            split,
            kind=request.split.kind if request.split.kind in SPLIT_KINDS else "saved",
            seed=request.split.seed,
            data_sha256=table.data_sha256,
            num_rows=len(table.rows),
            rows=prepared.row_numbers,
        )
        _train_and_write(folder, prepared, split, request, start, reporter, device)
        return summarize(folder)


def summarize(folder: Path) -> RunSummary:
    """What the files of a finished run say."""
    model, metrics = read_json(folder / "model.json"), read_json(folder / "metrics.json")
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
    checkpoints = folder / "checkpoints"

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
            "source": read_json(folder / "run.json")["source"],
            "sha256": table.data_sha256,
            "rows": len(table.rows),
            "used": len(prepared.rows),
            "parts": {name: len(rows) for name, rows in split.parts.items()},
            "split": dataclasses.asdict(request.split),
            "refit": request.refit,
            "start": request.start,
            "seconds": round(seconds, 3),
        },
    )
    shutil.rmtree(checkpoints, ignore_errors=True)


def _open_folder(
    folder: Path,
    request: RunRequest,
    table: LabelledTable,
    source: Mapping[str, Any],
    resume: bool,
    reporter: Reporter,
) -> None:
    """Claims an empty folder for this run, or checks that the run in it is this one."""
    described = {
        "format_version": RUN_FORMAT,
        "source": dict(source),
        "data_sha256": table.data_sha256,
        "request": _plain(dataclasses.asdict(request)),
    }
    stored_path = folder / "run.json"
    if not stored_path.exists():
        others = [path.name for path in folder.iterdir() if path.name != ".lock"]
        if others:
            raise RunFolderError(f"{folder} is not empty (it holds {others[0]}) and no run; choose another --output")
        if resume:
            reporter.note(f"there is no run in {folder} to resume; a new one begins")
        write_json(stored_path, described | {"versions": package_versions()})
        return
    if not resume:
        raise RunFolderError(f"{folder} already holds a run; go on with --resume or choose another --output")
    stored = read_json(stored_path)
    if stored.get("data_sha256") != table.data_sha256:
        raise RunFolderError(f"the data are not those of the run in {folder}; restore them or choose another --output")
    changed = _changes(stored.get("request"), described["request"])
    if changed:
        raise RunFolderError(
            f"the run in {folder} was begun with other settings ({changed}); repeat those or choose another --output"
        )
    versions = {name: v for name, v in package_versions().items() if stored.get("versions", {}).get(name) != v}
    if versions:
        now = ", ".join(f"{name} {version}" for name, version in versions.items())
        reporter.note(
            f"the run was begun with other versions (now {now}); its numbers may differ from an unbroken run's"
        )


def _plain(value: Any) -> Any:
    """As it comes back from JSON: tuples become lists."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _changes(stored: Any, asked: dict[str, Any], prefix: str = "") -> str:
    if not isinstance(stored, dict):
        return "unreadable"
    found = []
    for key in sorted({*stored, *asked}):
        before, now = stored.get(key), asked.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            found += [part] if (part := _changes(before, now, f"{key}.")) else []
        elif before != now:
            found.append(f"{prefix}{key}: {before} then, {now} now")
    return ", ".join(found)


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


def _check_start(prepared: PreparedTable, split: Split, start: Model | None, reporter: Reporter) -> None:
    """A model to fine-tune must fit, and what it has already seen is no test."""
    if start is None:
        return
    if start.task.kind != prepared.task.kind:
        raise InputError(f"the model to fine-tune is for {start.task.kind}, the data are for {prepared.task.kind}")
    seen = set(start.training_keys.tolist())
    known = sum(1 for row in split.test if hash_keys([prepared.keys[row]]).item() in seen)
    if known:
        reporter.note(
            f"warning: {known} of {len(split.test)} test molecules are known to the model that is fine-tuned; "
            "the test error is too good"
        )
