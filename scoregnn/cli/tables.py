"""The labelled table that a verb works on: a packaged data set or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoregnn.errors import InputError
from scoregnn.graphs.tables import LabelledTable, read_labelled


def read_table(
    dataset: str | None, data: str | None, reading: Mapping[str, Any]
) -> tuple[LabelledTable, str, tuple[str, ...]]:
    """The table, a name for the run folder, and the units that are known.

    reading: options of `read_labelled`. Raises `InputError` unless exactly one of `dataset` and `data` is given.
    """
    if (dataset is None) == (data is None):
        raise InputError("give either --dataset NAME or --data FILE, one of the two")
    if dataset is not None:
        from scoregnn.datasets import get

        chosen = get(dataset)
        options = {name: value for name, value in reading.items() if value and value != "auto"}
        if options.pop("smiles_column", None):
            raise InputError("--smiles-column is for --data; a packaged data set knows its own")
        units = () if reading.get("target_columns") else chosen.card.units
        return chosen.table(**options), chosen.name, units
    return read_labelled(str(data), **reading), _name_of(str(data)), ()


def _name_of(path: str) -> str:
    """A name for the run folder: that of the file without its endings."""
    return "table" if path == "-" else Path(path).name.split(".")[0] or "table"
