"""The layout of delimited text: separator, header or not, width; judged by the first lines only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scoregnn.graphs.tables.columns import best_column, is_smiles_name
from scoregnn.graphs.tables.records import QuoteError, records

SAMPLE_LINES = 200
SAMPLE_CHARACTERS = 1 << 20
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SAMPLE_CELLS = 100_000


@dataclass(frozen=True)
class Layout:
    """How delimited text is laid out.

    Attributes:
        delimiter: one of `DELIMITERS`.
        header: whether the first record names the columns.
        width: number of columns.
        plain: a mere list of molecules, one on each line, without header, separators or quotes.
        sample: cells of the first rows, header left out.
        first: the first record, whatever it is.
        smiles: of a text without header, the position of the column that looks most like SMILES.
        likeness: the share of that column's cells that do.
    """

    delimiter: str
    header: bool
    width: int
    plain: bool
    sample: list[list[str]]
    first: list[str]
    smiles: int
    likeness: float


def find_layout(lines: Sequence[str], named: Collection[str]) -> Layout:
    """Best of the layouts that the possible separators give.

    A header that is understood counts most, then a column that looks like SMILES, then rows of equal length,
    then many columns. SMILES hold none of the separators; names, decimal commas and InChIs do.

    Args:
        lines: the first lines, with their ends.
        named: columns the user asked for: a first record that holds one of them is a header.
    """

    def rank(layout: Layout) -> tuple[bool, float, float, int]:
        filled = [row for row in layout.sample if row != [""]]
        agreeing = sum(len(row) == layout.width for row in filled) / len(filled) if filled else 1.0
        return layout.header, round(layout.likeness, 2), agreeing, layout.width

    return max((_layout(lines, delimiter, named) for delimiter in DELIMITERS), key=rank)


def _layout(lines: Sequence[str], delimiter: str, named: Collection[str]) -> Layout:
    sample: list[list[str]] = []
    cells = 0
    try:
        for record in records(iter(lines), delimiter):
            sample.append(record)
            cells += len(record)
            if cells > _SAMPLE_CELLS and len(sample) > 1:
                break
    except QuoteError:
        pass  # the sample may end inside a quote; one that is really open is reported when rows are read
    first = sample[0] if sample else [""]
    header = any(is_smiles_name(cell) or cell.strip() in named for cell in first)
    if header:
        sample = sample[1:]
        width = len(first)
    else:
        widths = Counter(len(row) for row in sample if row != [""])
        width = max(widths, key=lambda size: (widths[size], size), default=1)
    share, smiles = best_column(sample, width)
    plain = not header and width == 1 and not any('"' in line for line in lines)
    return Layout(delimiter, header, width, plain, sample, first, smiles, share)
