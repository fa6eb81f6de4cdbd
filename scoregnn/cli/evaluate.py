"""`scoregnn evaluate`: metrics of a model on labelled data."""

from __future__ import annotations

from typing import Annotated

import typer

from scoregnn.cli.options import Censored, Device, SkipBadRows, SmilesColumn, Steps, TargetColumns, TimeLimit, Tolerance


def evaluate(
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="Labelled table.")],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="DIR", help="Run folder of the model; the newest in ./runs if left out."),
    ] = None,
    smiles_column: SmilesColumn = None,
    target_column: TargetColumns = None,
    censored: Censored = False,
    skip_bad_rows: SkipBadRows = False,
    steps: Steps = None,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = 20.0,
    device: Device = "cpu",
) -> None:
    """Print the metrics of a model on a labelled table; warn where it was trained on the same molecules."""
    from scoregnn.cli.console import metrics_table, note, print_table
    from scoregnn.cli.places import model_folder
    from scoregnn.prediction.evaluation import evaluate_table, read_for_model
    from scoregnn.prediction.predictor import Predictor

    predictor = Predictor.load(
        model_folder(model), time_limit=time_limit, device=device, steps=steps, tolerance=tolerance
    )
    table = read_for_model(
        predictor,
        data,
        smiles_column=smiles_column,
        target_columns=target_column or (),
        censored=censored,
        skip_bad_rows=skip_bad_rows,
    )
    evaluation = evaluate_table(predictor, table)
    for text in (*table.notes, *evaluation.notes):
        note(text)
    if evaluation.seen:
        note(
            f"warning: {evaluation.seen} of {evaluation.used} rows hold molecules that the model was trained on; "
            "for them these figures say how well it remembers, not how well it predicts"
        )
    print_table(metrics_table({"evaluation": evaluation.metrics}, predictor.task.targets))
