"""`scoregnn diagnose`: how the state of a trained network moves over its iterations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scoregnn.cli.options import SmilesColumn, TargetColumns, TimeLimit

if TYPE_CHECKING:
    from rich.table import Table


def diagnose(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="DIR", help="Run folder of the model; the newest in ./runs if left out."),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="Labelled table; the run's own test part if left out.")
    ] = None,
    smiles_column: SmilesColumn = None,
    target_column: TargetColumns = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where diagnosis.json and .png go. [default: --model]"),
    ] = None,
    time_limit: TimeLimit = 20.0,
) -> None:
    """Look into a model: size and direction of each update, contraction, oversmoothing, gradients, cost."""
    from scoregnn.cli.console import note, print_table
    from scoregnn.cli.places import model_folder
    from scoregnn.files import write_atomically
    from scoregnn.prediction.diagnosis import diagnose
    from scoregnn.prediction.diagnosis_data import labelled_molecules, run_molecules
    from scoregnn.prediction.diagnosis_plots import diagnosis_png
    from scoregnn.prediction.predictor import Predictor
    from scoregnn.training.run_folder import write_json

    folder = model_folder(model)
    predictor = Predictor.load(folder, time_limit=time_limit)
    if data is None:
        store, targets, features = run_molecules(predictor, folder)
    else:
        store, targets, features = labelled_molecules(predictor, data, smiles_column, tuple(target_column or ()))
    found = diagnose(predictor.model, store, targets, features)
    print_table(_iterations(found))
    for name, cost in found["cost"].items():
        typer.echo(
            f"{name:6} {cost['parameters']:>10,} parameters  {1e3 * cost['seconds']:8.1f} ms forward and backward  "
            f"{cost['saved_numbers']:>12,} numbers kept for it"
        )
    place = Path(output) if output is not None else folder
    write_json(place / "diagnosis.json", found)
    write_atomically(place / "diagnosis.png", diagnosis_png(found))
    note(f"written to {place / 'diagnosis.json'} and {place / 'diagnosis.png'}")


def _iterations(found: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table(title=f"{found['molecules']} molecules", title_justify="left")
    columns = {
        "iteration": "iteration",
        "relative_update": "relative update",
        "update_cosine": "cosine",
        "dirichlet_energy": "Dirichlet energy",
        "pairwise_distance": "atom distance",
        "spectral_norm_median": "Jacobian, median",
        "spectral_norm_max": "largest",
        "gradient_norm": "gradient",
    }
    for heading in columns.values():
        table.add_column(heading, justify="right")
    for entry in found["iterations"]:
        cells = [entry[name] for name in columns]
        table.add_row(str(cells[0]), *("-" if cell is None else f"{cell:.4g}" for cell in cells[1:]))
    return table
