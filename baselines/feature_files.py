"""Features of molecules in one npz file, which several processes share."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rdkit import rdBase

from scoregnn.errors import RunFolderError
from scoregnn.files import atomic_file
from scoregnn.molecules import MolBlock, MoleculeInput

PART_TYPES: dict[str, type[np.generic]] = {
    "descriptors": np.float64,
    "fast-descriptors": np.float64,
    "morgan-bits": np.uint8,
    "morgan-counts": np.uint16,
    "delaney": np.float64,
}
"""Kinds of columns and the type they are kept in; bits are packed, eight in a byte."""

FORMAT = "scoregnn-features-1"


@dataclass(frozen=True, eq=False)
class Reading:
    """What is known of a molecule: its identity key, and a row of numbers for each part that was asked for."""

    key: str
    parts: Mapping[str, NDArray[Any]]


def digest(item: MoleculeInput) -> bytes:
    """32 bytes that stand for an input as it was given; two spellings of a molecule have two."""
    if isinstance(item, bytes):
        return hashlib.sha256(b"binary:" + item).digest()
    text = f"block:{item.text}" if isinstance(item, MolBlock) else f"smiles:{item}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def stored_width(part: str, names: Sequence[str]) -> int:
    """Numbers kept for a part of so many columns."""
    return (len(names) + 7) // 8 if part == "morgan-bits" else len(names)


def write_feature_file(
    path: Path | str,
    known: Mapping[bytes, Reading],
    parts: Sequence[str],
    standardize: str,
    names: Mapping[str, Sequence[str]],
) -> None:
    """Writes the readings in one step; raises `InputError` where the file cannot be written."""
    content: dict[str, NDArray[Any]] = {
        "format": np.array(FORMAT),
        "rdkit": np.array(rdBase.rdkitVersion),
        "standardize": np.array(standardize),
        "digests": np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, 32),
        "keys": np.array([reading.key for reading in known.values()], dtype=np.str_),
    }
    for part in parts:
        rows = [reading.parts[part] for reading in known.values()]
        content[part] = np.array(rows, dtype=PART_TYPES[part]).reshape(-1, stored_width(part, names[part]))
    with atomic_file(path) as file:
        np.savez_compressed(file, allow_pickle=False, **content)


def read_feature_file(path: Path | str, names: Mapping[str, Sequence[str]]) -> tuple[dict[bytes, Reading], str]:
    """The readings by digest, and the standardisation policy they were made under.

    Raises `RunFolderError` for a file that is missing, damaged, or made with another RDKit.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise RunFolderError(f"{path} does not exist") from None
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise RunFolderError(f"{path} is damaged: it is no file of features ({error})") from None
    if str(content.pop("format", "")) != FORMAT:
        raise RunFolderError(f"{path} is no file of features of this program")
    version, standardize = str(content.pop("rdkit", "")), str(content.pop("standardize", ""))
    if version != rdBase.rdkitVersion:
        raise RunFolderError(f"{path} was made with RDKit {version}, this is {rdBase.rdkitVersion}; write it anew")
    digests, keys = content.pop("digests", np.empty(0)), content.pop("keys", np.empty(0))
    shapes = {part: (len(keys), stored_width(part, columns)) for part, columns in names.items()}
    if (
        digests.dtype != np.uint8
        or keys.ndim != 1
        or digests.shape != (len(keys), 32)
        or any(part not in PART_TYPES or rows.shape != shapes[part] for part, rows in content.items())
        or any(rows.dtype != PART_TYPES[part] for part, rows in content.items())
    ):
        raise RunFolderError(f"{path} is damaged: its arrays do not fit together")
    found = {
        digests[row].tobytes(): Reading(str(keys[row]), {part: rows[row] for part, rows in content.items()})
        for row in range(len(keys))
    }
    return found, standardize
