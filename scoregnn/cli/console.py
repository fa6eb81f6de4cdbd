"""How a run looks on the screen: notes and progress on stderr, results on stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from scoregnn.training.checkpoint import EpochRecord

_METRICS = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "spearman": "Spearman",
    "roc_auc": "ROC-AUC",
    "pr_auc": "PR-AUC",
    "accuracy": "accuracy",
    "log_loss": "log loss",
}


def note(text: str) -> None:
    """One line for the user, on stderr."""
    print(text, file=sys.stderr, flush=True)


class ConsoleReporter:
    """Notes as lines; epochs as a progress bar on a terminal, and not at all elsewhere."""

    def __init__(self) -> None:
        self._console = _plain_console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[loss]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID | None = None
        self._epochs = 0

    def __enter__(self) -> ConsoleReporter:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def note(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    def stage(self, name: str, networks: int, epochs: int) -> None:
        self._epochs = epochs
        self._task = self._progress.add_task(name, total=networks * epochs, loss="")

    def epoch(self, network: int, record: EpochRecord) -> None:
        if self._task is None:
            return
        loss = f"training loss {record.train_loss:.4f}"
        if record.validation_loss is not None:
            loss += f", validation {record.validation_loss:.4f}"
        self._progress.update(self._task, completed=network * self._epochs + record.epoch, loss=loss)


def metrics_table(metrics: Mapping[str, Any], targets: tuple[str, ...], title: str | None = None) -> Table:
    """Parts as rows, metrics as columns; with several targets a row for each part and target."""
    rows: list[tuple[str, str, Mapping[str, float | None]]] = []
    for part, found in metrics.items():
        if len(targets) > 1:
            rows += [(part, name, found[name]) for name in targets]
        else:
            rows.append((part, "", found))
    names = [name for name in _METRICS if any(name in values for _, _, values in rows)]
    table = Table(title=title, title_justify="left")
    table.add_column("part")
    if len(targets) > 1:
        table.add_column("target")
    for heading in ("n", *(_METRICS[name] for name in names)):
        table.add_column(heading, justify="right")
    for part, target, values in rows:
        cells = [_number(values.get(name)) for name in names]
        table.add_row(part, *([target] if len(targets) > 1 else []), str(values["n"]), *cells)
    return table


def print_table(table: Table) -> None:
    """On stdout; 120 characters wide where that is no terminal."""
    _plain_console(width=None if sys.stdout.isatty() else 120).print(table)


def _plain_console(**options: Any) -> Console:
    """A console that prints what it is given: `[mol/L]` in the name of a target is no markup, `:o:` no emoji."""
    return Console(markup=False, emoji=False, highlight=False, **options)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
