"""Random graphs and single evaluations of a block, for the tests of this folder."""

from __future__ import annotations

import torch
from torch import Tensor

from scoregnn.nn import Block, EmbeddedGraph

HIDDEN, BOND_DIM, HEADS = 12, 5, 3


def random_graph(seed: int = 0, sizes: tuple[int, ...] = (7,), isolated: int = 2) -> EmbeddedGraph:
    """Random undirected molecules of these sizes, then `isolated` lone atoms, which are the last molecule."""
    generator = torch.Generator().manual_seed(seed)
    molecule = torch.repeat_interleave(torch.arange(len(sizes) + 1), torch.tensor([*sizes, isolated]))
    num_atoms = len(molecule)
    together = (molecule[:, None] == molecule[None]) & (molecule[:, None] < len(sizes))
    upper = torch.triu(together & (torch.rand(num_atoms, num_atoms, generator=generator) < 0.4), diagonal=1)
    pairs = upper.nonzero()
    bonds = torch.randn(len(pairs), BOND_DIM, generator=generator)
    return EmbeddedGraph(
        atoms=torch.randn(num_atoms, HIDDEN, generator=generator),
        bonds=torch.cat([bonds, bonds]),
        source=torch.cat([pairs[:, 0], pairs[:, 1]]),
        target=torch.cat([pairs[:, 1], pairs[:, 0]]),
        molecule=molecule,
        num_molecules=len(sizes) + 1,
    )


def edge_index(graph: EmbeddedGraph) -> Tensor:
    """PyG's [2, num_edges]."""
    return torch.stack([graph.source, graph.target])


def evaluate(block: Block, graph: EmbeddedGraph) -> Tensor:
    """F(h[0])."""
    return block(block.initial(graph), block.prepare(graph))  # type: ignore[no-any-return]


def randomize(module: torch.nn.Module, seed: int = 0) -> None:
    """Gives every parameter, those that start at 0 too, a value that would show a mistake."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))
