"""Message passing with a matrix for each bond, made by an edge network."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_sum


class EdgeMPNNContext(NamedTuple):
    source: Tensor
    target: Tensor
    gates: Tensor


class EdgeMPNNBlock(Block):
    r"""Summed messages A(b) h (Gilmer et al. 2017, arXiv 1704.01212, "edge network").

        A(b) = A_0 + sum_k z_k(b) A_k,   z(b) = ReLU(W_1 b + c_1)        k = 1 … num_matrices
        F(h)_i = act(W h_i + sum_j A(b_ij) h_j + bias)

    j runs over the neighbours of atom i. The atom's own state is a term of its own: there are no self-loops.

    Cost: z is prepared once. A(b), num_edges * hidden^2 numbers, is never formed: as it is linear in z, the sum over
    j is taken first, of z_k h_j, and the A_k are applied to it. An evaluation then holds num_edges * hidden *
    (num_matrices + 1) numbers and multiplies by (num_matrices + 1) matrices of hidden x hidden for each atom: the
    dearest block in parameters and time.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(
        self, hidden: int, bond_dim: int, *, num_matrices: int = 16, activation: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.lin_bond = nn.Linear(bond_dim, num_matrices)
        self.matrices = nn.Parameter(torch.empty(num_matrices + 1, hidden, hidden))
        self.lin_own = nn.Linear(hidden, hidden)
        self.activation = nn.ReLU() if activation is None else activation
        # A(b) then neither lengthens nor shortens a message much.
        nn.init.normal_(self.matrices, std=((num_matrices + 1) * hidden) ** -0.5)

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim)

    def prepare(self, graph: EmbeddedGraph) -> EdgeMPNNContext:
        gates = self.lin_bond(graph.bonds).relu()
        return EdgeMPNNContext(graph.source, graph.target, torch.cat([torch.ones_like(gates[:, :1]), gates], dim=1))

    def forward(self, h: Tensor, context: EdgeMPNNContext) -> Tensor:
        gated = context.gates.unsqueeze(-1) * h.index_select(0, context.source).unsqueeze(1)
        summed = segment_sum(gated.flatten(1), context.target, h.shape[0])
        return self.activation(self.lin_own(h) + summed @ self.matrices.flatten(0, 1))  # type: ignore[no-any-return]
