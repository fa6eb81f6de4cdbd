"""Whole networks: lone atoms, sharing, what is joined after the readout."""

import itertools

import pytest
import torch
from networks import make_network, make_store, predict

from scoregnn.config import BLOCKS, Config
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES
from scoregnn.nn import ScoreNetwork


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
