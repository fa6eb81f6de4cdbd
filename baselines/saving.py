"""A fitted baseline in a folder: `baseline.json`, and the models in formats that hold data only."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scoregnn.baselines.base import Baseline, FittedTarget
from scoregnn.baselines.columns import scaler_numbers, scaler_of_numbers
from scoregnn.baselines.features import column_names
from scoregnn.baselines.registry import HOMES, class_named
from scoregnn.errors import InputError, RunFolderError
from scoregnn.files import write_atomically
from scoregnn.training.labels import Targets
from scoregnn.training.record import RECORD
from scoregnn.training.run_folder import locked, package_versions, read_json, write_json
from scoregnn.training.task import Task

DESCRIPTION = "baseline.json"
FORMAT = "scoregnn-baseline"
FORMAT_VERSION = 1
_LIBRARIES = ("xgboost-cpu", "xgboost", "lightgbm", "skops")


def save_baseline(model: Baseline, folder: Path) -> None:
    """Writes the files of the models, then `baseline.json`, which names their checksums and so completes the folder."""
    files = model._dump([fitted.core for fitted in model._models])
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "class": type(model).__name__,
        "parameters": _plain(model),
        "seed": model.seed_,
        "feature_kind": model.feature_kind,
        "columns": list(column_names(model.feature_kind)),
        "num_features": model.num_features_,
        "task": model.targets_.task.to_dict(),
        "has_columns": model.targets_.has_columns,
        "classes": [{"type": labels.dtype.str, "labels": labels.tolist()} for labels in model.targets_.classes],
        "targets": [
            {
                "codes": list(fitted.codes),
                "scaler": None if fitted.scaler is None else scaler_numbers(fitted.scaler),
            }
            for fitted in model._models
        ],
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        "versions": package_versions() | _library_versions(),
    }
    with locked(folder):
        if (folder / RECORD).exists() or (folder / "model.json").exists():
            raise RunFolderError(f"{folder} holds a network; save the baseline elsewhere")
        before = _files_of(folder)
        for name, data in files.items():
            write_atomically(folder / name, data)
        write_json(folder / DESCRIPTION, content)
        for name in before - set(files):
            (folder / name).unlink(missing_ok=True)


def load_baseline(folder: Path | str) -> Baseline:
    """The fitted baseline that `save` wrote; its predictions are the same to the last bit.

    Raises `RunFolderError` for a folder that is missing, damaged, of another program or of a newer format, that needs
    the descriptors of another RDKit, or whose models hold anything but the types such a model consists of.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise RunFolderError(f"no folder {folder} with a baseline")
    if not (folder / DESCRIPTION).exists():
        hint = "; it holds a network: use `Predictor.load`" if (folder / "model.json").exists() else ""
        raise RunFolderError(f"{folder} holds no baseline (no {DESCRIPTION}){hint}")
    content = read_json(folder / DESCRIPTION)
    if content.get("format") != FORMAT:
        raise RunFolderError(f"{folder / DESCRIPTION} is no baseline of this program")
    version = content.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise RunFolderError(
            f"the baseline in {folder} has format {version}, newer than this program's {FORMAT_VERSION};"
            " update scoregnn"
        )
    try:
        return _assembled(folder, content)
    except RunFolderError as error:
        raise RunFolderError(f"the baseline in {folder} cannot be used: {error}") from None
    except KeyError as error:
        raise RunFolderError(f"the baseline in {folder} is damaged: {error} is missing or unknown") from None
    except Exception as error:  # readers of other libraries raise whatever they like
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise RunFolderError(f"the baseline in {folder} is damaged: {lines[0]}") from None


def _assembled(folder: Path, content: Mapping[str, Any]) -> Baseline:
    if content["class"] not in HOMES:
        raise RunFolderError(f"unknown class {content['class']!r:.60}")
    model = class_named(content["class"])(**content["parameters"])
    try:
        model._check()
    except InputError as error:
        raise RunFolderError(str(error)) from None
    if content["columns"] != list(column_names(model.feature_kind)):
        made = content["versions"].get("rdkit", "?")
        raise RunFolderError(
            f"it needs the descriptors of RDKit {made}; this RDKit computes others: install that release or fit anew"
        )
    task = Task.from_dict(content["task"])
    classes = tuple(np.array(entry["labels"], dtype=np.dtype(entry["type"])) for entry in content["classes"])
    if model._is_classifier != (task.kind == "classification") or len(classes) != len(task.classes):
        raise ValueError("its task does not fit its class")
    entries = content["targets"]
    if len(entries) != len(task.targets):
        raise ValueError(f"it lists {len(entries)} models for {len(task.targets)} targets")
    width = len(content["columns"]) + int(content["num_features"])
    fitted = [
        FittedTarget(core, _scaler(entry["scaler"], width), tuple(int(code) for code in entry["codes"]))
        for core, entry in zip(model._load(_read(folder, content["files"]), len(entries)), entries, strict=True)
    ]
    model._set_fitted(
        fitted, Targets(task, bool(content["has_columns"]), classes), int(content["num_features"]), int(content["seed"])
    )
    return model


def _read(folder: Path, checksums: Mapping[str, str]) -> dict[str, bytes]:
    files = {}
    for name, checksum in checksums.items():
        if Path(name).name != name:
            raise RunFolderError(f"{name!r:.60} is no name of a file in it")
        try:
            files[name] = (folder / name).read_bytes()
        except OSError as error:
            raise RunFolderError(f"{name} cannot be read: {error.strerror or error}") from None
        if hashlib.sha256(files[name]).hexdigest() != checksum:
            raise RunFolderError(f"{name} is damaged: its checksum is not the one that {DESCRIPTION} names")
    return files


def _scaler(numbers: dict[str, list[float]] | None, width: int) -> Any:
    if numbers is None:
        return None
    scaler = scaler_of_numbers(numbers)
    if len(scaler.mean) != width:
        raise ValueError(f"its scaler has {len(scaler.mean)} columns, not {width}")
    return scaler


def _files_of(folder: Path) -> set[str]:
    """Names of the model files of a baseline that is in the folder already."""
    try:
        files = read_json(folder / DESCRIPTION)["files"]
        return {name for name in files if Path(name).name == name}
    except (RunFolderError, KeyError, TypeError):
        return set()


def _library_versions() -> dict[str, str]:
    versions = {}
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def _plain(model: Baseline) -> dict[str, Any]:
    """The parameters as JSON has them; a `RandomState` becomes the seed that it gave."""
    parameters = model.get_params(deep=False) | {"random_state": model.seed_}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}
