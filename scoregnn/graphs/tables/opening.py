"""The one door to the user's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from scoregnn.errors import InputError
from scoregnn.graphs.tables.delimited import open_delimited
from scoregnn.graphs.tables.parquet import open_parquet
from scoregnn.graphs.tables.sdf import open_sdf
from scoregnn.graphs.tables.smi import open_smi
from scoregnn.graphs.tables.sources import TextSource, find_source, open_text
from scoregnn.graphs.tables.table import Table

_TEXT_READERS: dict[str, Callable[[TextSource, str | None, Sequence[str]], Table]] = {
    ".smi": open_smi,
    ".smiles": open_smi,
    ".sdf": open_sdf,
    ".sd": open_sdf,
    ".mol": open_sdf,
}
_PARQUET = (".parquet", ".pq")


def open_table(path: str | Path, *, smiles_column: str | None = None, named_columns: Sequence[str] = ()) -> Table:
    """Opens a table of molecules; its rows are streamed later by `Table.rows`.

    The ending of the name tells the form: `.smi`, `.smiles`; `.sdf`, `.sd`, `.mol`; `.parquet`, `.pq`;
    anything else, and standard input ("-") or any other pipe, is text with commas, semicolons or tabs. All
    text may be compressed with gzip. What was decided stands in `Table.notes`.

    - The first line of delimited text is a header when one of its cells is a known name of a SMILES column
      (`smiles`, `canonical_smiles`, `structure`, `mol`, `drug`, …; case does not count) or a column that
      the caller named. Otherwise it is a row, the columns are `smiles`, `column_2`, …, and the SMILES column
      is the one whose first cells look like SMILES.
    - Text without header, separators and quotes in its first lines is a list of molecules, one on each line.
    - Every line is a row, blank ones too (their SMILES is empty), with a header as without; a line break
      inside quotes is not a new row. Rows are counted from 1, the header not counted.
    - Columns without a name are called `column_N`, a repeated name gets `.2`, `.3`, …. A short row is filled
      with empty cells; a long one is an error unless the cells too many are empty.
    - Text is UTF-8, or UTF-16 or UTF-32 with a byte order mark, or else read as Latin-1 with a warning.

    Args:
        path: the file, or "-".
        smiles_column: the column that holds the SMILES; None finds it. Not for SDF.
        named_columns: other columns that must be there.

    Raises:
        InputError: nothing to read there, a file that is no table, no such column, no column of SMILES.
    """
    for name in (*named_columns, *([] if smiles_column is None else [smiles_column])):
        if not name.strip():
            raise InputError("a column name must not be empty")
    smiles_column = None if smiles_column is None else smiles_column.strip()
    named_columns = [name.strip() for name in named_columns]
    source = find_source(path)
    if source.suffix in _PARQUET:
        if source.gzipped:
            raise InputError(f"{source.name}: a Parquet file inside gzip; unpack it first")
        return open_parquet(source, smiles_column, named_columns)
    reader = _TEXT_READERS.get(source.suffix, open_delimited)
    return reader(open_text(source), smiles_column, named_columns)
