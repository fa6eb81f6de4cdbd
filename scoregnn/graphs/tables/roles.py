"""Which column of a labelled table plays which part, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoregnn.errors import InputError
from scoregnn.graphs.tables.messages import shown
from scoregnn.graphs.tables.table import Table


@dataclass(frozen=True)
class Roles:
    """Names of the columns by what they are used for; `targets` is empty while still to be found."""

    targets: tuple[str, ...]
    weight: str | None
    features: tuple[str, ...]
    others: tuple[str, ...]

    @classmethod
    def of(cls, targets: Sequence[str], weight: str | None, features: Sequence[str], others: Sequence[str]) -> Roles:
        for name, value in (
            ("target_columns", targets),
            ("feature_columns", features),
            ("other_columns", others),
        ):
            if isinstance(value, str):
                raise InputError(f"{name} must be a list of names, not the text {shown(value)}")
        return cls(_clean(targets), weight.strip() if weight is not None else None, _clean(features), _clean(others))

    @property
    def named(self) -> tuple[str, ...]:
        """All of them, for the reader to look for."""
        weight = () if self.weight is None else (self.weight,)
        return (*self.targets, *weight, *self.features, *self.others)

    def check(self, table: Table) -> None:
        """Raises `InputError` where a column has two parts; one that splits the rows may be a feature too."""
        parts: dict[str, str] = {}
        if table.smiles_column:
            parts[table.smiles_column] = "SMILES"
        given = [(name, "target") for name in self.targets]
        given += [(self.weight, "weight")] if self.weight is not None else []
        given += [(name, "feature") for name in self.features]
        for name, part in given:
            if name in parts:
                both = f"{part} twice" if parts[name] == part else f"both {parts[name]} and {part}"
                raise InputError(f"{table.source}: the column {shown(name)} is named as {both}; choose one")
            parts[name] = part
        for name in self.others:
            if parts.get(name) in ("target", "SMILES"):
                raise InputError(f"{table.source}: the column {shown(name)} cannot be the {parts[name]} and split rows")


def _clean(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in names)
