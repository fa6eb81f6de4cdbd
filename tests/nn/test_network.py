"""Whole networks: invariances, independence of the batch, lone atoms."""

import itertools

import pytest
import torch
from rdkit import Chem

from scoregnn.config import BLOCKS, FIXED_STEP, READOUTS, VELOCITIES, Config
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.nn import ScoreNetwork

SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "C", "[Na+].[Cl-]", "N[C@@H](C)C(=O)O", "C/C=C/Cl", "*CC", "O"]
VARIANTS = [
    *({"block": block, "velocity": velocity} for block, velocity in itertools.product(BLOCKS, VELOCITIES)),
    *({"integrator": name} for name in FIXED_STEP),
    *({"readout": name} for name in READOUTS),
    *({"block": block, "share": False, "dt": 1.0} for block in BLOCKS),
]


def make_network(**settings):
    torch.manual_seed(0)
    config = Config(**{"hidden": 24, "heads": 4, "steps": 3} | settings)
    return ScoreNetwork(config, atom_sizes=ATOM_SIZES, bond_sizes=BOND_SIZES, num_outputs=2).eval()


def make_store(smiles):
    return MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in smiles])


def predict(network, store, index=None):
    with torch.no_grad():
        return network(store.batch(torch.arange(len(store)) if index is None else torch.tensor(index)))


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_prediction_does_not_depend_on_company_or_order(settings):
    network, store = make_network(**settings), make_store(SMILES)
    together = predict(network, store)
    assert together.shape == (len(SMILES), 2)
    alone = torch.cat([predict(network, store, [row]) for row in range(len(SMILES))])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    order = [3, 0, 6, 2, 5, 1, 4]
    torch.testing.assert_close(predict(network, store, order), together[order], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_prediction_does_not_depend_on_the_order_of_atoms(settings):
    network = make_network(**settings)
    spellings = []
    for text in SMILES:
        mol = Chem.MolFromSmiles(text)
        spellings.append(Chem.MolToSmiles(mol, rootedAtAtom=mol.GetNumAtoms() - 1, canonical=False))
    assert spellings != SMILES
    torch.testing.assert_close(
        predict(network, make_store(SMILES)), predict(network, make_store(spellings)), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("settings", [{}, {"share": False, "dt": 1.0}], ids=["score", "stack"])
def test_lone_atoms_are_told_apart_and_a_batch_of_them_alone_works(block, settings):
    result = predict(make_network(block=block, **settings), make_store(["C", "[Na+]", "O"]))
    assert torch.isfinite(result).all()
    assert min((result[a] - result[b]).abs().max() for a, b in itertools.combinations(range(3), 2)) > 1e-4


def test_two_identical_molecules_in_a_batch_get_one_answer():
    result = predict(make_network(), make_store(["CCO", "OCC"]))
    torch.testing.assert_close(result[0], result[1], atol=1e-6, rtol=1e-6)


def test_shared_network_does_not_grow_with_steps():
    counts = {
        (share, steps): sum(p.numel() for p in make_network(share=share, steps=steps).parameters())
        for share in (True, False)
        for steps in (2, 8)
    }
    assert counts[True, 2] == counts[True, 8]
    block = (counts[False, 8] - counts[False, 2]) / 6
    assert counts[False, 2] - counts[True, 2] == block


def test_values_joined_after_the_readout_matter_and_must_be_given():
    torch.manual_seed(0)
    config = Config(hidden=8, heads=2)
    network = ScoreNetwork(config, atom_sizes=ATOM_SIZES, bond_sizes=BOND_SIZES, num_outputs=1, num_globals=2).eval()
    batch = make_store(["CCO", "CCO"]).batch(torch.arange(2))
    with torch.no_grad():
        result = network(batch, torch.tensor([[0.0, 0.0], [1.0, -1.0]]))
    assert (result[0] - result[1]).abs().item() > 1e-3
    with pytest.raises(ValueError, match="joins 2 values"):
        network(batch)
