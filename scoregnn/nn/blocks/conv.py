"""Any convolution of PyG as a block."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor, nn

from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph


class ConvBlock(Block):
    r"""F(h) = act(conv(h, edge_index[, edge_attr])) for a PyG convolution that keeps the width of the state.

    conv: a `torch_geometric.nn.MessagePassing` layer. It gets the bond vectors when its `forward` has an argument
    `edge_attr`; give it `edge_dim=bond_dim` then. activation: applied to its result; the identity by default.

    Shapes: h [num_atoms, hidden] -> [num_atoms, hidden].

    Example
    -------
    >>> from torch_geometric.nn import GCNConv
    >>> block = ConvBlock(GCNConv(128, 128), torch.nn.ReLU())
    """

    def __init__(self, conv: nn.Module, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.conv = conv
        self.activation = nn.Identity() if activation is None else activation
        self._takes_bonds = "edge_attr" in inspect.signature(conv.forward).parameters

    def prepare(self, graph: EmbeddedGraph) -> tuple[Tensor, dict[str, Tensor]]:
        edge_index = torch.stack([graph.source, graph.target])
        return edge_index, {"edge_attr": graph.bonds} if self._takes_bonds else {}

    def forward(self, h: Tensor, context: tuple[Tensor, dict[str, Tensor]]) -> Tensor:
        edge_index, bonds = context
        return self.activation(self.conv(h, edge_index, **bonds))  # type: ignore[no-any-return]
