"""Readouts in one pass over the atoms."""

from __future__ import annotations

from torch import Tensor, nn

from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.readouts.base import Readout
from scoregnn.nn.segments import segment_max, segment_mean, segment_softmax, segment_sum


class SumReadout(Readout):
    """Sum of the atoms of each molecule: [num_atoms, hidden] -> [num_molecules, hidden]."""

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        return segment_sum(atoms, graph.molecule, graph.num_molecules)


class MeanReadout(Readout):
    """Mean of the atoms of each molecule: [num_atoms, hidden] -> [num_molecules, hidden]."""

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        return segment_mean(atoms, graph.molecule, graph.num_molecules)


class MaxReadout(Readout):
    """Largest value of each component over the atoms: [num_atoms, hidden] -> [num_molecules, hidden]."""

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        return segment_max(atoms, graph.molecule, graph.num_molecules)


class AttentionReadout(Readout):
    """Weighted mean of the atoms, the weights a softmax within the molecule of a learned score.

    Source: the global attention of Li et al. 2016 (arXiv 1511.05493), with a two-layer score.
    Shapes: [num_atoms, hidden] -> [num_molecules, hidden].
    """

    def __init__(self, hidden: int) -> None:
        super().__init__(hidden)
        self.score = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        weights = segment_softmax(self.score(atoms), graph.molecule, graph.num_molecules)
        return segment_sum(weights * atoms, graph.molecule, graph.num_molecules)
