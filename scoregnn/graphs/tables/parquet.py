"""Parquet files, read by batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoregnn.errors import InputError
from scoregnn.graphs.tables.columns import choose_smiles, unique_names
from scoregnn.graphs.tables.messages import no_column, on_one_line
from scoregnn.graphs.tables.sources import Source, reading
from scoregnn.graphs.tables.table import Record, Table

BATCH = 4096
_SAMPLE = 200


def open_parquet(source: Source, smiles_column: str | None, named: Sequence[str]) -> Table:
    """Cells are the texts of the values (shortest text that gives the number back); nulls are "".

    Raises:
        InputError: not a Parquet file, or a damaged one; no such column; no column of SMILES.
    """
    with reading(source.name), source.open() as start:
        if not start.read(1):
            raise InputError(f"{source.name} is empty")
    header, sample = _start(source)
    names = unique_names(header, source.name)
    position, how = choose_smiles(names.columns, sample, smiles_column, source.name)
    for name in named:
        if name not in names.columns:
            raise InputError(no_column(source.name, name, names.columns))

    def read() -> Iterator[Record]:
        for cells in _cells(source):
            yield cells, cells[position]

    notes = ["A Parquet file.", *names.notes, how]
    return Table(source.name, names.columns, names.columns[position], notes, read, names.unnamed)


def _start(source: Source) -> tuple[list[str], list[tuple[str, ...]]]:
    with _opened(source) as file:
        header = list(file.schema_arrow.names)
    sample = [cells for cells, _ in zip(_cells(source), range(_SAMPLE), strict=False)]
    return header, sample


def _cells(source: Source) -> Iterator[tuple[str, ...]]:
    import pyarrow as pa

    with _opened(source) as file:
        batches = file.iter_batches(batch_size=BATCH)
        while True:
            try:
                batch = next(batches, None)
                columns = None if batch is None else [_texts(column) for column in batch.columns]
            except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
                raise InputError(f"{source.name}: the Parquet file is damaged ({on_one_line(error)})") from None
            if columns is None:
                return
            yield from zip(*columns, strict=True)


def _opened(source: Source) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(source.path, pre_buffer=False)
    except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
        what = "not a Parquet file, or a damaged one"
        raise InputError(f"{source.name}: {what} ({on_one_line(error)})") from None


def _texts(column: Any) -> list[str]:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = column.to_pylist()
    else:
        try:
            values = column.cast(pa.large_string()).to_pylist()
        except (pa.ArrowException, ValueError):
            values = [None if value is None else str(value) for value in column.to_pylist()]
    return ["" if value is None else value for value in values]
