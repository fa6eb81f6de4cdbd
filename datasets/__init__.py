"""Data sets that come with the package: a small module and a CSV each, with a card, units and checks.

To add one: a module here with a `CARD` (see `scoregnn.datasets.esol`), then
`python -m scoregnn.datasets.build NAME --output datasets/data`, and the printed sha256 into the card.
"""

from __future__ import annotations

from typing import Any

from scoregnn.datasets.card import DatasetCard, Origin
from scoregnn.datasets.dataset import Dataset
from scoregnn.datasets.registry import cards, get, names

__all__ = ["Dataset", "DatasetCard", "Origin", "cards", "describe", "get", "names"]


def describe(name: str) -> dict[str, Any]:
    """Counts and ranges of a data set, computed from its rows; see `scoregnn.datasets.summary.describe`."""
    from scoregnn.datasets import summary  # RDKit is needed only here

    return summary.describe(name)
