"""The atom step of AttentiveFP: attention over the neighbours, then a GRU."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_softmax, segment_sum


class AttentiveFPContext(NamedTuple):
    source: Tensor
    target: Tensor
    bond_terms: Tensor


class AttentiveFPBlock(Block):
    r"""Attention with one head and a gated update (Xiong et al. 2020, doi 10.1021/acs.jmedchem.9b00959).

        n_ij = LeakyReLU(W_1 h_j + W_b b_ij)
        e_ij = LeakyReLU(a_n . n_ij + a_t . h_i)                          slopes 0.01
        c_i = ELU(W_2 sum_j softmax_j(e_ij) h_j + bias)
        F(h)_i = act(GRU(c_i, h_i))                                       LeakyReLU

    j runs over the neighbours of atom i; c is the GRU's input and h its state. This is the bond-aware layer of PyG's
    AttentiveFP (GATEConv), iterated. The GRU keeps the atom's own state: there are no self-loops.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(self, hidden: int, bond_dim: int, *, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.lin_neighbour = nn.Linear(hidden, hidden, bias=False)
        self.lin_bond = nn.Linear(bond_dim, hidden, bias=False)
        self.attend_neighbour = nn.Linear(hidden, 1, bias=False)
        self.attend_target = nn.Linear(hidden, 1, bias=False)
        self.lin_value = nn.Linear(hidden, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.activation = nn.LeakyReLU() if activation is None else activation
        for layer in (self.lin_neighbour, self.lin_bond, self.attend_neighbour, self.attend_target, self.lin_value):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.lin_value.bias)

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim)

    def prepare(self, graph: EmbeddedGraph) -> AttentiveFPContext:
        return AttentiveFPContext(graph.source, graph.target, self.lin_bond(graph.bonds))

    def forward(self, h: Tensor, context: AttentiveFPContext) -> Tensor:
        neighbours = self.lin_neighbour(h).index_select(0, context.source) + context.bond_terms
        asked = self.attend_target(h).index_select(0, context.target)
        logits = self.attend_neighbour(nn.functional.leaky_relu(neighbours)) + asked
        weights = segment_softmax(nn.functional.leaky_relu(logits), context.target, h.shape[0])
        mixed = segment_sum(weights * h.index_select(0, context.source), context.target, h.shape[0])
        # W_2 commutes with the weighted sum: one product an atom, not one an edge.
        update = nn.functional.elu(self.lin_value(mixed))
        return self.activation(self.gru(update, h))  # type: ignore[no-any-return]
