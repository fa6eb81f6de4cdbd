"""To and from PyTorch Geometric's `Data` and `Batch`; nothing else in this room needs PyG."""

from __future__ import annotations

import torch
from torch_geometric.data import Batch, Data

from scoregnn.errors import InputError
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, GraphBatch, MoleculeStore


def to_data(store: MoleculeStore, index: int) -> Data:
    """One molecule: `x` codes [num_atoms, features], `edge_index` [2, num_edges], `edge_attr` codes."""
    batch = store.batch(torch.tensor([index]))
    return Data(x=batch.atoms, edge_index=torch.stack([batch.source, batch.target]), edge_attr=batch.bonds)


def to_batch(batch: GraphBatch) -> Batch:
    """The same graphs as PyG's `Batch`."""
    counts = torch.bincount(batch.molecule, minlength=batch.num_molecules)
    starts = counts.cumsum(0) - counts
    edge_molecule = batch.molecule.index_select(0, batch.target)
    parts = []
    for molecule in range(batch.num_molecules):
        edge = edge_molecule == molecule
        rows = batch.molecule == molecule
        edge_index = torch.stack([batch.source[edge], batch.target[edge]]) - starts[molecule]
        parts.append(Data(x=batch.atoms[rows], edge_index=edge_index, edge_attr=batch.bonds[edge]))
    return Batch.from_data_list(parts)


def from_pyg(data: Data) -> GraphBatch:
    """A `Data` or `Batch` whose `x` and `edge_attr` hold this package's codes; edges are sorted by target."""
    codes = ((data.x, len(ATOM_SIZES), "x"), (data.edge_attr, len(BOND_SIZES), "edge_attr"))
    for values, width, name in codes:
        if values is None or values.dim() != 2 or values.shape[1] != width:
            raise InputError(f"data.{name} must hold {width} integer codes a row, as to_data gives them")
    source, target = data.edge_index
    order = torch.argsort(target, stable=True)
    molecule = data.batch if isinstance(data, Batch) else torch.zeros(data.num_nodes, dtype=torch.long)
    return GraphBatch(
        atoms=data.x,
        bonds=data.edge_attr[order],
        source=source[order],
        target=target[order],
        molecule=molecule,
        num_molecules=data.num_graphs if isinstance(data, Batch) else 1,
    )
