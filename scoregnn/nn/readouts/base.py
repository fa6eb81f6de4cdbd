"""What a readout is."""

from __future__ import annotations

from torch import Tensor, nn

from scoregnn.nn.inputs import EmbeddedGraph


class Readout(nn.Module):
    """Atom states of a batch to one vector a molecule: [num_atoms, hidden] -> [num_molecules, out_dim]."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.out_dim = hidden

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        raise NotImplementedError
