"""The run folder: a model and everything that was found out about it, as tensors, JSON, CSV and a picture."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from scoregnn.config import Config
from scoregnn.errors import InputError, RunFolderError
from scoregnn.files import is_leftover, write_atomically
from scoregnn.molecules import DESCRIPTOR_KINDS, FEATURIZER_VERSION, descriptor_names
from scoregnn.training.checkpoint import Progress
from scoregnn.training.model import Model, build_network
from scoregnn.training.scaling import ColumnScaler, TargetScaler
from scoregnn.training.task import Task

FORMAT = "scoregnn-model"
FORMAT_VERSION = 1
LOCK = ".lock"
_PACKAGES = ("scoregnn", "torch", "rdkit", "numpy", "scikit-learn", "safetensors")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Creates `folder` if need be and holds its lock; a second process gets a `RunFolderError` at once."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, blocking=False)
        lock.acquire()
    except Timeout:
        raise RunFolderError(f"{folder} is in use by another process; wait for it or choose another --output") from None
    except OSError as error:
        raise InputError(f"cannot write to the folder {folder}: {error.strerror or error}") from None
    try:
        for path in folder.iterdir():
            if is_leftover(path):  # of a killed process: whoever else wrote here would hold the lock
                path.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def is_unused(folder: Path) -> bool:
    """Whether the folder holds nothing but a lock and half-written files."""
    return folder.is_dir() and all(path.name == LOCK or is_leftover(path) for path in folder.iterdir())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; anything else raises `RunFolderError`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(f"{path} does not exist") from None
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of thousands of digits, deep nesting
        raise RunFolderError(f"{path} is damaged: it is not JSON ({error})") from None
    if not isinstance(content, dict):
        raise RunFolderError(f"{path} is damaged: it holds no JSON object")
    return content


def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a number."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def save_model(folder: Path, model: Model, *, data: Mapping[str, Any]) -> None:
    """Writes `model.safetensors`, then `model.json`, which names both checksums and so completes the folder.

    data: facts about the training data to keep (source, hash, rows, split).
    """
    tensors = _model_tensors(model)
    weights = save({name: value.detach().contiguous().cpu() for name, value in tensors.items()})
    write_atomically(folder / "model.safetensors", weights)
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "featurizer_version": FEATURIZER_VERSION,
        "config": model.config.to_dict(),
        "config_digest": model.config.digest(),
        "task": model.task.to_dict(),
        "features": list(model.features),
        "descriptors": list(descriptor_names(model.config.descriptors)),
        "scalers": _scalers(model),
        "num_parameters": model.num_parameters,
        "networks": [
            {
                "best_epoch": progress.best_epoch,
                "best_validation_loss": progress.best_loss,
                "epochs": progress.epoch,
            }
            for progress in model.progress
        ],
        "data": dict(data),
        "versions": package_versions(),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }
    write_json(folder / "model.json", content | {"sha256": _checksum(content)})


def load_model(folder: Path | str) -> Model:
    """The model in a run folder.

    Raises `RunFolderError` when the folder is missing, unfinished, damaged, of another program or of a newer format.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise RunFolderError(f"no model folder {folder}; train one with `scoregnn train --output {folder}`")
    if not (folder / "model.json").exists():
        if (folder / "run.json").exists():
            raise RunFolderError(
                f"the run in {folder} is not finished; go on with `scoregnn train --resume --output {folder}`"
            )
        raise RunFolderError(f"{folder} holds no model (no model.json)")
    content = read_description(folder)
    weights = check_file(folder / "model.safetensors", content.get("weights_sha256"))
    path = folder / "model.json"
    try:
        return _assemble(content, load(weights))
    except KeyError as error:
        raise RunFolderError(f"{path} does not fit its weights: {error} is missing") from None
    except (SafetensorError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        # Torch names what does not fit in the second line.
        reason = " ".join(line.strip() for line in str(error).splitlines()[:2]) or type(error).__name__
        raise RunFolderError(f"{path} does not fit its weights: {reason}") from None


def read_description(folder: Path) -> dict[str, Any]:
    """What `model.json` says, checked to be what this program wrote and can use; `RunFolderError` otherwise."""
    path = folder / "model.json"
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise RunFolderError(f"{path} is not a model of this program")
    version = content.get("format_version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise RunFolderError(f"{path} is damaged: it names no format version")
    if version > FORMAT_VERSION:  # before the checksum, which a newer format may take otherwise
        raise RunFolderError(f"{path}: format {version} is newer than this program's {FORMAT_VERSION}; update scoregnn")
    if content.pop("sha256", None) != _checksum(content):
        raise RunFolderError(f"{path} is damaged or was edited: its checksum is not the one it names")
    if content.get("featurizer_version") != FEATURIZER_VERSION:
        raise RunFolderError(
            f"{path}: trained with atom features of version {content.get('featurizer_version')}, "
            f"this program computes version {FEATURIZER_VERSION}; train it anew"
        )
    for key, kind in {"config": dict, "task": dict, "versions": dict, "features": list, "networks": list}.items():
        if not isinstance(content.get(key), kind):
            raise RunFolderError(f"{path} is damaged: {key!r} is missing or no {kind.__name__}")
    chosen = content["config"].get("descriptors")
    if chosen in DESCRIPTOR_KINDS and content.get("descriptors") != list(descriptor_names(chosen)):
        raise RunFolderError(
            f"{path}: the model needs the descriptors of RDKit {content['versions'].get('rdkit', '?')}; "
            "this RDKit computes others; install that release or train the model anew"
        )
    return content


def check_file(path: Path, checksum: object) -> bytes:
    """The content of a file of a finished run; `RunFolderError` where `model.json` names another SHA-256 for it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise RunFolderError(f"{path} does not exist") from None
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(content).hexdigest() != checksum:
        raise RunFolderError(f"{path} is damaged or was edited: its checksum is not the one that model.json names")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON object, however it is laid out."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _scalers(model: Model) -> dict[str, Any]:
    """Mean and scale of each target and joined column, to read; the model itself takes them from its tensors."""
    named: list[tuple[str, Sequence[str], TargetScaler | ColumnScaler]] = [
        ("targets", model.task.targets, model.target_scaler),
        ("features", model.features, model.feature_scaler),
        ("descriptors", descriptor_names(model.config.descriptors), model.descriptor_scaler),
    ]
    return {
        kind: {
            name: {"mean": _finite(mean), "scale": _finite(scale)}
            for name, mean, scale in zip(names, scaler.mean.tolist(), scaler.scale.tolist(), strict=True)
        }
        for kind, names, scaler in named
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON knows no infinity


def _model_tensors(model: Model) -> dict[str, Tensor]:
    tensors = {
        "target_scaler.mean": model.target_scaler.mean,
        "target_scaler.scale": model.target_scaler.scale,
        "training_keys": model.training_keys,
    }
    for prefix, scaler in (("descriptor_scaler", model.descriptor_scaler), ("feature_scaler", model.feature_scaler)):
        tensors |= {f"{prefix}.{name}": value for name, value in scaler.tensors().items()}
    for member, network in enumerate(model.networks):
        tensors |= {f"networks.{member}.{name}": value for name, value in network.state_dict().items()}
    return tensors


def _assemble(content: Mapping[str, Any], tensors: dict[str, Tensor]) -> Model:
    def part(prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

    config, task = Config.from_dict(content["config"]), Task.from_dict(content["task"])
    if len(content["networks"]) != config.ensemble:
        raise ValueError(f"it lists {len(content['networks'])} networks for an ensemble of {config.ensemble}")
    networks, progress = [], []
    with torch.random.fork_rng(devices=[]):
        for member, entry in enumerate(content["networks"]):
            progress.append(
                Progress(epoch=entry["epochs"], best_epoch=entry["best_epoch"], best_loss=entry["best_validation_loss"])
            )
            network = build_network(config, task, len(content["features"]))
            network.load_state_dict(part(f"networks.{member}."))
            networks.append(network.eval())
    return Model(
        config=config,
        task=task,
        features=tuple(content["features"]),
        target_scaler=TargetScaler(**part("target_scaler.")),
        descriptor_scaler=ColumnScaler(**part("descriptor_scaler.")),
        feature_scaler=ColumnScaler(**part("feature_scaler.")),
        networks=networks,
        training_keys=tensors["training_keys"],
        progress=progress,
    )


def hash_keys(keys: list[str]) -> Tensor:
    """Hashes of identity keys, int64 [distinct], sorted: enough to recognise a molecule, not to read it."""
    numbers = {int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True) for key in keys}
    return torch.tensor(sorted(numbers), dtype=torch.int64)
