"""MolAttFP: the molecule asks its atoms, twice."""

from __future__ import annotations

from torch import Tensor, nn

from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.readouts.base import Readout
from scoregnn.nn.segments import segment_softmax, segment_sum


class MolAttFPReadout(Readout):
    r"""The molecule part of AttentiveFP (Xiong et al. 2020, doi 10.1021/acs.jmedchem.9b00959).

        m = LeakyReLU(sum_i h_i), then `rounds` times:
        e_i = LeakyReLU(a . [m, h_i] + b)                                 slopes 0.01
        c = ELU(W sum_i softmax_i(e_i) h_i + bias)
        m = LeakyReLU(GRU(c, m))

    i runs over the atoms of the molecule; c is the GRU's input and m its state.

    Shapes: [num_atoms, hidden] -> [num_molecules, hidden].
    """

    def __init__(self, hidden: int, *, rounds: int = 2) -> None:
        super().__init__(hidden)
        self.rounds = rounds
        self.score_atom = nn.Linear(hidden, 1)
        self.score_molecule = nn.Linear(hidden, 1, bias=False)
        self.lin_value = nn.Linear(hidden, hidden)
        self.gru = nn.GRUCell(hidden, hidden)

    def forward(self, atoms: Tensor, graph: EmbeddedGraph) -> Tensor:
        leaky_relu = nn.functional.leaky_relu
        scores = self.score_atom(atoms)
        molecules = leaky_relu(segment_sum(atoms, graph.molecule, graph.num_molecules))
        for _ in range(self.rounds):
            asked = self.score_molecule(molecules).index_select(0, graph.molecule)
            weights = segment_softmax(leaky_relu(scores + asked), graph.molecule, graph.num_molecules)
            mixed = segment_sum(weights * atoms, graph.molecule, graph.num_molecules)
            # The weights of a molecule sum to 1: W may follow the sum, one product a molecule.
            molecules = leaky_relu(self.gru(nn.functional.elu(self.lin_value(mixed)), molecules))
        return molecules
