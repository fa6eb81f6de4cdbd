"""Class labels as positions in a list of classes."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import numpy.typing as npt

from scoregnn.errors import InputError
from scoregnn.graphs.tables.messages import listed, shown
from scoregnn.graphs.tables.values import is_missing, is_numeric, parse_number

MAX_CLASSES = 100


def is_binary(targets: npt.NDArray[np.float64]) -> bool:
    """Whether values of targets `[num_rows, T]` that are not NaN are all 0 or 1, and there is one."""
    values = targets[~np.isnan(targets)]
    return bool(values.size) and bool(np.isin(values, (0.0, 1.0)).all())


def encode_classes(
    source: str, names: Sequence[str], columns: Sequence[Sequence[str]], skipped: Container[int]
) -> tuple[npt.NDArray[np.float64], tuple[tuple[str, ...], ...]]:
    """Positions of the labels `[num_rows, T]` (NaN for missing), and the labels of each target in order.

    Labels that are all numbers are ordered as numbers and written without needless decimals (`1.0` is `1`),
    others as text, without blanks around them. Rows whose number is in `skipped` are missing.

    Raises:
        InputError: fewer than two labels in a column, or so many that it cannot hold classes.
    """
    targets = np.full((len(columns[0]), len(names)), np.nan)
    classes = []
    for at, (name, cells) in enumerate(zip(names, columns, strict=True)):
        labels = _labels(["" if number in skipped else cell for number, cell in enumerate(cells, start=1)])
        found = sorted({label for label in labels if label is not None}, key=_order(labels))
        place = f"{source}, column {shown(name)}"
        if not found:
            raise InputError(f"{place}: holds no label")
        if len(found) == 1:
            raise InputError(f"{place}: holds one class only, {shown(found[0])}; there is nothing to learn")
        if len(found) > MAX_CLASSES or len(found) > max(10, sum(label is not None for label in labels) // 2):
            raise InputError(
                f"{place}: {len(found):,} different labels ({listed(found, 3)}) are no classes;"
                " --task regression reads numbers"
            )
        code = {label: position for position, label in enumerate(found)}
        targets[:, at] = [np.nan if label is None else code[label] for label in labels]
        classes.append(tuple(found))
    return targets, tuple(classes)


def _labels(cells: Sequence[str]) -> list[str | None]:
    filled = [None if is_missing(cell) else cell.strip() for cell in cells]
    if all(is_numeric(cell) for cell in filled if cell is not None):
        return [None if cell is None else _number_label(parse_number(cell)) for cell in filled]
    return list(filled)


def _number_label(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _order(labels: Sequence[str | None]) -> type[float] | type[str]:
    return float if all(is_numeric(label) for label in labels if label is not None) else str
