"""Graph isomorphism network with bonds in the messages."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_sum


class GINEContext(NamedTuple):
    source: Tensor
    target: Tensor
    bond_terms: Tensor


class GINEBlock(Block):
    r"""Sum of neighbours with bonds, then an MLP (Hu et al. 2020, arXiv 1905.12265).

        F(h)_i = act(MLP((1 + eps) h_i + sum_j ReLU(h_j + W b_ij + c)))        MLP: hidden, ReLU, hidden

    j runs over the neighbours of atom i. The atom's own state is a term of its own: there are no self-loops.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(self, hidden: int, bond_dim: int, *, eps: float = 0.0, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.eps = eps
        self.lin_bond = nn.Linear(bond_dim, hidden)
        first, second = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(first, nn.ReLU(), second)
        self.activation = nn.ReLU() if activation is None else activation
        # Torch's own start would let the state fade by a factor of five in each evaluation.
        for layer in (self.lin_bond, first, second):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim)

    def prepare(self, graph: EmbeddedGraph) -> GINEContext:
        return GINEContext(graph.source, graph.target, self.lin_bond(graph.bonds))

    def forward(self, h: Tensor, context: GINEContext) -> Tensor:
        messages = (h.index_select(0, context.source) + context.bond_terms).relu()
        summed = segment_sum(messages, context.target, h.shape[0])
        return self.activation(self.mlp((1 + self.eps) * h + summed))  # type: ignore[no-any-return]
