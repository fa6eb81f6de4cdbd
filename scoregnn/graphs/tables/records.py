"""Lines to records of cells, with the quoting of CSV.

The rules are those of Python's `csv` module (a quote opens a cell only as its first character, a doubled
quote inside is one quote, line ends inside quotes belong to the cell), with two differences: a blank line is
a record of one empty cell, and a quote that is never closed is an error, not a cell of all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator

MAX_QUOTED = 1 << 26
"""Most characters between two quotes (64 Mi)."""


class QuoteError(ValueError):
    """A quote that does not end where it should; the message is the rest of a sentence about the row."""


def records(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """Cells of each record. Raises `QuoteError` where quoting is broken."""
    for line in lines:
        if '"' in line:
            yield _quoted_record(line, lines, delimiter)
        else:
            yield line.rstrip("\r\n").split(delimiter)


def _quoted_record(text: str, lines: Iterator[str], delimiter: str) -> list[str]:
    cells: list[str] = []
    position = 0
    while True:
        cell = ""
        if text.startswith('"', position):
            cell, rest, position = _quoted_cell(text, position + 1, lines)
            if rest is not text and rest[position : position + 1] not in ("", delimiter, "\r", "\n"):
                raise QuoteError("opens a quote that closes on a later line in the middle of a cell")
            text = rest
        end = text.find(delimiter, position)
        if end < 0:
            cells.append(cell + text[position:].rstrip("\r\n"))
            return cells
        cells.append(cell + text[position:end])
        position = end + 1


def _quoted_cell(text: str, start: int, lines: Iterator[str]) -> tuple[str, str, int]:
    """The cell whose opening quote lies before `start`, the line where it ends, and the position after it."""
    parts: list[str] = []
    size = 0
    while True:
        close = text.find('"', start)
        if close < 0:
            parts.append(text[start:])
            size += len(text) - start
            following = next(lines, None)
            if following is None:
                raise QuoteError("opens a quote that is never closed")
            if size > MAX_QUOTED:
                raise QuoteError(f"opens a quote that is not closed within {MAX_QUOTED:,} characters")
            text, start = following, 0
            continue
        parts.append(text[start:close])
        if not text.startswith('"', close + 1):
            return "".join(parts), text, close + 1
        parts.append('"')
        start = close + 2
