"""MLP-SCORE beside independent layers of equal width and depth, on RDKit descriptors of ESOL.

    python -m scoregnn.studies.mlp_descriptors --output mlp_descriptors.json

Five folds grouped by molecule, scored once each; the best epoch is chosen inside the training part. Prints a table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import root_mean_squared_error

from scoregnn.config import Config
from scoregnn.datasets import get
from scoregnn.estimators import MLPScoreRegressor
from scoregnn.graphs.splits import k_folds
from scoregnn.studies.provenance import provenance, settings_digest
from scoregnn.training.prepare import prepare
from scoregnn.training.run_folder import write_json
from scoregnn.training.scaling import ColumnScaler

VARIANTS: dict[str, dict[str, Any]] = {
    "SCORE": {"share": True, "dt": 0.25},
    "independent layers": {"share": False, "dt": 1.0},
    "independent layers, dt 0.5": {"share": False, "dt": 0.5},
    "shared layer, dt 1": {"share": True, "dt": 1.0},
}


def model_of(variant: str, steps: int, epochs: int) -> MLPScoreRegressor:
    """The estimator of a variant with so many layers."""
    return MLPScoreRegressor(steps=steps, epochs=epochs, **VARIANTS[variant])


def run_study(descriptors: str, epochs: int, folds: int, steps: tuple[int, ...]) -> list[dict[str, Any]]:
    """One entry a variant and depth: test RMSE of each fold in log mol/L, parameters, seconds."""
    prepared = prepare(get("esol").table(), Config(descriptors=descriptors))
    values, y = prepared.data.store.descriptors, prepared.data.targets[:, 0].numpy()
    tests = k_folds(prepared.keys, n_folds=folds, seed=0)
    results = []
    for depth in steps:
        for name in VARIANTS:
            print(f"{name}, {depth} layers", flush=True)
            errors, begun = [], time.perf_counter()
            for test in tests:
                train = np.setdiff1d(np.arange(len(y)), test)
                scaler = ColumnScaler.fit(values[train], compress=True)
                X = scaler.transform(values).numpy()
                model = model_of(name, depth, epochs).fit(X[train], y[train])
                errors.append(float(root_mean_squared_error(y[test], model.predict(X[test]))))
            results.append(
                {
                    "variant": name,
                    "steps": depth,
                    "settings_digest": settings_digest(model.get_params()),
                    "test_rmse": errors,
                    "mean": statistics.mean(errors),
                    "sd": statistics.stdev(errors),
                    "parameters": sum(parameter.numel() for parameter in model.network_.parameters()),
                    "seconds": round((time.perf_counter() - begun) / len(tests), 2),
                }
            )
    return results


def results_table(results: list[dict[str, Any]]) -> Table:
    """Mean and spread over the folds."""
    table = Table(title="ESOL, MLP on descriptors, test RMSE (log mol/L), grouped folds", title_justify="left")
    for heading in ("variant", "layers", "mean", "SD", "parameters", "s a fit"):
        table.add_column(heading, justify="left" if heading == "variant" else "right")
    for found in results:
        figures = (f"{found['mean']:.3f}", f"{found['sd']:.3f}", f"{found['parameters']:,}", f"{found['seconds']:.1f}")
        table.add_row(found["variant"], str(found["steps"]), *figures)
    return table


def main() -> None:
    """Entry point of `python -m scoregnn.studies.mlp_descriptors`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--descriptors", default="full", choices=("fast", "full"))
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--steps", type=int, nargs="+", default=[2, 4, 8, 16])
    parser.add_argument("--output", type=Path, help="JSON file to write")
    options = parser.parse_args()
    results = run_study(options.descriptors, options.epochs, options.folds, tuple(options.steps))
    Console(width=120).print(results_table(results))
    if options.output is not None:
        made_by = provenance("scoregnn.studies.mlp_descriptors")
        write_json(options.output, made_by | {"seed": 0, "epochs": options.epochs, "results": results})


if __name__ == "__main__":
    # Read when torch starts its first threads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
