"""Columns of a table as numbers; a bad cell stops the reading or costs its row, as the user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scoregnn.errors import InputError
from scoregnn.graphs.tables.messages import listed, shown
from scoregnn.graphs.tables.table import Row, Table
from scoregnn.graphs.tables.values import CellError, is_missing, is_numeric, parse_bound, parse_number

Floats = npt.NDArray[np.float64]
BLANK = "blank line"


class CellReader:
    """Reads cells of `rows`; `skipped` gathers the reasons of the rows to be left out, by row number."""

    def __init__(self, table: Table, rows: Sequence[Row], skip_bad_rows: bool) -> None:
        self._table = table
        self._rows = rows
        self._skip = skip_bad_rows
        self.skipped: dict[int, str] = {row.number: BLANK for row in rows if _is_blank(row)}

    def texts(self, name: str) -> list[str]:
        """The cells of a column as they are."""
        at = self._table.columns.index(name)
        return [row.cells[at] for row in self._rows]

    def numbers(self, names: Sequence[str], part: str) -> Floats:
        """Columns in which every row must hold a number, `[num_rows, len(names)]`; `part` is for messages."""
        values = np.full((len(self._rows), len(names)), np.nan)
        for at, name in enumerate(names):
            for row, cell in zip(self._rows, self.texts(name), strict=True):
                if row.number in self.skipped:
                    continue
                try:
                    values[row.number - 1, at] = _required(cell, part)
                except CellError as error:
                    self._refuse(row, name, error)
        return values

    def weights(self, name: str) -> Floats:
        """Weights `[num_rows]`, finite and at least 0."""
        values = self.numbers([name], "weight")[:, 0]
        for row in self._rows:
            if values[row.number - 1] < 0:
                cell = row.cells[self._table.columns.index(name)].strip()
                self._refuse(row, name, CellError(f"{shown(cell)} is below 0, which a weight must not be"))
        return values

    def targets(self, names: Sequence[str], censored: bool) -> tuple[Floats, npt.NDArray[np.int8]]:
        """Targets `[num_rows, len(names)]`, NaN for missing, and their bounds (-1, 0 or +1).

        A row that is skipped for any of them is missing in all.
        """
        values = np.full((len(self._rows), len(names)), np.nan)
        bounds = np.zeros(values.shape, dtype=np.int8)
        parse: Callable[[str], tuple[float, int]] = parse_bound if censored else _exact
        for at, name in enumerate(names):
            self._check_numeric(name)
            for row, cell in zip(self._rows, self.texts(name), strict=True):
                if row.number in self.skipped or is_missing(cell):
                    continue
                try:
                    values[row.number - 1, at], bounds[row.number - 1, at] = parse(cell)
                except CellError as error:
                    self._refuse(row, name, error)
        dead = sorted(number - 1 for number in self.skipped)
        values[dead], bounds[dead] = np.nan, 0
        return values, bounds

    def _check_numeric(self, name: str) -> None:
        """Text labels deserve a better word than a complaint about the first row."""
        filled = [cell.strip() for cell in self.texts(name) if not is_missing(cell)]
        if filled and not any(is_numeric(cell, censored=True) for cell in filled):
            examples = listed(list(dict.fromkeys(filled[:1000])), 3)
            row = next(
                row.number for row, cell in zip(self._rows, self.texts(name), strict=True) if not is_missing(cell)
            )
            raise InputError(
                f"{self._table.source}, row {row}, column {shown(name)}: the target holds no number at all"
                f" ({examples}); labels of classes need --task classification"
            )

    def _refuse(self, row: Row, name: str, error: CellError) -> None:
        if not self._skip:
            raise InputError(
                f"{self._table.source}, row {row.number}, column {shown(name)}: {error};"
                " --skip-bad-rows leaves such rows out"
            ) from None
        self.skipped.setdefault(row.number, f"column {shown(name)}: {error}")


def _exact(cell: str) -> tuple[float, int]:
    return parse_number(cell), 0


def _required(cell: str, part: str) -> float:
    if is_missing(cell):
        raise CellError(f"the {part} is missing")
    return parse_number(cell)


def _is_blank(row: Row) -> bool:
    return isinstance(row.molecule, str) and not any(cell.strip() for cell in row.cells)
