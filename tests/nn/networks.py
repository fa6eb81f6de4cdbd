"""Small networks on real molecules, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scoregnn.config import Config
from scoregnn.graphs.store import MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.training.model import build_network
from scoregnn.training.task import Task


def make_network(num_outputs: int = 2, **settings: Any) -> Any:
    """A network in evaluation mode; its weights follow from `seed`."""
    config = Config(**{"hidden": 24, "heads": 4, "steps": 3} | settings)
    torch.manual_seed(config.seed)
    names = tuple(f"y{number}" for number in range(num_outputs))
    return build_network(config, Task("regression", names, ("",) * num_outputs), 0).eval()


def make_store(smiles: Sequence[str]) -> MoleculeStore:
    return MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in smiles])


def predict(network: Any, store: MoleculeStore, index: Sequence[int] | None = None) -> Tensor:
    """Outputs of the molecules at these places, of all by default."""
    rows = range(len(store)) if index is None else index
    with torch.no_grad():
        return network(store.batch(torch.tensor(list(rows), dtype=torch.long)))  # type: ignore[no-any-return]
