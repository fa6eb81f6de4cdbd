"""What the tests of runs share: tables, what a run found out, deadlines."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toy import read_csv, read_object, toy_rows

from scoregnn.training.model import Model

TIMED = ("sha256", "versions")
"""Of `model.json`: the checksum covers the seconds of training; versions are compared by their own test."""


def mixed_rows() -> list[dict[str, object]]:
    """Two targets with gaps, a weight, a pH that matters for one, a repeated molecule and rows of no use."""
    rows: list[dict[str, object]] = []
    for number, row in enumerate(toy_rows()):
        ph = 4 + number % 5
        rows.append({**row, "charge": round(0.3 * ph - 1, 3), "w": 1 + number % 3, "pH": ph})
        if number % 4 == 0:
            rows[-1]["charge"] = ""
        if number % 8 == 3:
            rows[-1]["logP"] = ""
    rows.append({**rows[1], "smiles": "OC"})  # row 61: methanol once more
    rows.append({**rows[2], "smiles": "C1CC"})  # row 62: no molecule
    rows.append({**rows[3], "logP": "", "charge": ""})  # row 63: nothing measured
    return rows


MIXED = {"target_columns": ["logP", "charge"], "weight_column": "w", "feature_columns": ["pH"]}


def results(folder: Path) -> dict[str, Any]:
    """All that a run found out, by file; apart from times and the way its table was read."""
    found: dict[str, Any] = {
        name: (folder / name).read_bytes()
        for name in ("model.safetensors", "metrics.json", "predictions.csv", "splits.json", "parity.png")
    }
    found["history.csv"] = [
        {name: cell for name, cell in row.items() if name != "seconds"} for row in read_csv(folder / "history.csv")
    ]
    content = {name: value for name, value in read_object(folder / "model.json").items() if name not in TIMED}
    found["model.json"] = {**content, "data": {**content["data"], "seconds": None, "source": None}}
    return found


def assert_same_results(one: Path, other: Path) -> None:
    first, second = results(one), results(other)
    assert [name for name in first if first[name] != second[name]] == []


def wait_until(reached: Callable[[], bool], running: Callable[[], bool] = lambda: True) -> None:
    """Polls; fails after two minutes, or when that which should get there has ended."""
    deadline = time.monotonic() + 120
    while not reached():
        assert running() and time.monotonic() < deadline
        time.sleep(0.002)


def leftovers(folder: Path) -> list[Path]:
    return sorted(folder.rglob(".*.part"))


def alone(model: Model, number: int) -> Model:
    """One network of an ensemble as a model of its own."""
    return dataclasses.replace(model, networks=[model.networks[number]])


def predicted(folder: Path, target: str = "") -> list[float]:
    """What `predictions.csv` says for the used rows."""
    name = f"{target}.prediction" if target else "prediction"
    return [float(row[name]) for row in read_csv(folder / "predictions.csv") if row[name]]
