"""PyG's AttentiveFP as a whole network, to compare with."""

from __future__ import annotations

from typing import NoReturn

import torch
from torch import Tensor, nn
from torch_geometric.nn.models import AttentiveFP

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.graphs.store import GraphBatch
from scoregnn.nn.inputs import GraphEmbedding
from scoregnn.nn.network import BOND_DIM, MoleculeNetwork

NUM_TIMESTEPS = 2


class AttentiveFPNetwork(MoleculeNetwork):
    """AttentiveFP (Xiong et al. 2020, doi 10.1021/acs.jmedchem.9b00959) as PyG has it, on this package's features.

    Embedded atoms and bonds, `config.steps` unshared layers, two rounds of the molecule's attention, one linear map to
    the outputs, before which what is known of the whole molecule is joined. Of the network's settings it heeds
    `steps`, `hidden` and `dropout`. Shapes as `ScoreNetwork`.
    """

    def __init__(
        self,
        config: Config,
        *,
        atom_sizes: tuple[int, ...],
        bond_sizes: tuple[int, ...],
        num_outputs: int,
        num_globals: int = 0,
    ) -> None:
        super().__init__(num_globals)
        self.embedding = GraphEmbedding(atom_sizes, bond_sizes, config.hidden, BOND_DIM)
        self.layers = AttentiveFP(
            in_channels=config.hidden,
            hidden_channels=config.hidden,
            out_channels=num_outputs,
            edge_dim=BOND_DIM,
            num_layers=config.steps,
            num_timesteps=NUM_TIMESTEPS,
            dropout=config.dropout,
        )
        self.layers.lin2 = nn.Identity()
        self.head = nn.Linear(config.hidden + num_globals, num_outputs)

    @property
    def body(self) -> tuple[nn.Module, ...]:
        return self.embedding, self.layers

    def forward(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> Tensor:
        graph = self.embedding(batch)
        if not graph.num_molecules:
            return self.head(self.join(graph.atoms[:0], molecule_features))  # type: ignore[no-any-return]
        edges = torch.stack([graph.source, graph.target])
        molecules = self.layers(graph.atoms, edges, graph.bonds, graph.molecule)
        return self.head(self.join(molecules, molecule_features))  # type: ignore[no-any-return]

    def set_steps(self, steps: int) -> None:
        if steps != len(self.layers.atom_convs) + 1:
            self._refuse()

    def settled(
        self, batch: GraphBatch, molecule_features: Tensor | None = None, *, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        self._refuse()

    def every_step(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> list[Tensor]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError("AttentiveFP has a layer of its own for each step; only a shared block can be iterated freely")
