"""Which column is the target, when the user names none."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence

from scoregnn.errors import InputError
from scoregnn.graphs.tables.messages import listed, shown
from scoregnn.graphs.tables.table import Row, Table
from scoregnn.graphs.tables.values import is_missing, is_numeric

_IDENTIFIER = re.compile(
    r"(?:.*[\s_.-])?(?:id|ids|idx|index|identifier|number|no|nr|num|row|rows|cas|cid|sid|name|names)\.?"
    r"|unnamed: ?\d+|(?:mol|cmpd|compound|chembl|pubchem|zinc)[\s_]?(?:id|number|no|idx|index|chemblid)"
    r"|#|\d+",
    re.IGNORECASE,
)


def is_identifier_name(name: str) -> bool:
    """Whether a name says that its column numbers or names the rows (`id`, `Compound ID`, `CAS`, …)."""
    return bool(_IDENTIFIER.fullmatch(name.strip()[:200]))


def find_target(table: Table, rows: Sequence[Row], used: Collection[str]) -> tuple[str, str]:
    """The only column that can be a target, and a note saying so.

    A candidate is numeric in at least half of its filled cells (a stray text must be reported as bad value,
    not hide the column); it is not `used` otherwise, has a name, and does not look like an identifier.

    Raises:
        InputError: no candidate, or several.
    """
    candidates: list[str] = []
    counters: list[str] = []
    texts: list[str] = []
    for at, name in enumerate(table.columns):
        if name == table.smiles_column or name in used:
            continue
        cells = [row.cells[at] for row in rows if not is_missing(row.cells[at])]
        numeric = sum(is_numeric(cell, censored=True) for cell in cells)
        if not cells:
            continue
        if 2 * numeric < len(cells):
            texts.append(name)
        elif is_identifier_name(name) or name in table.unnamed or _counts_rows(cells):
            counters.append(name)
        else:
            candidates.append(name)
    if len(candidates) == 1:
        return candidates[0], f"The target is the column {shown(candidates[0])}, the only numeric one."
    if candidates:
        raise InputError(
            f"{table.source}: several columns can be the target: {listed(candidates)}; choose with --target-column"
        )
    reasons = []
    if counters:
        reasons.append(f"{listed(counters, 5)} looks like a row number or an identifier")
    if texts:
        reasons.append(f"{listed(texts, 5)} holds text; classes need --task classification")
    because = f" ({'; '.join(reasons)})" if reasons else ""
    raise InputError(f"{table.source}: no numeric column to be the target{because}; name it with --target-column")


def _counts_rows(cells: Sequence[str]) -> bool:
    """Whether whole numbers go up by one from row to row, over at least five rows."""
    if len(cells) < 5 or not all(len(cell) < 20 and re.fullmatch(r"\s*[0-9]+\s*", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    return all(after == before + 1 for before, after in itertools.pairwise(numbers))
