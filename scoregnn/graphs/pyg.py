"""To and from PyTorch Geometric's `Data` and `Batch`; nothing else in this room needs PyG."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from scoregnn.errors import InputError
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, GraphBatch, MoleculeStore


def to_data(store: MoleculeStore, index: int) -> Data:
    """One molecule: `x` codes [num_atoms, features], `edge_index` [2, num_edges], `edge_attr` codes."""
    batch = store.batch(torch.tensor([index]))
    return Data(x=batch.atoms, edge_index=torch.stack([batch.source, batch.target]), edge_attr=batch.bonds)


def to_batch(batch: GraphBatch) -> Batch:
    """The same graphs as PyG's `Batch`."""
    atoms = torch.bincount(batch.molecule, minlength=batch.num_molecules)
    edges = torch.bincount(batch.molecule[batch.target], minlength=batch.num_molecules)
    starts = (atoms.cumsum(0) - atoms)[batch.molecule[batch.target]]
    edge_index = torch.stack([batch.source - starts, batch.target - starts])
    parts = zip(
        batch.atoms.split(atoms.tolist()),
        edge_index.split(edges.tolist(), dim=1),
        batch.bonds.split(edges.tolist()),
        strict=True,
    )
    return Batch.from_data_list([Data(x=x, edge_index=index, edge_attr=bonds) for x, index, bonds in parts])


def from_pyg(data: Data) -> GraphBatch:
    """A `Data` or `Batch` whose `x` and `edge_attr` hold this package's codes; edges are sorted by target.

    Raises `InputError` for values that are no such codes and for edges between atoms that are not there.
    """
    _check_codes(data.x, ATOM_SIZES, "x")
    _check_codes(data.edge_attr, BOND_SIZES, "edge_attr")
    edges = data.edge_index
    if edges is None or edges.shape != (2, len(data.edge_attr)) or edges.dtype != torch.long:
        raise InputError("data.edge_index must be int64 [2, num_edges], a column for each row of edge_attr")
    if edges.numel() and not (int(edges.min()) >= 0 and int(edges.max()) < len(data.x)):
        raise InputError(f"data.edge_index names an atom that is not there; there are {len(data.x)}")
    source, target = edges
    order = torch.argsort(target, stable=True)
    whole = isinstance(data, Batch)
    return GraphBatch(
        atoms=data.x.long(),
        bonds=data.edge_attr[order].long(),
        source=source[order],
        target=target[order],
        molecule=data.batch if whole else torch.zeros(len(data.x), dtype=torch.long),
        num_molecules=data.num_graphs if whole else 1,
    )


def _check_codes(values: Tensor | None, sizes: tuple[int, ...], name: str) -> None:
    shaped = values is not None and values.dim() == 2 and values.shape[1] == len(sizes)
    if values is None or not shaped or values.is_floating_point() or values.dtype == torch.bool:
        raise InputError(f"data.{name} must hold {len(sizes)} integer codes a row, as to_data gives them")
    if ((values < 0) | (values >= torch.tensor(sizes))).any():
        raise InputError(f"data.{name} holds a code that is out of range; take them from to_data")
