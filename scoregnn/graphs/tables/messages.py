"""How tables speak to the user: one line that names file, row, column and value."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def shown(value: str, limit: int = 60) -> str:
    """`value` quoted on one line, shortened to about `limit` characters."""
    return repr(value if len(value) <= limit else f"{value[: limit - 1]}…")


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Names quoted and joined by commas, at most `limit` of them, then how many more there are."""
    text = ", ".join(shown(name) for name in names[:limit])
    return f"{text} and {len(names) - limit:,} more" if len(names) > limit else text


def on_one_line(text: object, limit: int = 200) -> str:
    """What another library says, for a message of ours."""
    return " ".join(str(text).split())[:limit]


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def no_column(source: str, name: str, columns: Sequence[str], extra: str = "") -> str:
    """The sentence for a column that is not there, with close names or else all of them."""
    folded = {column.strip().casefold(): column for column in columns[:10_000]}
    close = difflib.get_close_matches(name.strip().casefold()[:200], folded, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(shown(folded[match]) for match in close)}?" if close else ""
    hint = hint or f"its columns are {listed(columns)}"
    return f"{source}: there is no column {shown(name)}; {hint}{extra}"
