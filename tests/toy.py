"""Small tables and fast runs for the tests of whole runs, predictions and the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoregnn.config import Config
from scoregnn.graphs.tables import read_labelled
from scoregnn.training.checkpoint import EpochRecord
from scoregnn.training.prepare import SplitRequest
from scoregnn.training.run import RunRequest, RunSummary, run_training

ENDS = {"": 0.0, "O": -1.5, "N": -1.1, "Cl": 0.6, "F": 0.2}
SMILES = [f"{'C' * length}{end}" for length in range(1, 13) for end in ENDS]
"""60 different molecules in 5 rows of homologues."""

TINY: dict[str, Any] = {"hidden": 16, "heads": 2, "epochs": 2, "batch_size": 16, "head_layers": 1}
TINY_OPTIONS = [part for name, value in TINY.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def lipophilicity(smiles: str) -> float:
    """Something a network can learn: half a unit a carbon, and an increment for the end."""
    end = "Cl" if smiles.endswith("Cl") else smiles.lstrip("C")
    return round(0.5 * smiles.removesuffix(end).count("C") + ENDS[end], 3)


def toy_rows() -> list[dict[str, object]]:
    return [{"smiles": smiles, "logP": lipophilicity(smiles)} for smiles in SMILES]


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """A CSV with the keys of the first row as header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def toy_table(folder: Path, name: str = "toy.csv") -> Path:
    return write_table(folder / name, toy_rows())


def read_csv(text: str | Path) -> list[dict[str, str]]:
    if isinstance(text, Path):
        text = text.read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def read_object(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


class Notes:
    """A reporter that remembers; `stop_after` epochs it ends the run as Ctrl-C would."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.notes: list[str] = []
        self.stages: list[str] = []
        self.epochs = 0
        self.stop_after = stop_after

    def note(self, text: str) -> None:
        self.notes.append(text)

    def stage(self, name: str, networks: int, epochs: int) -> None:
        self.stages.append(name)

    def epoch(self, network: int, record: EpochRecord) -> None:
        self.epochs += 1
        if self.epochs == self.stop_after:
            raise KeyboardInterrupt


def train(
    table: Path,
    folder: Path,
    *,
    split: SplitRequest | None = None,
    reading: Mapping[str, Any] | None = None,
    resume: bool = False,
    reporter: Notes | None = None,
    refit: bool = False,
    start: Path | None = None,
    freeze: bool = False,
    units: tuple[str, ...] = (),
    **settings: Any,
) -> RunSummary:
    """A run of a tiny network on the table at `table`."""
    request = RunRequest(
        config=Config(**TINY | settings),
        split=split or SplitRequest(),
        refit=refit,
        start=None if start is None else str(start),
        freeze=freeze,
        units=units,
    )
    labelled = read_labelled(table, **(reading or {}))
    source = {"data": table.name}
    return run_training(labelled, request, folder, source=source, resume=resume, reporter=reporter or Notes())
