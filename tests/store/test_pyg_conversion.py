"""Graphs to and from PyTorch Geometric: the same values, and what is no such graph is refused."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Batch, Data

from scoregnn.errors import InputError
from scoregnn.graphs.pyg import from_pyg, to_batch, to_data
from scoregnn.graphs.store import GraphBatch, MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one

SMILES = ["[Na+].[Cl-]", "CCO", "C", "OC(=O)c1ccccc1", "[He]"]
STORE = MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in SMILES])


def assert_equal(one: GraphBatch, other: GraphBatch) -> None:
    for name in ("atoms", "bonds", "source", "target", "molecule"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    assert one.num_molecules == other.num_molecules


def test_one_molecule_as_data():
    data = to_data(STORE, 1)
    molecule = featurize_one("CCO", FeaturizeOptions())
    assert data.x.tolist() == molecule.atoms.tolist()
    assert data.edge_index.tolist() == [[1, 0, 2, 1], [0, 1, 1, 2]]
    assert data.edge_attr.shape == (4, molecule.bond_features.shape[1])
    assert data.is_undirected()
    assert_equal(from_pyg(data), STORE.batch(torch.tensor([1])))


def test_a_batch_is_the_one_that_pyg_makes_of_the_molecules():
    index = [3, 0, 2, 1, 1, 4]
    ours = to_batch(STORE.batch(torch.tensor(index)))
    pygs = Batch.from_data_list([to_data(STORE, place) for place in index])
    for name in ("x", "edge_index", "edge_attr", "batch", "ptr"):
        assert torch.equal(ours[name], pygs[name]), name
    assert ours.num_graphs == len(index)
    assert ours[3].x.tolist() == to_data(STORE, 1).x.tolist()


@pytest.mark.parametrize("index", [[0, 1, 2, 3, 4], [4, 2], [2], [1, 1, 1]])
def test_there_and_back(index):
    batch = STORE.batch(torch.tensor(index))
    assert_equal(from_pyg(to_batch(batch)), batch)


def test_edges_in_any_order_are_sorted_with_their_features():
    data = to_data(STORE, 3)
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(3))
    shuffled = Data(x=data.x, edge_index=data.edge_index[:, order], edge_attr=data.edge_attr[order])
    found = from_pyg(shuffled)
    assert (found.target[1:] >= found.target[:-1]).all()

    def edges(batch):
        columns = (batch.source.tolist(), batch.target.tolist(), batch.bonds.tolist())
        return sorted(zip(*columns, strict=True))

    assert edges(found) == edges(STORE.batch(torch.tensor([3])))


def test_small_integers_become_int64_codes():
    data = to_data(STORE, 1)
    small = Data(x=data.x.to(torch.uint8), edge_index=data.edge_index, edge_attr=data.edge_attr.to(torch.uint8))
    assert_equal(from_pyg(small), STORE.batch(torch.tensor([1])))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"x": None}, "x"),
        ({"edge_attr": None}, "edge_attr"),
        ({"edge_index": None}, "edge_index"),
        ({"x": torch.rand(3, 9)}, "x"),
        ({"edge_attr": torch.zeros(4, 1, dtype=torch.long)}, "edge_attr"),
        ({"edge_index": torch.tensor([[0, 1], [1, 0]])}, "edge_index"),
        ({"edge_index": torch.tensor([[0, 1, 2, 3], [1, 0, 1, 2]])}, "edge_index"),
        ({"edge_index": torch.tensor([[0, 1, -1, 1], [1, 0, 1, 2]])}, "edge_index"),
    ],
)
def test_what_is_no_graph_of_ours_is_refused(change, named):
    data = to_data(STORE, 1)
    for name, value in change.items():
        data[name] = value
    with pytest.raises(InputError, match=rf"data\.{named} "):
        from_pyg(data)


def test_floats_and_codes_out_of_range_are_refused():
    data = to_data(STORE, 1)
    with pytest.raises(InputError, match="integer codes"):
        from_pyg(Data(x=data.x.float(), edge_index=data.edge_index, edge_attr=data.edge_attr))
    for wrong in (data.x - 1 - data.x.max(), data.x + 200):
        with pytest.raises(InputError, match="out of range"):
            from_pyg(Data(x=wrong, edge_index=data.edge_index, edge_attr=data.edge_attr))
