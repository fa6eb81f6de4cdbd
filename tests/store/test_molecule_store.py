"""The columnar store and its batches against a loop over molecules, one atom and one bond at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, GraphBatch, MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one

SMILES = ["CCO", "C", "c1ccccc1C(=O)O", "[Na+].[Cl-]", "C/C=C\\C", "[He]", "N#Cc1ccc2[nH]ccc2c1", "*CC*"]
LONE = [1, 3, 5]
MOLECULES = [featurize_one(text, FeaturizeOptions(descriptors="fast")) for text in SMILES]
STORE = MoleculeStore.from_molecules(MOLECULES)


def slow_batch(index: list[int]) -> dict[str, list]:
    """What `MoleculeStore.batch` must give, by loops: atoms in order, edges in both directions sorted by target."""
    atoms, molecule, edges = [], [], []
    for number, place in enumerate(index):
        found, start = MOLECULES[place], len(atoms)
        atoms += found.atoms.tolist()
        molecule += [number] * len(found.atoms)
        for (first, second), features in zip(found.bonds.tolist(), found.bond_features.tolist(), strict=True):
            edges += [(second + start, first + start, features), (first + start, second + start, features)]
    edges.sort(key=lambda edge: edge[:2])
    return {
        "atoms": atoms,
        "molecule": molecule,
        "target": [edge[0] for edge in edges],
        "source": [edge[1] for edge in edges],
        "bonds": [edge[2] for edge in edges],
    }


def assert_same(batch: GraphBatch, index: list[int]) -> None:
    for name, values in slow_batch(index).items():
        assert getattr(batch, name).tolist() == values, name
        assert getattr(batch, name).dtype == torch.long, name
    assert batch.num_molecules == len(index)


def test_the_whole_store_is_what_a_loop_gives():
    assert len(STORE) == len(SMILES)
    assert_same(STORE.batch(torch.arange(len(SMILES))), list(range(len(SMILES))))


@given(st.lists(st.integers(0, len(SMILES) - 1), max_size=12))
def test_any_selection_in_any_order_with_repeats(index):
    assert_same(STORE.batch(torch.tensor(index, dtype=torch.long)), index)


def test_a_batch_without_any_bond():
    batch = STORE.batch(torch.tensor(LONE))
    assert_same(batch, LONE)
    assert batch.source.shape == batch.target.shape == (0,)
    assert batch.bonds.shape == (0, len(BOND_SIZES))


def test_a_store_of_lone_atoms_only_and_an_empty_store():
    lone = MoleculeStore.from_molecules([MOLECULES[place] for place in LONE])
    assert lone.batch(torch.tensor([2, 0])).atoms.tolist() == [
        *MOLECULES[LONE[2]].atoms.tolist(),
        *MOLECULES[LONE[0]].atoms.tolist(),
    ]
    empty = MoleculeStore.from_molecules([])
    assert len(empty) == 0
    batch = empty.batch(torch.empty(0, dtype=torch.long))
    assert batch.atoms.shape == (0, len(ATOM_SIZES))
    assert batch.num_molecules == 0


def test_edges_go_both_ways_with_the_same_features_and_are_sorted_by_target():
    batch = STORE.batch(torch.arange(len(SMILES)))
    edges = {
        (source, target): features
        for source, target, features in zip(
            batch.source.tolist(), batch.target.tolist(), batch.bonds.tolist(), strict=True
        )
    }
    assert len(edges) == len(batch.source) == 2 * sum(len(m.bonds) for m in MOLECULES)
    assert all(edges[target, source] == features for (source, target), features in edges.items())
    assert (batch.target[1:] >= batch.target[:-1]).all()
    assert torch.equal(batch.molecule[batch.source], batch.molecule[batch.target])


def test_descriptors_are_kept_as_they_were_computed():
    assert STORE.descriptors.dtype == torch.float64
    np.testing.assert_array_equal(STORE.descriptors.numpy(), np.stack([m.descriptors for m in MOLECULES]))
    without = MoleculeStore.from_molecules([featurize_one("C", FeaturizeOptions())])
    assert without.descriptors.shape == (1, 0)


def test_codes_stay_below_the_sizes_that_the_network_is_told():
    batch = STORE.batch(torch.arange(len(SMILES)))
    assert (batch.atoms < torch.tensor(ATOM_SIZES)).all()
    assert (batch.bonds < torch.tensor(BOND_SIZES)).all()


@pytest.mark.parametrize("index", [[len(SMILES)], [-1]])
def test_a_place_that_is_not_there_is_an_error_and_no_other_molecule(index):
    with pytest.raises((IndexError, RuntimeError)):
        STORE.batch(torch.tensor(index))


def test_a_batch_moves_to_a_device_whole():
    moved = STORE.batch(torch.tensor([0, 1])).to("meta")
    assert all(
        getattr(moved, name).device.type == "meta" for name in ("atoms", "bonds", "source", "target", "molecule")
    )
    assert moved.num_molecules == 2
