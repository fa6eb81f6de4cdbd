"""Graph attention whose ranking of neighbours depends on the atom that asks."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block, edges
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_softmax, segment_sum


class GATv2Context(NamedTuple):
    source: Tensor
    target: Tensor
    bond_terms: Tensor
    num_atoms: int


class GATv2Block(Block):
    r"""Dynamic graph attention (Brody et al. 2022, arXiv 2105.14491), bonds in the attention logits only.

        e_ij = a . LeakyReLU(W_s h_j + W_t h_i + W_b b_ij)        slope 0.2
        F(h)_i = act(sum_j softmax_j(e_ij) W_s h_j + bias)

    j runs over the neighbours of atom i (and i itself with self-loops); heads are concatenated; W_s and W_t have
    biases of their own.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(
        self, hidden: int, bond_dim: int, *, heads: int, self_loops: bool = False, activation: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.heads, self.channels, self.self_loops = heads, hidden // heads, self_loops
        self.lin_source = nn.Linear(hidden, hidden)
        self.lin_target = nn.Linear(hidden, hidden)
        self.lin_bond = nn.Linear(bond_dim, hidden, bias=False)
        self.attend = nn.Parameter(torch.empty(heads, self.channels))
        self.bias = nn.Parameter(torch.empty(hidden))
        self.activation = nn.LeakyReLU() if activation is None else activation
        self.reset_parameters()

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim, heads=config.heads, self_loops=config.uses_self_loops)

    def reset_parameters(self) -> None:
        for weight in (self.lin_source.weight, self.lin_target.weight, self.lin_bond.weight, self.attend):
            nn.init.xavier_uniform_(weight)
        for bias in (self.lin_source.bias, self.lin_target.bias, self.bias):
            nn.init.zeros_(bias)

    def prepare(self, graph: EmbeddedGraph) -> GATv2Context:
        source, target, bonds = edges(graph, self.self_loops)
        return GATv2Context(source, target, self.lin_bond(bonds), graph.num_atoms)

    def forward(self, h: Tensor, context: GATv2Context) -> Tensor:
        values = self.lin_source(h).index_select(0, context.source)
        asked = self.lin_target(h).index_select(0, context.target)
        hidden = nn.functional.leaky_relu(values + asked + context.bond_terms, 0.2)
        logits = (hidden.view(-1, self.heads, self.channels) * self.attend).sum(-1)
        weights = segment_softmax(logits, context.target, context.num_atoms)
        messages = values.view(-1, self.heads, self.channels) * weights.unsqueeze(-1)
        mixed = segment_sum(messages.flatten(1), context.target, context.num_atoms)
        return self.activation(mixed + self.bias)  # type: ignore[no-any-return]
