"""A table of molecules as the rest of the package sees it, whatever file it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scoregnn.molecules.inputs import MolBlock

Record = tuple[tuple[str, ...], str | MolBlock]
"""The cells of one row and its molecule."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        number: counted from 1, without the header; a blank line is a row too.
        cells: one text a column, as read; "" where the table holds nothing.
        molecule: what is to be featurised, a SMILES (as read, with blanks around it) or an SDF record.
    """

    number: int
    cells: tuple[str, ...]
    molecule: str | MolBlock


@dataclass(frozen=True)
class Table:
    """A table on disk; nothing of its rows is held in memory.

    Attributes:
        source: its name in messages.
        columns: unique names, in the order of the file.
        smiles_column: the column of the SMILES; "" for an SDF, whose structures are no column.
        notes: what was decided while opening, and warnings; one sentence each.
        unnamed: columns that had no name in the header.
        read: gives a fresh iterator over the records of the file.
    """

    source: str
    columns: tuple[str, ...]
    smiles_column: str
    notes: list[str]
    read: Callable[[], Iterator[Record]] = field(repr=False)
    unnamed: frozenset[str] = frozenset()

    def rows(self) -> Iterator[Row]:
        """The rows in order, streamed; every call starts at the first one.

        Raises:
            InputError: a row cannot be read (too many cells, an open quote, a file damaged or cut meanwhile).
        """
        for number, (cells, molecule) in enumerate(self.read(), start=1):
            yield Row(number, cells, molecule)
