"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

SmilesColumn = Annotated[
    str | None,
    typer.Option("--smiles-column", metavar="NAME", help="Column of the SMILES; found by its name if left out."),
]
TargetColumns = Annotated[
    list[str] | None,
    typer.Option("--target-column", metavar="NAME", help="Column to learn or to compare with; repeat for several."),
]
FeatureColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-column", metavar="NAME", help="Numeric column joined to each molecule (pH, …); repeatable."
    ),
]
WeightColumn = Annotated[str | None, typer.Option("--weight-column", metavar="NAME", help="Column of sample weights.")]
Censored = Annotated[bool, typer.Option("--censored", help="Read >3 and <-2 in a target as bounds.")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out rows whose target, weight or feature cannot be used.")
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", min=0.1, help="Longest time for reading one molecule.")
]
Device = Annotated[str, typer.Option("--device", help="Where to compute, as torch names it: cpu, cuda, mps, …")]
Steps = Annotated[
    int | None, typer.Option("--steps", help="Iterations instead of those of the training; for shared blocks only.")
]
Tolerance = Annotated[
    float | None,
    typer.Option("--tolerance", help="End a molecule's iterations when its state moves by less; at most --steps."),
]
