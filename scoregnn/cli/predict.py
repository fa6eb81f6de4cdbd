"""`scoregnn predict`: properties from SMILES."""

from __future__ import annotations

from typing import Annotated

import typer

from scoregnn.cli.options import Device, SmilesColumn, Steps, TimeLimit, Tolerance


def predict(
    smiles: Annotated[list[str] | None, typer.Argument(metavar="[SMILES]...", help="Molecules as SMILES.")] = None,
    input_: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            metavar="FILE",
            help="Table of molecules (.csv, .smi, .sdf, .parquet, .gz), or - for standard input.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="DIR", help="Run folder of the model; the newest in ./runs if left out."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV to write (.gz: compressed); standard output if left out."
        ),
    ] = None,
    smiles_column: SmilesColumn = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="An error, after all is written, when a molecule is refused.")
    ] = False,
    steps: Steps = None,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = 20.0,
    device: Device = "cpu",
) -> None:
    """Predict for SMILES or for a table: one output row for every input row, in order, with the input's columns."""
    from scoregnn.cli.console import note
    from scoregnn.cli.places import model_folder
    from scoregnn.errors import InputError
    from scoregnn.graphs.tables import open_table
    from scoregnn.prediction.predictor import Predictor
    from scoregnn.prediction.tables import predict_table, smiles_table
    from scoregnn.prediction.writing import csv_writer

    if bool(smiles) == (input_ is not None):
        raise InputError("give either SMILES or --input FILE, one of the two")
    folder = model_folder(model)
    if model is None:
        note(f"model: {folder}")
    predictor = Predictor.load(folder, time_limit=time_limit, device=device, steps=steps, tolerance=tolerance)
    if smiles:
        table = smiles_table(smiles)
    else:
        table = open_table(str(input_), smiles_column=smiles_column, named_columns=predictor.model.features)
    for text in table.notes:
        note(text)
    columns, rows = predict_table(predictor, table)
    predicted = refused = 0
    first_refusal = ""
    with csv_writer(output) as writer:
        writer.writerow(columns)
        for row in rows:
            writer.writerow(row.cells)
            predicted += not row.reason
            refused += bool(row.reason)
            if row.reason and not first_refusal:
                first_refusal = f"row {row.number}: {row.reason}"
    note(f"{predicted:,} predicted, {refused:,} refused" + (f"; written to {output}" if output else ""))
    if strict and refused:
        raise InputError(f"--strict: {refused:,} of {predicted + refused:,} molecules were refused ({first_refusal})")
