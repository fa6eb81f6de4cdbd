"""The program `scoregnn`. Nothing heavy is imported before the verb that needs it runs."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

import scoregnn
from scoregnn.cli import datasets, diagnose, evaluate, predict, train
from scoregnn.errors import ScoreGNNError

app = typer.Typer(
    name="scoregnn",
    help="Predict molecular properties, aqueous solubility first, from SMILES with SCORE networks.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("evaluate")(evaluate.evaluate)
app.command("diagnose")(diagnose.diagnose)
app.add_typer(datasets.app, name="datasets")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scoregnn {scoregnn.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# What typer raises for a wrong command line: its own class or click's, by its release.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def main() -> None:
    """Entry point: a mistake of the user is one line and exit code 2, Ctrl-C is exit code 130."""
    # Threads that wait by spinning slow each other down as soon as another process computes; read when torch loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        sys.exit(app(standalone_mode=False))
    except _UsageError as error:
        _stop(f"{getattr(error, 'format_message', error.__str__)()} (see --help)")
    except ScoreGNNError as error:
        _stop(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except MemoryError:
        _stop("not enough memory; use a smaller --batch-size or fewer rows at once")
    except OSError as error:  # but not a broken pipe: typer ends the program silently when its reader has enough
        _stop(f"{error.filename or 'input/output'}: {error.strerror or error}")


def _stop(message: str) -> NoReturn:
    typer.echo(f"error: {' '.join(message.splitlines())}", err=True)
    sys.exit(2)
