"""A split on disk: JSON that names the rows of each part, counted from 1 as a user counts them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoregnn.config import suggestion
from scoregnn.errors import InputError
from scoregnn.files import write_atomically
from scoregnn.graphs.splits import PARTS, Split

KEYS = ("kind", "seed", "data_sha256", "num_rows", "rows_start_at", *PARTS)
BYTES_PER_ROW = 64
"""A file of more bytes than this a row (and a page for the rest) holds something else than row numbers."""


def save_split(
    path: str | Path,
    split: Split,
    *,
    kind: str,
    seed: int | None,
    data_sha256: str | None,
    num_rows: int,
    rows: Sequence[int] | None = None,
) -> None:
    """Writes the split as JSON, whole or not at all.

    `num_rows` and `data_sha256` are of the table. `rows` holds the table's row number of each position, where
    refused rows were left out before splitting; without it position 0 is row 1. Raises `InputError` where the
    split does not fit the rows or the file cannot be written.
    """
    content: dict[str, Any] = {
        "kind": kind,
        "seed": seed,
        "data_sha256": data_sha256,
        "num_rows": num_rows,
        "rows_start_at": 1,
    }
    numbers = np.arange(1, num_rows + 1) if rows is None else np.asarray(rows, dtype=np.int64)
    for part, positions in split.parts.items():
        if len(positions) and positions[-1] >= len(numbers):
            raise InputError(f"the split has row position {positions[-1]}, but there are {len(numbers)} rows")
        content[part] = numbers[positions].tolist()
    # One line for each key: readable, and a changed split is a changed line.
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    write_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def load_split(
    path: str | Path, *, num_rows: int, data_sha256: str | None = None, rows: Sequence[int] | None = None
) -> Split:
    """The split in a file of `save_split`, or one written by hand.

    A file needs `train` and `"rows_start_at": 1`; the other parts are empty where absent, and rows in no part
    stay out. `num_rows` is of the table; with `rows` (the table's row number of each position) the split
    holds positions in it, and rows of the file that are not among them (refused ones) are dropped.

    Raises `InputError` for a file that cannot be read, is not such JSON, was made for other data
    (`data_sha256` or `num_rows` differ), names a row out of range or twice, or leaves no row to train on.
    """
    content = _read(Path(path), num_rows)
    for key in content:
        if key not in KEYS:
            raise InputError(f"{path}: unknown key {_short(key)}{suggestion(key, KEYS)}")
    for key in ("train", "rows_start_at"):
        if key not in content:
            raise InputError(f'{path}: the key {key} is missing; a split needs train and "rows_start_at": 1')
    start = content["rows_start_at"]
    if start is True or start != 1:
        raise InputError(f"{path}: rows_start_at must be 1 (rows count from 1), not {_short(start)}")
    if content.get("num_rows") not in (None, num_rows):
        raise InputError(
            f"{path} was made for a table of {_short(content['num_rows'])} rows, this one has {num_rows}: "
            "split this table anew"
        )
    if None not in (data_sha256, content.get("data_sha256")) and content["data_sha256"] != data_sha256:
        raise InputError(
            f"{path} was made for other data (sha256 {_short(content['data_sha256'])}, not {data_sha256!r}): "
            "split this table anew, or delete data_sha256 from the file if the rows are the same"
        )
    part_of_row = _parts_of_rows(path, content, num_rows)
    numbers = np.arange(1, num_rows + 1) if rows is None else np.asarray(rows, dtype=np.int64)
    parts = part_of_row[numbers]
    split = Split(**{name: np.flatnonzero(parts == code) for code, name in enumerate(PARTS)})
    if not len(split.train):
        raise InputError(f"{path}: no usable row is in train: nothing to learn from")
    return split


def _read(path: Path, num_rows: int) -> dict[str, Any]:
    limit = BYTES_PER_ROW * num_rows + 4096
    try:
        with path.open("rb") as file:
            text = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"cannot read the split {path}: {error.strerror or error}") from None
    if len(text) > limit:
        raise InputError(f"{path} is too large for a split of {num_rows} rows: is it another file?")
    try:
        content = json.loads(text, object_pairs_hook=_unique_keys)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{path} is not a split in JSON: {reason}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a split: JSON with the keys {', '.join(KEYS)} is needed")
    return content


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the key {_short(twice)} is there twice; keep one")
    return content


def _parts_of_rows(path: str | Path, content: dict[str, Any], num_rows: int) -> np.ndarray:
    """The part code of each row number `[num_rows + 1]`, -1 for none; number 0 is no row."""
    part_of_row = np.full(num_rows + 1, -1, dtype=np.int64)
    for code, part in enumerate(PARTS):
        numbers = content.get(part, [])
        if not isinstance(numbers, list):
            raise InputError(f"{path}: {part} must be a list of row numbers, not {_short(numbers)}")
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= num_rows:
                raise InputError(f"{path}: {part} holds {_short(number)}, not a row number from 1 to {num_rows}")
            if part_of_row[number] >= 0:
                other = PARTS[part_of_row[number]]
                where = f"twice in {part}" if other == part else f"in {other} and in {part}"
                raise InputError(f"{path}: row {number} is {where}; keep it in one part")
            part_of_row[number] = code
    return part_of_row


def _short(value: object) -> str:
    """A value of the file for a message of one line."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
