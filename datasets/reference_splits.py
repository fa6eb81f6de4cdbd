"""The reference splits of a data set: files in the format of `scoregnn.graphs.split_files`, so that all compare alike.

    python -m scoregnn.datasets.reference_splits --output datasets/data     write those of ESOL again

They are what `--split random --seed N` gives (80/10/10, grouped by molecule), kept as files so that no change of a
library can move a row.
"""

from __future__ import annotations

import argparse
import importlib.resources
from pathlib import Path

from scoregnn.config import Config
from scoregnn.datasets.registry import get
from scoregnn.errors import InputError
from scoregnn.graphs.split_files import save_split
from scoregnn.training.prepare import SplitRequest, prepare, split_rows

REFERENCE_SEEDS = {"esol": (0, 1, 2, 3, 4)}


def reference_split_file(name: str, seed: int) -> Path:
    """The packaged split of data set `name` for `seed`; `InputError` where there is none."""
    known = REFERENCE_SEEDS.get(get(name).name, ())
    if seed not in known:
        which = ", ".join(map(str, known)) or "none"
        raise InputError(f"data set {name} has no reference split {seed}; seeds with one: {which}")
    return Path(str(importlib.resources.files("scoregnn.datasets").joinpath("data", _file_name(get(name).name, seed))))


def write_reference_splits(name: str, folder: Path) -> None:
    """Computes the splits and writes them into `folder`."""
    table = get(name).table()
    prepared = prepare(table, Config())
    for seed in REFERENCE_SEEDS[name]:
        save_split(
            folder / _file_name(name, seed),
            split_rows(prepared, SplitRequest("random", seed=seed)),
            kind="random",
            seed=seed,
            data_sha256=table.data_sha256,
            num_rows=len(table.rows),
            rows=prepared.row_numbers,
        )


def _file_name(name: str, seed: int) -> str:
    return f"{name}_split_{seed}.json"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the files")
    for dataset in REFERENCE_SEEDS:
        write_reference_splits(dataset, parser.parse_args().output)
