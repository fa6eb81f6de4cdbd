"""`run.json`, the record of what a run was asked to do: it claims a folder and guards a run that is resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scoregnn.errors import RunFolderError
from scoregnn.training.run_folder import is_unused, package_versions, read_json

RECORD = "run.json"
RUN_FORMAT = 1


def describe_run(request: Mapping[str, Any], data_sha256: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a run; the model to fine-tune is pinned by the checksum of its weights."""
    start = request.get("start")
    return {
        "format_version": RUN_FORMAT,
        "source": _plain(source),
        "data_sha256": data_sha256,
        "request": _plain(request),
        "start_sha256": None if start is None else read_json(Path(start) / "model.json").get("weights_sha256"),
        "versions": package_versions(),
    }


def check_folder(folder: Path, record: Mapping[str, Any], resume: bool, note: Callable[[str], None]) -> bool:
    """Whether `folder` holds this very run already (False: it is free).

    Raises `RunFolderError` for a folder with anything else in it, and for a run that may not be resumed: because
    `resume` is not given, or because data or settings have changed. Changed versions of packages are noted.
    """
    path = folder / RECORD
    if not path.exists():
        if not is_unused(folder):
            raise RunFolderError(f"{folder} is not empty and holds no run; choose another --output")
        if resume:
            note(f"there is no run in {folder} to resume; a new one begins")
        return False
    if not resume:
        raise RunFolderError(f"{folder} already holds a run; go on with --resume or choose another --output")
    stored = read_json(path)
    if stored.get("format_version") != RUN_FORMAT:
        raise RunFolderError(
            f"the run in {folder} was begun by another release of scoregnn (format {stored.get('format_version')}, "
            f"this one has {RUN_FORMAT}); resume it with that release or choose another --output"
        )
    if stored.get("data_sha256") != record["data_sha256"]:
        raise RunFolderError(f"the data are not those of the run in {folder}; restore them or choose another --output")
    if stored.get("start_sha256") != record["start_sha256"]:
        raise RunFolderError(
            f"the model {record['request']['start']} is not the one from which the run in {folder} was begun; "
            "restore it or choose another --output"
        )
    changed = _changes(stored.get("request"), record["request"])
    if changed:
        raise RunFolderError(
            f"the run in {folder} was begun with other settings ({changed}); repeat those or choose another --output"
        )
    then, now = stored.get("versions"), record["versions"]
    changed = "unknown then" if not isinstance(then, dict) else _changes(then, now)
    if changed:
        note(f"the run was begun with other versions ({changed}); its numbers may differ from an unbroken run's")
    return True


def _plain(value: Any) -> Any:
    """As it comes back from JSON: tuples become lists."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _changes(stored: Any, asked: Mapping[str, Any], prefix: str = "") -> str:
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
