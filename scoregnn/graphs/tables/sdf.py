"""SDF files: records of a connection table and properties, ended by lines of `$$$$`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregnn.errors import InputError
from scoregnn.graphs.tables.columns import MAX_COLUMNS, unique_names
from scoregnn.graphs.tables.messages import counted, no_column
from scoregnn.graphs.tables.sources import TextSource
from scoregnn.graphs.tables.table import Record, Table
from scoregnn.molecules.inputs import MolBlock

MAX_RECORD = 1 << 26
"""Longest record read, in characters (64 Mi): a file without `$$$$` must not fill the memory."""


def open_sdf(text: TextSource, smiles_column: str | None, named: Sequence[str]) -> Table:
    """Columns are `name` (the title line) and every property found in a first pass over the file."""
    if smiles_column is not None:
        raise InputError(f"{text.name}: an SDF holds structures, not SMILES; leave --smiles-column out")
    properties: dict[str, int] = {}
    count = 0
    for record in _split(text):
        count += 1
        for name in _properties(record):
            properties.setdefault(name, len(properties))
        if len(properties) >= MAX_COLUMNS:
            raise InputError(f"{text.name}: more than {MAX_COLUMNS:,} different properties")
    names = unique_names(["name", *properties], text.name)
    for name in named:
        if name not in names.columns:
            raise InputError(no_column(text.name, name, names.columns))
    notes = [
        *text.notes,
        f"An SDF of {counted(count, 'record')}; the title lines are the column 'name'.",
        *names.notes,
    ]

    def read() -> Iterator[Record]:
        for record in _split(text):
            cells = [""] * len(names.columns)
            cells[0] = record[0].strip() if record else ""
            for name, value in _properties(record).items():
                if name not in properties:
                    raise InputError(f"{text.name}: changed while it was read (the property {name!r} is new)")
                cells[properties[name] + 1] = value
            yield tuple(cells), MolBlock(_block(record))

    return Table(text.name, names.columns, "", notes, read)


def _split(text: TextSource) -> Iterator[list[str]]:
    """Lines of each record, without their ends; after the last `$$$$` only blank lines may be left out."""
    record: list[str] = []
    size = number = 0
    for line in text.lines():
        if line.startswith("$$$$"):
            yield record
            record, size = [], 0
            number += 1
            continue
        record.append(line.rstrip("\r\n"))
        size += len(line)
        if size > MAX_RECORD:
            raise InputError(f"{text.name}, row {number + 1}: a record longer than {MAX_RECORD:,} characters")
    if any(line.strip() for line in record):
        yield record


def _block(record: list[str]) -> str:
    """The connection table: all up to `M  END`, or to the first property where that line is missing."""
    end = len(record)
    for at, line in enumerate(record):
        if line.startswith("M  END"):
            end = at + 1
            break
        if line.startswith(">") and at > 3:
            end = at
            break
    return "".join(f"{line}\n" for line in record[:end])


def _properties(record: list[str]) -> dict[str, str]:
    """Properties by name: the lines after `> <name>` up to a blank one; the last one of a name counts."""
    values: dict[str, str] = {}
    at = 4
    while at < len(record):
        name = _property_name(record[at])
        at += 1
        if name is None:
            continue
        start = at
        while at < len(record) and record[at].strip():
            at += 1
        values[name] = "\n".join(record[start:at])
    return values


def _property_name(line: str) -> str | None:
    if not line.startswith(">"):
        return None
    start, end = line.find("<"), line.rfind(">")
    return line[start + 1 : end].strip() or None if 0 <= start < end else None
