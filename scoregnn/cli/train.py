"""`scoregnn train`: a model from a packaged data set or from the user's own table."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scoregnn.cli.config_options import with_config_options
from scoregnn.cli.options import (
    Censored,
    Device,
    FeatureColumns,
    SkipBadRows,
    SmilesColumn,
    TargetColumns,
    TimeLimit,
    WeightColumn,
)
from scoregnn.config import DEPTHS, PRESETS, Config, suggestion
from scoregnn.errors import InputError

if TYPE_CHECKING:
    from scoregnn.training.run import RunSummary


@with_config_options
def train(
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="A packaged data set, such as esol.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="Your table (.csv, .tsv, .smi, .sdf, .parquet, .gz).")
    ] = None,
    smiles_column: SmilesColumn = None,
    target_column: TargetColumns = None,
    feature_column: FeatureColumns = None,
    weight_column: WeightColumn = None,
    unit: Annotated[list[str] | None, typer.Option("--unit", help="Unit of the target; repeat for several.")] = None,
    task: Annotated[str, typer.Option("--task", help="auto, regression or classification.")] = "auto",
    censored: Censored = False,
    skip_bad_rows: SkipBadRows = False,
    preset: Annotated[str, typer.Option("--preset", help=f"Settings to start from: {', '.join(PRESETS)}.")] = "fast",
    depth: Annotated[
        str | None,
        typer.Option("--depth", help=f"A named way to go deep; single options change it: {', '.join(DEPTHS)}."),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            "--split",
            help="random, scaffold, scaffold-balanced, butina, time, column, reference (with --dataset esol), "
            "or the path of a splits.json.",
        ),
    ] = "random",
    split_column: Annotated[
        str | None, typer.Option("--split-column", metavar="NAME", help="For time and column.")
    ] = None,
    split_seed: Annotated[int | None, typer.Option("--split-seed", help="Of the split. [default: --seed]")] = None,
    fractions: Annotated[
        tuple[float, float, float], typer.Option("--fractions", help="Train, validation and test part.")
    ] = (0.8, 0.1, 0.1),
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Run folder. [default: a new one in ./runs]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was broken off.")] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Train once more on all rows, for use.")] = False,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DIR", help="Fine-tune the model of this folder.")
    ] = None,
    freeze: Annotated[bool, typer.Option("--freeze", help="With --from: train only the readout and the head.")] = False,
    time_limit: TimeLimit = 20.0,
    device: Device = "cpu",
    *,
    given: dict[str, Any],
) -> None:
    """Train and evaluate a model; everything found out is left in the run folder."""
    from scoregnn.cli.console import ConsoleReporter, note
    from scoregnn.cli.places import run_folder
    from scoregnn.cli.tables import read_table
    from scoregnn.training.prepare import SplitRequest
    from scoregnn.training.run import RunRequest, run_training

    if preset not in PRESETS:
        raise InputError(f"unknown preset {preset!r}{suggestion(preset, PRESETS)}")
    if depth is not None and depth not in DEPTHS:
        raise InputError(f"unknown depth {depth!r}{suggestion(depth, DEPTHS)}")
    config = _config(preset, DEPTHS[depth] | given if depth is not None else given, from_)
    reading = {
        "smiles_column": smiles_column,
        "target_columns": tuple(target_column or ()),
        "feature_columns": tuple(feature_column or ()),
        "weight_column": weight_column,
        "task": task,
        "censored": censored,
        "skip_bad_rows": skip_bad_rows,
        "other_columns": () if split_column is None else (split_column,),
    }
    seed_of_split = config.seed if split_seed is None else split_seed
    if split == "reference":
        split = _reference_split(dataset, seed_of_split)
    split_request = SplitRequest(split, seed_of_split, split_column, fractions)
    table, name, units = read_table(dataset, data, reading)
    for text in table.notes:
        note(text)
    request = RunRequest(
        config=config,
        split=split_request,
        refit=refit,
        start=from_,
        freeze=freeze,
        units=tuple(unit or units),
        time_limit=time_limit,
    )
    folder = run_folder(output, f"{name}-{config.block}", resume)
    note(_described(config, split, request.split.seed, len(table.rows), table.target_names))
    try:
        with ConsoleReporter() as reporter:
            source: dict[str, Any] = {"dataset": dataset, "data": data, **reading}
            summary = run_training(
                table, request, folder, source=source, resume=resume, reporter=reporter, device=device
            )
    except KeyboardInterrupt:
        note(f"stopped; the same command with --resume --output {folder} goes on from the last epoch")
        raise
    _print(summary, table.target_names)


def _config(preset: str, given: dict[str, Any], start: str | None) -> Config:
    """The preset, or the settings of the model to fine-tune, changed by what was given on the command line."""
    base = PRESETS[preset]
    if start is not None:
        from scoregnn.training.run_folder import load_model

        trained = load_model(start).config
        kept = {name: getattr(trained, name) for name in Config.architecture}
        for name, value in given.items():
            if name in kept and kept[name] != value:
                raise InputError(f"--from {start}: that model has {name} {kept[name]}, which cannot become {value}")
        base = dataclasses.replace(base, **kept)
    return dataclasses.replace(base, **given)


def _reference_split(dataset: str | None, seed: int) -> str:
    """Path of the packaged split."""
    from scoregnn.datasets.reference_splits import reference_split_file

    if dataset is None:
        raise InputError("--split reference is for --dataset; name a split of your own data otherwise")
    return str(reference_split_file(dataset, seed))


def _described(config: Config, split: str, split_seed: int, rows: int, targets: tuple[str, ...]) -> str:
    depth = "shared" if config.share else "unshared"
    return (
        f"{rows:,} rows, target {', '.join(targets)}; {config.block} x {config.steps} steps ({depth}, "
        f"{config.velocity}, {config.integrator}, dt {config.dt:g}), width {config.hidden}, {config.readout} readout, "
        f"descriptors {config.descriptors}, {config.ensemble} network{'s' if config.ensemble > 1 else ''}, "
        f"at most {config.epochs} epochs; {split} split (seed {split_seed}), seed {config.seed}"
    )


def _print(summary: RunSummary, targets: tuple[str, ...]) -> None:
    from scoregnn.cli.console import metrics_table, print_table

    print_table(metrics_table(summary.metrics, targets))
    typer.echo(f"parameters  {summary.num_parameters:,} a network")
    typer.echo(f"training    {summary.seconds:.1f} s")
    typer.echo(f"model       {summary.folder}" + (" (trained once more on all rows)" if summary.refit else ""))
    typer.echo(f"predict     scoregnn predict CCO --model {summary.folder}")
