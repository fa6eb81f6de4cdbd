"""Graph attention, as published first."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block, edges
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_softmax, segment_sum


class GATContext(NamedTuple):
    source: Tensor
    target: Tensor
    bond_logits: Tensor
    num_atoms: int


class GATBlock(Block):
    r"""Graph attention (Velickovic et al. 2018, arXiv 1710.10903), bonds in the attention logits only.

        e_ij = LeakyReLU(a_s . W h_j + a_t . W h_i + a_b . W_b b_ij)        slope 0.2
        F(h)_i = act(sum_j softmax_j(e_ij) W h_j + bias)

    j runs over the neighbours of atom i (and i itself with self-loops); heads are concatenated.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(
        self, hidden: int, bond_dim: int, *, heads: int, self_loops: bool = False, activation: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.heads, self.channels, self.self_loops = heads, hidden // heads, self_loops
        self.lin = nn.Linear(hidden, hidden, bias=False)
        self.lin_bond = nn.Linear(bond_dim, hidden, bias=False)
        self.attend_source = nn.Parameter(torch.empty(heads, self.channels))
        self.attend_target = nn.Parameter(torch.empty(heads, self.channels))
        self.attend_bond = nn.Parameter(torch.empty(heads, self.channels))
        self.bias = nn.Parameter(torch.empty(hidden))
        self.activation = nn.LeakyReLU() if activation is None else activation
        self.reset_parameters()

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim, heads=config.heads, self_loops=config.uses_self_loops)

    def reset_parameters(self) -> None:
        for weight in (self.lin.weight, self.lin_bond.weight, *self._attention):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.bias)

    @property
    def _attention(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.attend_source, self.attend_target, self.attend_bond

    def _by_head(self, values: Tensor) -> Tensor:
        return values.view(-1, self.heads, self.channels)

    def prepare(self, graph: EmbeddedGraph) -> GATContext:
        source, target, bonds = edges(graph, self.self_loops)
        bond_logits = (self._by_head(self.lin_bond(bonds)) * self.attend_bond).sum(-1)
        return GATContext(source, target, bond_logits, graph.num_atoms)

    def forward(self, h: Tensor, context: GATContext) -> Tensor:
        values = self._by_head(self.lin(h))
        from_source = (values * self.attend_source).sum(-1)
        to_target = (values * self.attend_target).sum(-1)
        logits = (
            from_source.index_select(0, context.source)
            + to_target.index_select(0, context.target)
            + context.bond_logits
        )
        weights = segment_softmax(nn.functional.leaky_relu(logits, 0.2), context.target, context.num_atoms)
        messages = values.index_select(0, context.source) * weights.unsqueeze(-1)
        mixed = segment_sum(messages, context.target, context.num_atoms).flatten(1)
        return self.activation(mixed + self.bias)  # type: ignore[no-any-return]
