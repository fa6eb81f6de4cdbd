"""One data set: its card and its rows."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scoregnn.datasets.card import DatasetCard
from scoregnn.errors import InputError
from scoregnn.graphs.tables import LabelledTable, read_labelled


@dataclass(frozen=True)
class Dataset:
    """A data set that comes with the package."""

    card: DatasetCard

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def path(self) -> Path:
        """The packaged CSV: columns `name`, `smiles`, the targets, and predictions by others if any."""
        return Path(str(importlib.resources.files("scoregnn.datasets").joinpath("data", self.card.file)))

    def verify(self) -> None:
        """Raises `InputError` where the packaged table is missing or not what its card says (sha256)."""
        try:
            found = hashlib.sha256(self.path.read_bytes()).hexdigest()
        except OSError as error:
            raise InputError(
                f"data set {self.name}: {self.path} cannot be read ({error.strerror}); install scoregnn again"
            ) from None
        if found != self.card.sha256:
            raise InputError(
                f"data set {self.name}: {self.path} is damaged or was changed (sha256 {found[:12]}…, not"
                f" {self.card.sha256[:12]}…); install scoregnn again"
            )

    def table(
        self,
        *,
        target_columns: Sequence[str] = (),
        task: str = "",
        weight_column: str | None = None,
        feature_columns: Sequence[str] = (),
        censored: bool = False,
        skip_bad_rows: bool = False,
        other_columns: Sequence[str] = (),
    ) -> LabelledTable:
        """The rows, checked against the card's hash; options as for `read_labelled`, defaults from the card.

        Raises:
            InputError: the file is damaged; a prediction by others is asked for as target, weight or feature;
                and whatever `read_labelled` raises.
        """
        self.verify()
        for name in (*target_columns, *feature_columns, weight_column):
            if name in self.card.baseline_columns:
                raise InputError(
                    f"data set {self.name}: {name!r} is a prediction by others, to compare with;"
                    " it cannot be trained on"
                )
        table = read_labelled(
            self.path,
            smiles_column="smiles",
            target_columns=tuple(target_columns) or self.card.targets,
            task=task or ("auto" if target_columns else self.card.task),
            weight_column=weight_column,
            feature_columns=feature_columns,
            censored=censored,
            skip_bad_rows=skip_bad_rows,
            other_columns=other_columns,
        )
        return dataclasses.replace(table, source=f"data set {self.name}")
