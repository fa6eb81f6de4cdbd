"""From molecules to the matrix that the baselines learn from; every molecule is read once in a process.

Kinds of columns, joined by `+` where several are wanted:
    none: no column. descriptors: RDKit's descriptor list. fast-descriptors: the fast set of
    `scoregnn.molecules.descriptors`. morgan-bits, morgan-counts: Morgan fingerprints, radius 2, 2,048 columns.
    delaney: the four properties of Delaney's equation.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoregnn.baselines.feature_files import PART_TYPES, Reading, digest, read_feature_file, write_feature_file
from scoregnn.config import suggestion
from scoregnn.errors import InputError
from scoregnn.molecules import (
    ATOM_FEATURES,
    FeaturizeOptions,
    Featurizer,
    Molecule,
    MoleculeInput,
    Refusal,
    descriptor_names,
)

Floats = NDArray[np.float64]

PARTS = tuple(PART_TYPES)
FEATURE_KINDS = ("none", *PARTS, "descriptors+morgan-bits", "descriptors+morgan-counts")
"""Kinds to offer; any other joint of different parts is understood as well."""

MOST_KEPT = 50_000
"""Molecules kept in memory, up to about 8 kB each; the longest unused goes first."""

_MORGAN_SIZE = 2048
_MOST_COUNTED = 65_535  # of uint16; no environment of a molecule but a huge polymer occurs as often
_DELANEY = ("CrippenClogP", "amw", "NumRotatableBonds")


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Rows of `read_features_of`.

    values: [n, num_columns], NaN where RDKit cannot compute one and throughout a refused row. keys: identity of each
    row, "" if refused. refused: reason by row, counted from 0.
    """

    values: Floats
    keys: list[str]
    refused: dict[int, str]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that could be read."""
        return np.array([row for row in range(len(self.keys)) if row not in self.refused], dtype=np.int64)


def parts_of(kind: object) -> tuple[str, ...]:
    """The parts that a kind joins; raises `InputError` for an unknown one and one that is there twice."""
    if kind == "none":
        return ()
    parts = tuple(str(kind).split("+"))
    for part in parts:
        if part not in PARTS:
            raise InputError(f"unknown features {kind!r}{suggestion(str(kind), FEATURE_KINDS)}")
    if len(set(parts)) < len(parts):
        raise InputError(f"features {kind!r} name one part twice")
    if "descriptors" in parts and "fast-descriptors" in parts:
        raise InputError(f"features {kind!r}: join one kind of descriptors, for most of them are in both")
    return parts


def column_names(kind: str) -> tuple[str, ...]:
    """Names of the columns of a kind, in order; raises `InputError` for an unknown kind."""
    return tuple(name for part in parts_of(kind) for name in _names(part))


def is_descriptor(kind: str) -> NDArray[np.bool_]:
    """For each column of a kind whether it is a descriptor, which may be missing, infinite or huge."""
    return np.array([not part.startswith("morgan") for part in parts_of(kind) for _ in _names(part)], dtype=bool)


def feature_kinds_of(models: Iterable[Any]) -> set[str]:
    """The kinds of columns that these estimators read; models that read none, such as networks, count for nothing."""
    return {kind for model in models if (kind := getattr(model, "feature_kind", "none")) != "none"}


def read_features_of(
    items: Sequence[MoleculeInput],
    kind: str,
    *,
    standardize: str = "as-drawn",
    time_limit: float = 20.0,
    workers: int | None = None,
) -> FeatureTable:
    """The matrix of molecules, read in worker processes unless they are known already.

    Raises `InputError` for an unknown kind or policy. A molecule that cannot be read is a refused row.
    """
    parts = parts_of(kind)
    readings = _read(items, parts, standardize, time_limit, workers)
    values = np.full((len(items), len(column_names(kind))), np.nan)
    keys, refused = [""] * len(items), {}
    for row, reading in enumerate(readings):
        if isinstance(reading, Refusal):
            refused[row] = reading.reason
            continue
        keys[row] = reading.key
        if parts:
            values[row] = np.concatenate([_opened(part, reading.parts[part]) for part in parts])
    return FeatureTable(values, keys, refused)


def write_feature_cache(
    path: Any,
    items: Sequence[MoleculeInput],
    kinds: Iterable[str],
    *,
    standardize: str = "as-drawn",
    time_limit: float = 20.0,
    workers: int | None = None,
) -> None:
    """Reads molecules and writes all that these kinds need of them to one npz file, for `load_feature_cache`.

    Molecules that cannot be read are left out, and are tried again by whoever meets them.
    """
    parts = tuple(part for part in PARTS if any(part in parts_of(kind) for kind in kinds))
    readings = _read(items, parts, standardize, time_limit, workers)
    known = {
        digest(item): reading for item, reading in zip(items, readings, strict=True) if not isinstance(reading, Refusal)
    }
    write_feature_file(path, known, parts, standardize, {part: _names(part) for part in parts})


def load_feature_cache(path: Any) -> int:
    """Takes in what `write_feature_cache` wrote; gives the number of molecules.

    Raises `RunFolderError` for a file that is missing, damaged or of another RDKit. What is read is trusted to belong
    to the molecules it names: load only files of your own.
    """
    known, standardize = read_feature_file(path, {part: _names(part) for part in PARTS})
    for name, reading in known.items():
        _keep((name, standardize), reading)
    return len(known)


def clear_feature_cache() -> None:
    """Forgets all molecules."""
    with _lock:
        _kept.clear()


_kept: OrderedDict[tuple[bytes, str], Reading] = OrderedDict()
_lock = threading.Lock()


def _keep(place: tuple[bytes, str], reading: Reading) -> None:
    with _lock:
        _kept[place] = _joined(_kept.get(place), reading)
        _kept.move_to_end(place)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)


def _read(
    items: Sequence[MoleculeInput], parts: tuple[str, ...], standardize: str, time_limit: float, workers: int | None
) -> list[Reading | Refusal]:
    """One reading for each item with at least these parts."""
    places = [(digest(item), standardize) for item in items]
    known: dict[tuple[bytes, str], Reading | Refusal] = {}
    with _lock:
        for place in places:
            if place in _kept:
                known[place] = _kept[place]
                _kept.move_to_end(place)
    for wanted in _passes(parts):
        unknown = {
            place: item for place, item in zip(places, items, strict=True) if not _suffices(known.get(place), wanted)
        }
        if not unknown:
            continue
        with Featurizer(_options(wanted, standardize), time_limit=time_limit, workers=workers) as featurizer:
            for place, molecule in zip(unknown, featurizer.map(unknown.values()), strict=True):
                # Refusals are not kept: a time limit may have caused one.
                if isinstance(molecule, Refusal):
                    known[place] = molecule
                    continue
                known[place] = _joined(known.get(place), _reading(molecule, wanted))
                _keep(place, _reading(molecule, wanted))
    return [known[place] for place in places]


def _suffices(reading: Reading | Refusal | None, parts: tuple[str, ...]) -> bool:
    if reading is None:
        return False
    return isinstance(reading, Refusal) or all(part in reading.parts for part in parts)


def _joined(before: Reading | Refusal | None, reading: Reading) -> Reading:
    return Reading(reading.key, {**before.parts, **reading.parts}) if isinstance(before, Reading) else reading


def _passes(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The parts, so divided that each reading of a molecule computes one list of descriptors at most."""
    fast = tuple(part for part in parts if part in ("fast-descriptors", "delaney"))
    if not fast or "descriptors" not in parts:
        return [parts]
    return [tuple(part for part in parts if part not in fast), fast]


def _options(parts: tuple[str, ...], standardize: str) -> FeaturizeOptions:
    fast = "fast-descriptors" in parts or "delaney" in parts
    return FeaturizeOptions(
        standardize=standardize,
        descriptors="full" if "descriptors" in parts else "fast" if fast else "none",
        identity=True,
        fingerprint="morgan-bits" in parts,
        fingerprint_counts="morgan-counts" in parts,
    )


def _reading(molecule: Molecule, parts: tuple[str, ...]) -> Reading:
    counts = molecule.fingerprint_counts
    values: dict[str, NDArray[Any] | None] = {
        "descriptors": molecule.descriptors,
        "fast-descriptors": molecule.descriptors,
        "morgan-bits": molecule.fingerprint,
        "morgan-counts": None if counts is None else counts.clip(max=_MOST_COUNTED),
        "delaney": _delaney(molecule) if "delaney" in parts else None,
    }
    return Reading(molecule.key or "", {part: np.asarray(values[part], dtype=PART_TYPES[part]) for part in parts})


def _delaney(molecule: Molecule) -> Floats:
    """Crippen logP, molecular weight (g/mol), rotatable bonds, share of heavy atoms that are aromatic."""
    assert molecule.descriptors is not None
    fast = dict(zip(_names("fast-descriptors"), molecule.descriptors, strict=True))
    columns = [category.name for category in ATOM_FEATURES]
    element, aromatic = (molecule.atoms[:, columns.index(name)] for name in ("element", "aromatic"))
    codes = ATOM_FEATURES[columns.index("element")].codes
    heavy = int((~np.isin(element, [codes["*"], codes["H"]])).sum())
    share = aromatic.sum() / max(heavy, 1)
    return np.array([*(fast[name] for name in _DELANEY), share])


def _opened(part: str, stored: NDArray[Any]) -> NDArray[Any]:
    return np.unpackbits(stored) if part == "morgan-bits" else stored


@cache
def _names(part: str) -> tuple[str, ...]:
    if part == "delaney":
        return (*_DELANEY, "aromatic_proportion")
    if part.startswith("morgan"):
        return tuple(f"{part.replace('-', '_')}_{number}" for number in range(_MORGAN_SIZE))
    return descriptor_names("full" if part == "descriptors" else "fast")
