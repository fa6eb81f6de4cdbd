"""The data sets by name. A module of this package that holds a `CARD` is one; nothing else registers it."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

import scoregnn.datasets
from scoregnn.config import suggestion
from scoregnn.datasets.card import DatasetCard
from scoregnn.datasets.dataset import Dataset
from scoregnn.errors import InputError

_OTHERS = frozenset({"build", "card", "dataset", "reference_splits", "registry", "summary"})
"""Modules of this package that are no data sets; to list the data sets must not load RDKit or torch."""


@functools.cache
def cards() -> Mapping[str, DatasetCard]:
    """All cards by name, in alphabetical order."""
    found = {}
    for module in pkgutil.iter_modules(scoregnn.datasets.__path__):
        if module.name in _OTHERS:
            continue
        card = getattr(importlib.import_module(f"scoregnn.datasets.{module.name}"), "CARD", None)
        if isinstance(card, DatasetCard):
            found[card.name] = card
    return MappingProxyType(dict(sorted(found.items())))


def names() -> tuple[str, ...]:
    """Names of the data sets, in alphabetical order."""
    return tuple(cards())


def get(name: str) -> Dataset:
    """The data set of that name; case does not count.

    Raises:
        InputError: there is none; close names are suggested.
    """
    card = cards().get(name.strip().lower())
    if card is None:
        raise InputError(f"unknown data set {name!r}{suggestion(name, names())}")
    return Dataset(card)
