"""What blocks and readouts see: a batch of molecular graphs after its categories were embedded."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scoregnn.graphs.store import GraphBatch


@dataclass(frozen=True)
class EmbeddedGraph:
    """Graphs of a batch as one large graph.

    atoms: [num_atoms, hidden]. bonds: [num_edges, bond_dim], one row for each direction of a bond.
    source, target: [num_edges], an edge carries a message from atom `source` to atom `target`.
    molecule: [num_atoms], the molecule of each atom. num_molecules: how many there are.
    """

    atoms: Tensor
    bonds: Tensor
    source: Tensor
    target: Tensor
    molecule: Tensor
    num_molecules: int

    @property
    def num_atoms(self) -> int:
        return self.atoms.shape[0]


class CategoricalEmbedding(nn.Module):
    """Sum of one learned vector for each categorical feature.

    sizes: number of codes of each feature. Input: integer codes [n, len(sizes)]; output: [n, dim].
    """

    def __init__(self, sizes: tuple[int, ...], dim: int) -> None:
        super().__init__()
        self.table = nn.Embedding(sum(sizes), dim)
        starts = torch.tensor([0, *sizes[:-1]]).cumsum(0)
        self.register_buffer("starts", starts, persistent=False)
        # The sum of len(sizes) vectors then has unit variance in each component.
        nn.init.normal_(self.table.weight, std=len(sizes) ** -0.5)

    def forward(self, codes: Tensor) -> Tensor:
        starts: Tensor = self.starts  # type: ignore[assignment]
        return nn.functional.embedding_bag(codes + starts, self.table.weight, mode="sum")


class GraphEmbedding(nn.Module):
    """Embeds the categories of a `GraphBatch`: atoms to [num_atoms, hidden], bonds to [num_edges, bond_dim]."""

    def __init__(self, atom_sizes: tuple[int, ...], bond_sizes: tuple[int, ...], hidden: int, bond_dim: int) -> None:
        super().__init__()
        self.atoms = CategoricalEmbedding(atom_sizes, hidden)
        self.bonds = CategoricalEmbedding(bond_sizes, bond_dim)

    def forward(self, batch: GraphBatch) -> EmbeddedGraph:
        return EmbeddedGraph(
            atoms=self.atoms(batch.atoms),
            bonds=self.bonds(batch.bonds),
            source=batch.source,
            target=batch.target,
            molecule=batch.molecule,
            num_molecules=batch.num_molecules,
        )
