"""All pairs of atoms within each molecule: padded groups of similar size, fragments, and shortest paths."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from scoregnn.nn.inputs import EmbeddedGraph

SMALLEST_GROUP = 8


class MoleculeGroup(NamedTuple):
    """Molecules of similar size as rows of equal length.

    atoms: [m, length], the atoms of each of m molecules; past a molecule's end its first atom is repeated.
    real: [m, length], False past the end. edges: [e], numbers of the graph's edges within these molecules.
    source, target: [e], places of their ends in the flattened `atoms`.
    """

    atoms: Tensor
    real: Tensor
    edges: Tensor
    source: Tensor
    target: Tensor


def group_molecules(graph: EmbeddedGraph) -> list[MoleculeGroup]:
    """The molecules in groups whose sizes differ at most twofold (sizes up to 8 go together).

    A padded group thus holds at most four times the pairs of its molecules, and one molecule of 1,000 atoms does not
    make the others as large.
    """
    molecule, device = graph.molecule, graph.molecule.device
    order = torch.argsort(molecule, stable=True)
    sizes = torch.bincount(molecule, minlength=graph.num_molecules)
    starts = sizes.cumsum(0) - sizes
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=device) - starts[molecule[order]]
    kinds = torch.log2(sizes.clamp(min=SMALLEST_GROUP).double()).ceil()
    row = torch.empty_like(sizes)
    groups = []
    for kind in kinds[sizes > 0].unique():
        members = ((kinds == kind) & (sizes > 0)).nonzero().squeeze(1)
        length = int(sizes[members].max())
        row[members] = torch.arange(len(members), device=device)
        steps = torch.arange(length, device=device)
        real = steps < sizes[members].unsqueeze(1)
        atoms = order[starts[members].unsqueeze(1) + steps * real]
        edges = (kinds[molecule[graph.target]] == kind).nonzero().squeeze(1)
        source, target = (
            row[molecule[ends]] * length + place[ends] for ends in (graph.source[edges], graph.target[edges])
        )
        groups.append(MoleculeGroup(atoms, real, edges, source, target))
    return groups


def fragments(source: Tensor, target: Tensor, num_atoms: int) -> Tensor:
    """The lowest-numbered atom that each atom is joined to by bonds: [num_atoms]; edges go both ways."""
    label = torch.arange(num_atoms, device=source.device)
    while True:
        lower = label.scatter_reduce(0, target, label[source], "amin")
        # To follow a label to its own label halves the way to go: the passes grow as the logarithm of the longest path.
        lower = lower[lower]
        if torch.equal(lower, label):
            return label
        label = lower


def path_codes(group: MoleculeGroup, fragment: Tensor, max_distance: int) -> Tensor:
    """How many bonds lie between the atoms of each pair: integers [m, length, length].

    0 … max_distance: the length of the shortest path; max_distance + 1: longer; max_distance + 2: no path, as between
    the ions of a salt. fragment: of each atom of the graph, from `fragments`.
    """
    count, length = group.atoms.shape
    labels = fragment[group.atoms]
    apart = (labels.unsqueeze(1) != labels.unsqueeze(2)).flatten(0, 1)
    codes = torch.full_like(apart, max_distance + 1, dtype=torch.long).masked_fill(apart, max_distance + 2)
    # Breadth first from all atoms at once: column j of `front` marks the atoms that are `distance` bonds from atom j.
    front = torch.eye(length, device=apart.device).repeat(count, 1)
    seen = front > 0
    codes[seen] = 0
    for distance in range(1, max_distance + 1):
        front = torch.zeros_like(front).index_add_(0, group.target, front.index_select(0, group.source))
        found = (front > 0) & ~seen
        codes[found] = distance
        seen |= found
        front = found.float()
    return codes.view(count, length, length)
