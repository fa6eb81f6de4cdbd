"""The program `scoregnn`. Nothing heavy is imported before the verb that needs it runs."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import scoregnn
from scoregnn.cli import datasets, evaluate, predict, train
from scoregnn.errors import ScoreGNNError

app = typer.Typer(
    name="scoregnn",
    help="Predict molecular properties, aqueous solubility first, from SMILES with SCORE networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(datasets.app, name="datasets")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scoregnn {scoregnn.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point: a mistake of the user is one line and exit code 2, Ctrl-C is exit code 130."""
    # Threads that wait by spinning slow each other down as soon as another process computes; read when torch loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        app()
    except ScoreGNNError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has enough; without this the interpreter complains again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        typer.echo("error: not enough memory; use a smaller --batch-size or fewer rows at once", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"error: {error.filename or 'input/output'}: {error.strerror or error}", err=True)
        sys.exit(2)
