"""What the loop trains on: graphs, labels, weights and what is joined after the readout, all as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

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


class NetworkData(Protocol):
    """Rows as a network sees them: what the loop needs to know of them, whatever the network is."""

    @property
    def targets(self) -> Tensor:
        """[n, num_targets], standardised, in the network's precision."""

    @property
    def bounds(self) -> Tensor:
        """int8 [n, num_targets]."""

    @property
    def weights(self) -> Tensor:
        """[n], mean 1 over the training part."""

    def inputs(self, rows: Tensor, device: torch.device | str) -> tuple[Any, ...]:
        """The arguments of the network for `rows`."""


@dataclass(frozen=True)
class ScaledData:
    """The rows of a `TrainingData` as `NetworkData`: float32, targets and joined columns standardised."""

    store: MoleculeStore
    targets: Tensor
    bounds: Tensor
    weights: Tensor
    joined: Tensor

    def inputs(self, rows: Tensor, device: torch.device | str) -> tuple[GraphBatch, Tensor]:
        return self.store.batch(rows).to(device), self.joined[rows].to(device)


@dataclass(frozen=True)
class MatrixData:
    """Rows of a numeric matrix as `NetworkData`. matrix: [n, num_columns], standardised."""

    matrix: Tensor
    targets: Tensor
    bounds: Tensor
    weights: Tensor

    def inputs(self, rows: Tensor, device: torch.device | str) -> tuple[Tensor]:
        return (self.matrix[rows].to(device),)


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
