"""`.smi` files: a SMILES, blanks or a tab, and a name on each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregnn.errors import InputError
from scoregnn.graphs.tables.columns import is_smiles_name
from scoregnn.graphs.tables.messages import no_column, shown
from scoregnn.graphs.tables.sources import TextSource
from scoregnn.graphs.tables.table import Record, Table

COLUMNS = ("smiles", "name")


def open_smi(text: TextSource, smiles_column: str | None, named: Sequence[str]) -> Table:
    """Columns `smiles` and `name`; no header, unless the first word is a known name of a SMILES column."""
    for name in named:
        if name not in COLUMNS:
            raise InputError(no_column(text.name, name, COLUMNS, " (a .smi file has no others)"))
    if smiles_column not in (None, "smiles"):
        raise InputError(f"{text.name}: the SMILES of a .smi file are its first words; leave --smiles-column out")
    first = next(text.lines(), "")
    header = is_smiles_name(_split(first)[0])
    note = f"its first line, {shown(first.strip())}, is left out as a header" if header else "there is no header"
    notes = [*text.notes, f"A .smi file: each line is a SMILES and a name; {note}."]

    def read() -> Iterator[Record]:
        lines = text.lines()
        if header:
            next(lines)
        for line in lines:
            cells = _split(line)
            yield cells, cells[0]

    return Table(text.name, COLUMNS, "smiles", notes, read)


def _split(line: str) -> tuple[str, str]:
    """SMILES and name. A line that starts with a tab has an empty SMILES, not its name for one."""
    if line.startswith("\t"):
        return "", line.strip()
    words = line.split(maxsplit=1)
    return (words[0] if words else ""), (words[1].rstrip() if len(words) > 1 else "")
