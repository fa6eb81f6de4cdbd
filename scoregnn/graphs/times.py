"""Cell texts of a time column into numbers that order as the times do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from scoregnn.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)


def parse_times(
    cells: Sequence[str], *, column: str = "time", rows: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """Times of the cells `[num_rows]`: numbers as they are, ISO 8601 dates as seconds since 1970 (UTC).

    A column holds either plain numbers (a year, a batch number) or dates (2024-03, 2024-03-15,
    2024-03-15T09:30+02:00), never both; a date without a zone counts as UTC. `rows` are the row numbers to
    name in messages, without it rows count from 1. Raises `InputError` naming row, column and value.
    """
    times = np.empty(len(cells))
    kind = "number" if cells and _NUMBER.fullmatch(cells[0].strip()) else "date"
    for position, cell in enumerate(cells):
        text = cell.strip()
        time = _number(text) if kind == "number" else _date(text)
        if time is None:
            row = position + 1 if rows is None else rows[position]
            if not text:
                fault = "is empty: give every row a time, or leave the row out"
            elif position and (_date(text) if kind == "number" else _number(text)) is not None:
                fault = f"holds {cell!r}, but the rows above hold {kind}s: use one form in the whole column"
            else:
                fault = f"holds {cell!r}, not a finite number or an ISO date such as 2024-03-15"
            raise InputError(f"row {row}: column {column!r} {fault}")
        times[position] = time
    return times


def _number(text: str) -> float | None:
    # Only plain digits: float() would also take "nan", "1_000" and digits of other scripts.
    value = float(text) if _NUMBER.fullmatch(text) else None
    return value if value is not None and np.isfinite(value) else None


def _date(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(f"{text}-01" if _MONTH.fullmatch(text) else text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
