"""Where run folders lie when the user does not say."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from scoregnn.errors import RunFolderError
from scoregnn.training.run_folder import is_unused

RUNS = Path("runs")


def run_folder(output: str | None, name: str, resume: bool) -> Path:
    """The folder for a run called `name`: `runs/name`, or with -2, -3 … the first unused (resume: the last used)."""
    if output is not None:
        return Path(output)
    used: list[Path] = []
    for number in count(1):
        folder = RUNS / (name if number == 1 else f"{name}-{number}")
        if not folder.exists() or is_unused(folder):
            return used[-1] if resume and used else folder
        if (folder / "run.json").exists():
            used.append(folder)
    raise AssertionError  # the candidates do not end


def model_folder(model: str | None) -> Path:
    """`model`, or the folder in `./runs` whose training finished last."""
    if model is not None:
        return Path(model)
    finished = sorted(RUNS.glob("*/model.json"), key=lambda path: path.stat().st_mtime)
    if not finished:
        raise RunFolderError("no model: name one with --model DIR, or train one with `scoregnn train --dataset esol`")
    return finished[-1].parent
