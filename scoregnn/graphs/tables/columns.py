"""Names of columns, and which of them holds the SMILES."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scoregnn.errors import InputError
from scoregnn.graphs.tables.messages import counted, listed, no_column, shown

SMILES_NAMES = (
    "smiles",
    "canonical_smiles",
    "isomeric_smiles",
    "cansmiles",
    "cxsmiles",
    "smiles_string",
    "rdkit_smiles",
    "parent_smiles",
    "standardized_smiles",
    "standardised_smiles",
    "std_smiles",
    "molecule_smiles",
    "mol_smiles",
    "compound_smiles",
    "ligand_smiles",
    "drug_smiles",
    "solute_smiles",
    "smile",
    "smi",
    "structure",
    "structures",
    "chemical_structure",
    "molecule",
    "molecules",
    "mol",
    "mols",
    "drug",
    "ligand",
)
"""Names by which a column of SMILES is known, best first; case does not count, nor blank for underscore."""

MAX_COLUMNS = 100_000

_SMILES = re.compile(r"(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:/\\.~()<>]|%\d\d|\d)+")
_ATOM = re.compile(r"[A-Za-z*]")
_LOOKED_AT = 1000


def is_smiles_name(cell: str) -> bool:
    """Whether a header cell is a known name of a SMILES column."""
    return _plain(cell) in SMILES_NAMES


def looks_like_smiles(cell: str) -> bool:
    """A cheap look at the characters: symbols of SMILES only, at least one atom, so no number."""
    text = cell.strip()
    if len(text) > _LOOKED_AT:
        text = text[:_LOOKED_AT].rpartition("[")[0] or text[:_LOOKED_AT]
    return bool(_SMILES.fullmatch(text)) and bool(_ATOM.search(text))


def likeness(cells: Sequence[str]) -> float:
    """Share of the non-empty cells that look like SMILES, in [0, 1]."""
    filled = [cell for cell in cells if cell.strip()]
    return sum(map(looks_like_smiles, filled)) / len(filled) if filled else 0.0


@dataclass(frozen=True)
class Names:
    """Unique column names, which of them were missing in the header, and what was changed."""

    columns: tuple[str, ...]
    unnamed: frozenset[str]
    notes: tuple[str, ...]


def unique_names(header: Sequence[str], source: str) -> Names:
    """Column names from a header: stripped, the missing ones numbered, the repeated ones told apart.

    Raises:
        InputError: more than `MAX_COLUMNS` columns.
    """
    if len(header) > MAX_COLUMNS:
        raise InputError(f"{source}: {len(header):,} columns; at most {MAX_COLUMNS:,} can be read")
    stripped = [cell.strip() for cell in header]
    taken = {name for name in stripped if name}
    seen: set[str] = set()
    columns: list[str] = []
    unnamed: list[str] = []
    repeated: list[str] = []
    copies: dict[str, int] = {}
    for position, name in enumerate(stripped, start=1):
        unique = name or f"column_{position}"
        while unique in seen or (unique != name and unique in taken):
            copies[name] = copies.get(name, 1) + 1
            unique = f"{name or f'column_{position}'}.{copies[name]}"
        if not name:
            unnamed.append(unique)
        elif unique != name:
            repeated.append(unique)
        seen.add(unique)
        columns.append(unique)
    notes = []
    if unnamed:
        notes.append(f"{counted(len(unnamed), 'column')} without a name: called {listed(unnamed, 5)}.")
    if repeated:
        notes.append(f"Warning: repeated column names; the later ones are called {listed(repeated, 5)}.")
    return Names(tuple(columns), frozenset(unnamed), tuple(notes))


def choose_smiles(
    columns: Sequence[str], sample: Sequence[Sequence[str]], smiles_column: str | None, source: str
) -> tuple[int, str]:
    """Position of the SMILES column of a table with a header, and a note saying how it was found.

    Args:
        columns: unique names.
        sample: cells of the first rows, each as long as `columns` or shorter.
        smiles_column: the user's choice.

    Raises:
        InputError: no such column, or none that holds SMILES.
    """
    if smiles_column is not None:
        if smiles_column not in columns:
            raise InputError(no_column(source, smiles_column, columns))
        return columns.index(smiles_column), f"SMILES are read from the column {shown(smiles_column)}."
    plain = [_plain(name) for name in columns]
    known = sorted((SMILES_NAMES.index(name), at) for at, name in enumerate(plain) if name in SMILES_NAMES)
    if known:
        at = known[0][1]
        others = [columns[other] for _, other in known[1:]]
        more = f" (not from {listed(others, 3)}; --smiles-column chooses)" if others else ""
        return at, f"SMILES are read from the column {shown(columns[at])}{more}."
    share, at = best_column(sample, len(columns))
    if share < 0.5:
        raise InputError(
            f"{source}: no column of SMILES was found; name it with --smiles-column (the columns are {listed(columns)})"
        )
    return at, f"SMILES are read from the column {shown(columns[at])}, by the look of its cells."


def best_column(sample: Sequence[Sequence[str]], width: int) -> tuple[float, int]:
    """The column whose cells look most like SMILES, the first of equals, as (share, position)."""
    shares = [likeness([row[at] for row in sample if at < len(row)]) for at in range(width)]
    best = max(shares, default=0.0)
    return best, shares.index(best) if shares else 0


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().casefold()[:100])
