"""PyG's AttentiveFP as a network of this package."""

import pytest
import torch
from networks import make_network, make_store, predict
from torch_geometric.nn.models import AttentiveFP

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.nn.network import BOND_DIM

SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "C", "[Na+].[Cl-]"]


def test_it_is_the_model_of_pyg_on_embedded_graphs():
    network, store = make_network(network="attentivefp", hidden=16, steps=3), make_store(SMILES)
    theirs = AttentiveFP(16, 16, 2, BOND_DIM, num_layers=3, num_timesteps=2).eval()
    theirs.load_state_dict(
        network.layers.state_dict() | {f"lin2.{name}": value for name, value in network.head.state_dict().items()}
    )
    graph = network.embedding(store.batch(torch.arange(3)))
    expected = theirs(graph.atoms, torch.stack([graph.source, graph.target]), graph.bonds, graph.molecule)
    torch.testing.assert_close(predict(network, store), expected.detach())


def test_it_has_no_iterations_to_change():
    network, batch = make_network(network="attentivefp"), make_store(SMILES).batch(torch.arange(3))
    network.set_steps(3)
    for use in (
        lambda: network.set_steps(4),
        lambda: network.settled(batch, tolerance=0.1),
        lambda: network.every_step(batch),
    ):
        with pytest.raises(InputError, match="AttentiveFP has a layer of its own for each step"):
            use()


@pytest.mark.parametrize("settings", [{"block": "gat"}, {"dt": 0.5}, {"share": False}, {"readout": "mean"}])
def test_settings_it_does_not_heed_are_refused(settings):
    (name,) = settings
    with pytest.raises(InputError, match=f"the network attentivefp knows no {name}"):
        Config(network="attentivefp", **settings)
