"""Whatever holds molecules in Python (lists, arrays, columns) into inputs of `scoregnn.molecules`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rdkit import Chem

from scoregnn.errors import InputError
from scoregnn.molecules import MolBlock, MoleculeInput


def as_molecule_inputs(X: Any) -> list[MoleculeInput]:
    """One input for each element of `X`, in order.

    `X` is a list, tuple, numpy array, or a pandas, polars or pyarrow column (also a table of one column) of
    SMILES, RDKit molecules, `MolBlock` records or bytes of `Mol.ToBinary()`. A missing value (None, NaN, NA)
    becomes "", which is refused as empty wherever it is read, in its own row. Raises `InputError` for a
    single molecule instead of a sequence, for several columns, and naming the row (counted from 1) for any
    other element.
    """
    if isinstance(X, str | bytes | MolBlock | Chem.Mol):
        raise InputError("a sequence of molecules is needed, not a single one: put it into a list")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise InputError(f"one column of molecules is needed, not an array of shape {tuple(shape)}")
        X = np.asarray(X, dtype=object)[:, 0]
    if hasattr(X, "to_pylist"):
        X = X.to_pylist()
    if isinstance(X, Mapping | set | frozenset) or not isinstance(X, Iterable):
        raise InputError(f"a sequence of molecules (list, array, column) is needed, not {type(X).__name__}")
    return [_as_input(item, row) for row, item in enumerate(X, start=1)]


def _as_input(item: object, row: int) -> MoleculeInput:
    if isinstance(item, str):
        return str(item)
    if isinstance(item, bytes | MolBlock):
        return item
    if isinstance(item, Chem.Mol):
        return bytes(item.ToBinary())
    if is_missing(item):
        return ""
    raise InputError(f"row {row}: {item!r:.60} is not a molecule; give SMILES or RDKit molecules")


def is_missing(item: object) -> bool:
    """Whether an element stands for nothing: None, NaN, or the NA and NaT of pandas."""
    # Recognised by name, so that pandas need not be installed for its NA and NaT.
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float | np.floating) and math.isnan(item)


def check_on_invalid(on_invalid: object) -> None:
    """Raises `InputError` for anything but the two policies of estimators for molecules that cannot be read."""
    if on_invalid not in ("raise", "nan"):
        raise InputError(f"on_invalid must be 'raise' or 'nan', not {on_invalid!r}")


def report_refused(refused: Mapping[int, str], total: int, *, on_invalid: str, consequence: str) -> None:
    """Says which of `total` molecules cannot be read, by row: an `InputError`, or under "nan" a warning.

    refused: the reason by row, counted from 0 as in `X[0]`. consequence: what a warning says becomes of them.
    """
    if not refused:
        return
    shown = "; ".join(f"X[{row}]: {reason}" for row, reason in list(refused.items())[:5])
    text = f"{len(refused)} of {total} molecules cannot be used: {shown}" + ("; …" if len(refused) > 5 else "")
    if on_invalid == "raise":
        raise InputError(f"{text} (on_invalid='nan' keeps their places)")
    warnings.warn(f"{text}; {consequence}", UserWarning, stacklevel=4)
