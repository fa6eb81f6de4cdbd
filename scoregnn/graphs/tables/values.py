"""What a cell says: nothing, a number, a bound, or text that is no number."""

from __future__ import annotations

import math
import re

from scoregnn.graphs.tables.messages import shown

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""Cells that hold no value, in lower case and without blanks around them."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BOUND = re.compile(r"(>=|=>|>>|>|≥|<=|=<|<<|<|≤|==?)\s*(.*)", re.DOTALL)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+")


class CellError(ValueError):
    """A cell that cannot be used; the message is the rest of a sentence that begins with its place."""


def is_missing(cell: str) -> bool:
    """Whether a cell holds no value (`MISSING`)."""
    return len(cell) < 100 and cell.strip().lower() in MISSING


def parse_number(cell: str) -> float:
    """The finite number a cell holds, written with a decimal point, with or without an exponent.

    Raises:
        CellError: anything else; the message says what is wrong and, where it is known, how to mend it.
    """
    text = cell.strip()
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        raise CellError(f"{shown(text)} is not a number{_hint(text)}")
    value = float(text)
    if math.isinf(value):
        raise CellError(f"{shown(text)} is too large for a number")
    return value + 0.0  # -0.0 becomes 0.0, so that equal data hash equally


def parse_bound(cell: str) -> tuple[float, int]:
    """A number with its bound: 0 exact, +1 the true value is above, -1 it is below.

    `>`, `>=`, `>>` and their signs mean above (whether a bound may be reached makes no difference that can be
    measured), `<` likewise below, `=` exact. `~5` is neither a value nor a bound and is refused.
    """
    match = _BOUND.fullmatch(cell.strip()[:500])
    if match is None:
        return parse_number(cell), 0
    side = 1 if set(match[1]) & set(">≥") else -1 if set(match[1]) & set("<≤") else 0
    return parse_number(match[2]), side


def is_numeric(cell: str, censored: bool = False) -> bool:
    """Whether `parse_number` (or, for `censored`, `parse_bound`) accepts the cell."""
    try:
        if censored:
            parse_bound(cell)
        else:
            parse_number(cell)
    except CellError:
        return False
    return True


def is_bound(cell: str) -> bool:
    """Whether a cell is a number with `>`, `<` or `=` before it."""
    return _BOUND.fullmatch(cell.strip()[:500]) is not None and is_numeric(cell, censored=True)


def _hint(text: str) -> str:
    if len(text) <= 500 and is_bound(text):
        return " (--censored reads > and < as bounds)"
    if _DECIMAL_COMMA.fullmatch(text[:100]):
        return " (write the decimal sign as a point)"
    if "\u2212" in text or "\u2013" in text:
        return " (write the minus sign as a hyphen, -)"
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return " that is finite"
    return ""
