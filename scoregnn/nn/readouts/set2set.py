"""Set2Set: an LSTM that reads the atoms several times."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.readouts.base import Readout
from scoregnn.nn.segments import segment_softmax, segment_sum


class Set2SetReadout(Readout):
    r"""Content-based attention (Vinyals et al. 2016, arXiv 1511.06391); twice as wide as the atoms.

        q, c = LSTM([q, r], (q, c)),   r = sum_i softmax_i(q . h_i) h_i        `rounds` times from 0

    i runs over the atoms of the molecule; the result is [q, r]. As PyG's `Set2Set`, written here so that a prediction
    needs no PyG.

    Shapes: [num_atoms, hidden] -> [num_molecules, 2 * hidden].
    """

    def __init__(self, hidden: int, *, rounds: int = 3) -> None:
        super().__init__(hidden)
        self.out_dim = 2 * hidden
        self.rounds = rounds
        self.lstm = nn.LSTMCell(2 * hidden, hidden)

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        result = atoms.new_zeros(graph.num_molecules, self.out_dim)
        query = cell = atoms.new_zeros(graph.num_molecules, atoms.shape[1])
        for _ in range(self.rounds):
            query, cell = self.lstm(result, (query, cell))
            scores = (atoms * query.index_select(0, graph.molecule)).sum(dim=1, keepdim=True)
            weights = segment_softmax(scores, graph.molecule, graph.num_molecules)
            result = torch.cat([query, segment_sum(weights * atoms, graph.molecule, graph.num_molecules)], dim=1)
        return result
