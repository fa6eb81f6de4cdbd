"""What is predicted: regression or classification, of which targets, in which units."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoregnn.errors import InputError


@dataclass(frozen=True)
class Task:
    """The targets of a model.

    kind: "regression" or "classification". targets: their names. units: one text a target, "" where unknown.
    classes: for classification the labels of each target; code k in the data is the k-th label.
    """

    kind: str
    targets: tuple[str, ...]
    units: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in ("regression", "classification"):
            raise InputError(f"unknown task {self.kind!r}; known: regression, classification")
        if not self.targets or len(self.units) != len(self.targets):
            raise InputError(f"{len(self.targets)} targets with {len(self.units)} units; each needs one")
        wanted = len(self.targets) if self.kind == "classification" else 0
        if len(self.classes) != wanted or any(len(labels) < 2 for labels in self.classes):
            raise InputError(f"{self.kind} of {len(self.targets)} targets cannot have the classes {self.classes}")

    @property
    def widths(self) -> tuple[int, ...]:
        """Network outputs of each target: 1 for a number or two classes (one logit), otherwise one a class."""
        if self.kind == "regression":
            return (1,) * len(self.targets)
        return tuple(1 if len(labels) == 2 else len(labels) for labels in self.classes)

    @property
    def num_outputs(self) -> int:
        return sum(self.widths)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Task:
        return cls(
            kind=values["kind"],
            targets=tuple(values["targets"]),
            units=tuple(values["units"]),
            classes=tuple(tuple(labels) for labels in values["classes"]),
        )
