"""`scoregnn datasets`: what ships with the package."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

app = typer.Typer(help="List the packaged data sets, or show one.", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def list_datasets(context: typer.Context) -> None:
    """List the packaged data sets; `scoregnn datasets show NAME` prints the card of one."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from scoregnn.cli.console import print_table
    from scoregnn.datasets import cards

    table = Table()
    for heading in ("name", "rows", "target", "unit", "title"):
        table.add_column(heading)
    for name, card in cards().items():
        table.add_row(name, f"{card.rows:,}", ", ".join(card.targets), ", ".join(card.units), card.title)
    print_table(table)


@app.command("show")
def show(name: Annotated[str, typer.Argument(help="Name of a data set, such as esol.")]) -> None:
    """Print the card of a data set, with counts computed from its table."""
    from scoregnn.datasets import describe, get

    card, counts = get(name).card, describe(name)
    lines = [card.title, "", *_wrapped(card.description), ""]
    lines += [f"rows           {counts['rows']:,}, {counts['distinct_molecules']:,} different molecules"]
    lines += [
        f"repeated       {counts['repeated_molecules']} molecules in several rows, "
        f"{counts['conflicting_molecules']} of them with different values"
    ]
    for target, facts in counts["targets"].items():
        lines.append(
            f"target         {target} ({facts['unit']}): {facts['values']:,} values, "
            f"{facts['min']:g} to {facts['max']:g}, mean {facts['mean']:.3f}, standard deviation {facts['sd']:.3f}"
        )
    lines += [
        f"atoms          {counts['atoms'][0]} to {counts['atoms'][1]} heavy atoms; "
        f"{counts['rows_without_bonds']} rows without a bond",
        f"scaffolds      {counts['scaffolds']:,} Murcko scaffolds; {counts['acyclic_rows']:,} acyclic rows; "
        f"{counts['commonest_scaffold_rows']:,} rows share {counts['commonest_scaffold']}",
    ]
    if card.baseline_columns:
        lines.append(f"to compare     {', '.join(card.baseline_columns)} (predictions by others, never a feature)")
    lines += ["", "Known faults", *(line for fault in card.faults for line in _wrapped(fault, "- "))]
    lines += [
        "",
        "Fair split",
        *_wrapped(card.split),
        "",
        "Cite",
        *(line for c in card.citations for line in _wrapped(c, "- ")),
    ]
    lines += ["", "Source", *_wrapped(card.source), "", "Licence", *_wrapped(card.licence), "", f"sha256 {card.sha256}"]
    typer.echo("\n".join(lines))


def _wrapped(text: str, mark: str = "") -> list[str]:
    return textwrap.wrap(text, 100, initial_indent=f"  {mark}", subsequent_indent="  " + " " * len(mark))
