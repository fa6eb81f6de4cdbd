"""What the loop trains on: graphs, labels, weights and what is joined after the readout, all as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from scoregnn.graphs.store import GraphBatch, MoleculeStore


@dataclass(frozen=True)
class TrainingData:
    """One row a molecule.

    store: the graphs. targets: float64 [n, num_targets], measured values or class codes, NaN where missing.
    bounds: int8 [n, num_targets], +1 where the true value lies above, -1 below, 0 for an exact label.
    weights: float64 [n]. features: float64 [n, num_features], columns of the user joined after the readout.
    """

    store: MoleculeStore
    targets: Tensor
    bounds: Tensor
    weights: Tensor
    features: Tensor

    def __len__(self) -> int:
        return len(self.store)


@dataclass(frozen=True)
class ScaledData:
    """The same rows as the network sees them: float32, targets and joined columns standardised."""

    store: MoleculeStore
    targets: Tensor
    bounds: Tensor
    weights: Tensor
    joined: Tensor


def shuffled_batches(rows: Tensor, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """`rows` in random order, in batches as equal as can be (no small rest at the end)."""
    order = rows[torch.randperm(len(rows), generator=generator)]
    return iter(torch.tensor_split(order, num_batches(len(rows), batch_size)))


def num_batches(num_rows: int, batch_size: int) -> int:
    return -(-num_rows // batch_size)


def ordered_batches(store: MoleculeStore, rows: Tensor, batch_size: int) -> Iterator[tuple[Tensor, GraphBatch]]:
    """`rows` in the order given, with their graphs."""
    for part in rows.split(batch_size):
        yield part, store.batch(part)
