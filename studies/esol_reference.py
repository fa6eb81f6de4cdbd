"""The preset `fast` beside the plain unshared stack, on the five reference splits of ESOL.

    python -m scoregnn.studies.esol_reference --work runs/esol-reference --output esol_reference.json

Each fit is a run folder under `--work`; a broken study goes on where it was. Prints the table it writes.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scoregnn.config import PRESETS, Config
from scoregnn.datasets import get
from scoregnn.datasets.reference_splits import reference_split_file
from scoregnn.errors import ScoreGNNError
from scoregnn.studies.provenance import provenance
from scoregnn.training.checkpoint import EpochRecord
from scoregnn.training.prepare import SplitRequest
from scoregnn.training.run import RunRequest, RunSummary, run_training
from scoregnn.training.run_folder import write_json

SEEDS = (0, 1, 2, 3, 4)
DATASET = "esol"


class Quiet:
    """A reporter that says which fit is running and nothing else."""

    def note(self, text: str) -> None:
        pass

    def stage(self, name: str, networks: int, epochs: int) -> None:
        pass

    def epoch(self, network: int, record: EpochRecord) -> None:
        pass


def variants(preset: Config) -> dict[str, Config]:
    """The preset, and the stack that differs from it only in having a layer of its own for each step."""
    return {"SCORE": preset, "plain stack": dataclasses.replace(preset, share=False, dt=1.0)}


def run_study(work: Path, seeds: tuple[int, ...], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Trains every variant on every split; returns test errors, parameters and seconds by variant."""
    dataset = get(DATASET)
    table = dataset.table()
    results: dict[str, Any] = {}
    for name, config in variants(dataclasses.replace(PRESETS["fast"], **changes)).items():
        runs: list[RunSummary] = []
        for seed in seeds:
            print(f"{name}, split {seed}", flush=True)
            request = RunRequest(
                config=dataclasses.replace(config, seed=seed),
                split=SplitRequest(str(reference_split_file(DATASET, seed)), seed=seed),
                units=dataset.card.units,
            )
            folder = work / f"{name.replace(' ', '-').lower()}-{seed}"
            source = {"dataset": DATASET, "split": seed}
            runs.append(run_training(table, request, folder, source=source, resume=True, reporter=Quiet()))
        errors = [run.metrics["test"]["rmse"] for run in runs]
        results[name] = {
            "config": config.to_dict(),
            "config_digest": config.digest(),
            "parameters": runs[0].num_parameters,
            "test_rmse": {str(seed): error for seed, error in zip(seeds, errors, strict=True)},
            "mean": statistics.mean(errors),
            "sd": statistics.stdev(errors) if len(errors) > 1 else None,
            "seconds": {str(seed): run.seconds for seed, run in zip(seeds, runs, strict=True)},
        }
    return results


def results_table(results: Mapping[str, Any], seeds: tuple[int, ...]) -> Table:
    """Test RMSE by split, their mean and standard deviation, parameters, mean seconds of a fit."""
    table = Table(
        title="ESOL, test RMSE (log mol/L), five random 80/10/10 splits grouped by molecule", title_justify="left"
    )
    headings = ["model", *(f"split {seed}" for seed in seeds), "mean", "SD", "parameters", "s a fit"]
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for name, found in results.items():
        spread = "-" if found["sd"] is None else f"{found['sd']:.3f}"
        errors = [f"{found['test_rmse'][str(seed)]:.3f}" for seed in seeds]
        seconds = statistics.mean(found["seconds"].values())
        table.add_row(name, *errors, f"{found['mean']:.3f}", spread, f"{found['parameters']:,}", f"{seconds:.0f}")
    return table


def main() -> None:
    """Entry point of `python -m scoregnn.studies.esol_reference`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("runs/esol-reference"), help="folder of the fits")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), choices=SEEDS)
    parser.add_argument("--epochs", type=int, help="fewer epochs than the preset, to try the program")
    options = parser.parse_args()
    if options.output is not None and not options.output.parent.is_dir():
        parser.error(f"no such folder: {options.output.parent}")
    seeds = tuple(options.seeds)
    changes = {} if options.epochs is None else {"epochs": options.epochs}
    try:
        results = run_study(options.work, seeds, changes)
    except ScoreGNNError as error:
        sys.exit(f"error: {error}")
    Console(width=140).print(results_table(results, seeds))
    if options.output is not None:
        made_by = provenance("scoregnn.studies.esol_reference")
        write_json(options.output, made_by | {"dataset": DATASET, "seeds": list(seeds), "results": results})


if __name__ == "__main__":
    # Read when torch starts its first threads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
