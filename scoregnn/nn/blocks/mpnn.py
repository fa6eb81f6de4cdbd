"""Message passing with a multilayer perceptron on source, target and bond."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block, edges
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_sum


class MPNNContext(NamedTuple):
    source: Tensor
    target: Tensor
    bond_terms: Tensor
    num_atoms: int


class MPNNBlock(Block):
    r"""Summed messages (Gilmer et al. 2017, arXiv 1704.01212) with the message MLP of the SCORE experiments.

        m_ij = ReLU(W_1 [h_j, h_i, b_ij] + c_1)
        F(h)_i = act(W_2 sum_j m_ij + c_2)

    j runs over the neighbours of atom i (and i itself with self-loops). W_1 is kept as three maps, so that atoms
    are mapped once and not for every bond, and bonds once and not for every iteration; W_2 commutes with the sum.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(
        self, hidden: int, bond_dim: int, *, self_loops: bool = False, activation: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.self_loops = self_loops
        self.lin_source = nn.Linear(hidden, hidden, bias=False)
        self.lin_target = nn.Linear(hidden, hidden, bias=False)
        self.lin_bond = nn.Linear(bond_dim, hidden)
        self.lin_out = nn.Linear(hidden, hidden)
        self.activation = nn.ReLU() if activation is None else activation

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim, self_loops=config.uses_self_loops)

    def prepare(self, graph: EmbeddedGraph) -> MPNNContext:
        source, target, bonds = edges(graph, self.self_loops)
        return MPNNContext(source, target, self.lin_bond(bonds), graph.num_atoms)

    def forward(self, h: Tensor, context: MPNNContext) -> Tensor:
        return self.activation(self.summed_messages(h, context))  # type: ignore[no-any-return]

    def summed_messages(self, h: Tensor, context: MPNNContext) -> Tensor:
        """V(h) = W_2 sum_j m_ij + c_2: [num_atoms, hidden]."""
        from_source = self.lin_source(h).index_select(0, context.source)
        to_target = self.lin_target(h).index_select(0, context.target)
        messages = (from_source + to_target + context.bond_terms).relu()
        return self.lin_out(segment_sum(messages, context.target, context.num_atoms))  # type: ignore[no-any-return]


class AdditiveMPNNBlock(MPNNBlock):
    r"""The message MLP in the additive form of the SCORE experiments: F(h) = h + V(h), V(h) as in `MPNNBlock`.

    With the contractive velocity Euler's step is then h + dt V(h): a residual update, NOT a contraction. No activation
    follows V; a recurrence that applies one after each step gets the ReLU (or `activation`).

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def forward(self, h: Tensor, context: MPNNContext) -> Tensor:
        return h + self.summed_messages(h, context)
