"""Message passing between directed bonds."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_sum


class DMPNNContext(NamedTuple):
    source: Tensor
    target: Tensor
    reverse: Tensor
    bond_inputs: Tensor
    num_atoms: int


class DMPNNBlock(Block):
    r"""State on directed bonds, and no message straight back (Yang et al. 2019, arXiv 1904.01561).

        h[0]_vw = ReLU(W_i [x_v, b_vw])                                   the bond from atom v to atom w
        F(h)_vw = act(W_i [x_v, b_vw] + W_m sum_{k != w} h_kv)            k: neighbours of v
        atom v  = ReLU(W_a [x_v, sum_k h_kv] + c)

    x are the embedded atoms. An atom without bonds keeps W_a's view of x, and nothing that the iterations could
    change. Self-loops have no meaning here.

    Shapes: h [num_edges, hidden], atoms [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_edges, hidden];
    `to_atoms` gives [num_atoms, hidden]. Raises `InputError` where a bond lacks its reverse direction.
    """

    def __init__(self, hidden: int, bond_dim: int, *, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.lin_atom = nn.Linear(hidden, hidden, bias=False)
        self.lin_bond = nn.Linear(bond_dim, hidden, bias=False)
        self.lin_message = nn.Linear(hidden, hidden, bias=False)
        self.lin_out_atom = nn.Linear(hidden, hidden)
        self.lin_out_bonds = nn.Linear(hidden, hidden, bias=False)
        self.activation = nn.ReLU() if activation is None else activation

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim)

    def _bond_inputs(self, graph: EmbeddedGraph) -> Tensor:
        return self.lin_atom(graph.atoms).index_select(0, graph.source) + self.lin_bond(graph.bonds)  # type: ignore[no-any-return]

    def initial(self, graph: EmbeddedGraph) -> Tensor:
        return self._bond_inputs(graph).relu()

    def state_molecule(self, graph: EmbeddedGraph) -> Tensor:
        return graph.molecule.index_select(0, graph.target)

    def prepare(self, graph: EmbeddedGraph) -> DMPNNContext:
        reverse = reverse_edges(graph.source, graph.target, graph.num_atoms)
        return DMPNNContext(graph.source, graph.target, reverse, self._bond_inputs(graph), graph.num_atoms)

    def forward(self, h: Tensor, context: DMPNNContext) -> Tensor:
        arriving = segment_sum(h, context.target, context.num_atoms).index_select(0, context.source)
        messages = arriving - h.index_select(0, context.reverse)
        return self.activation(context.bond_inputs + self.lin_message(messages))  # type: ignore[no-any-return]

    def to_atoms(self, h: Tensor, graph: EmbeddedGraph) -> Tensor:
        arriving = segment_sum(h, graph.target, graph.num_atoms)
        return (self.lin_out_atom(graph.atoms) + self.lin_out_bonds(arriving)).relu()  # type: ignore[no-any-return]

    def drop_output(self) -> None:
        del self.lin_out_atom, self.lin_out_bonds


def reverse_edges(source: Tensor, target: Tensor, num_atoms: int) -> Tensor:
    """For each edge the number of the one the other way: [num_edges].

    Raises `InputError` where there is none.
    """
    # Sorted by (source, target) and by (target, source), a graph of two-way edges reads the same: match row by row.
    forward = torch.argsort(source * num_atoms + target, stable=True)
    backward = torch.argsort(target * num_atoms + source, stable=True)
    reverse = torch.empty_like(forward)
    reverse[forward] = backward
    if not (torch.equal(source[reverse], target) and torch.equal(target[reverse], source)):
        raise InputError("a state on directed bonds needs every bond in both directions")
    return reverse
