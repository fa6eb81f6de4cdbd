"""Text with separators (CSV, TSV and the like), with or without a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregnn.errors import InputError
from scoregnn.graphs.tables.columns import choose_smiles, looks_like_smiles, unique_names
from scoregnn.graphs.tables.messages import counted, listed, no_column, shown
from scoregnn.graphs.tables.records import QuoteError, records
from scoregnn.graphs.tables.sniffing import DELIMITERS, SAMPLE_CHARACTERS, SAMPLE_LINES, Layout, find_layout
from scoregnn.graphs.tables.sources import TextSource
from scoregnn.graphs.tables.table import Record, Table


def open_delimited(text: TextSource, smiles_column: str | None, named: Sequence[str]) -> Table:
    """Settles the layout by the first lines; `open_table` states the rules."""
    wanted = [*named, *([] if smiles_column is None else [smiles_column])]
    lines = _first_lines(text)
    if any(line.startswith(("M  END", "$$$$")) for line in lines):
        raise InputError(f"{text.name} looks like an SDF; its name must end in .sdf")
    layout = find_layout(lines, wanted)
    notes = list(text.notes)
    if layout.width > 1:
        notes.append(f"Cells are separated by {DELIMITERS[layout.delimiter]}.")
    if layout.header:
        names = unique_names(layout.first, text.name)
        position, how = choose_smiles(names.columns, layout.sample, smiles_column, text.name)
        columns, unnamed = names.columns, names.unnamed
        notes += ["The first line is the header.", *names.notes, how]
    else:
        position = _headerless_smiles(layout, smiles_column, text.name)
        columns = tuple(
            "smiles" if at == position and smiles_column in (None, "smiles") else f"column_{at + 1}"
            for at in range(layout.width)
        )
        unnamed = frozenset()
        notes += _headerless_notes(layout, columns, position)
    for name in wanted:
        if name not in columns:
            raise InputError(no_column(text.name, name, columns, "" if layout.header else " (it has no header)"))

    def read() -> Iterator[Record]:
        return _records(text, layout, len(columns), position)

    return Table(text.name, columns, columns[position], notes, read, unnamed)


def _first_lines(text: TextSource) -> list[str]:
    lines: list[str] = []
    size = 0
    for line in text.lines():
        lines.append(line)
        size += len(line)
        if len(lines) >= SAMPLE_LINES or size >= SAMPLE_CHARACTERS:
            break
    return lines


def _headerless_smiles(layout: Layout, smiles_column: str | None, source: str) -> int:
    if smiles_column is not None and smiles_column != "smiles":
        names = [f"column_{at + 1}" for at in range(layout.width)]
        if smiles_column not in names:
            raise InputError(
                f"{source}: there is no column {shown(smiles_column)} in the first line, {listed(layout.first, 10)}"
            )
        return names.index(smiles_column)
    if layout.width > 1 and layout.likeness < 0.5:
        raise InputError(
            f"{source}: the first line, {listed(layout.first, 10)}, holds no known name of a SMILES column,"
            " and no column looks like SMILES; name the column with --smiles-column"
        )
    return layout.smiles


def _headerless_notes(layout: Layout, columns: Sequence[str], position: int) -> list[str]:
    called = f"the columns are called {listed(columns, 5)}" if len(columns) > 1 else "its only column is the SMILES"
    notes = [f"There is no header (the first line holds no known name of a SMILES column); {called}."]
    head = layout.first[position].strip() if position < len(layout.first) else ""
    body = layout.sample[1:]
    usual = sum(looks_like_smiles(row[position]) for row in body if position < len(row))
    if head and body and not looks_like_smiles(head) and usual * 2 > len(body):
        notes.append(
            f"Warning: the first line, {listed(layout.first, 5)}, is read as a row; if it is a header, name"
            " its column with --smiles-column."
        )
    return notes


def _records(text: TextSource, layout: Layout, width: int, position: int) -> Iterator[Record]:
    lines = text.lines()
    if layout.plain:
        # A separator or a quote further down is part of one bad molecule; it must not stop all the others.
        yield from (((line,), line) for line in (line.rstrip("\r\n") for line in lines))
        return
    cells_of = records(lines, layout.delimiter)
    first = number = 0 if layout.header else 1
    while True:
        try:
            cells = next(cells_of, None)
        except QuoteError as error:
            place = f"row {number}" if number > first else "the first line"
            raise InputError(f"{text.name}, {place}: {error}; double or remove the quote") from None
        if cells is None:
            return
        if number or not layout.header:
            row = _fitted(cells, width, f"{text.name}, row {number}", layout.delimiter)
            yield row, row[position]
        number += 1


def _fitted(cells: list[str], width: int, place: str, delimiter: str) -> tuple[str, ...]:
    """`width` cells: missing ones are empty, empty ones too many are dropped."""
    if len(cells) == width:
        return tuple(cells)
    if len(cells) < width:
        return (*cells, *[""] * (width - len(cells)))
    extra = [cell for cell in cells[width:] if cell.strip()]
    if extra:
        raise InputError(
            f"{place}: {len(cells):,} cells for {counted(width, 'column')}, the first one too many is"
            f" {shown(extra[0])}; cells that hold {DELIMITERS[delimiter]} must be quoted"
        )
    return tuple(cells[:width])
