"""What holds for every block x velocity x integrator, shared and as a stack, and for every readout.

A new block, velocity, integrator or readout is tested here as soon as it is in its registry.
"""

import itertools

import pytest
import torch
from networks import make_network, make_store, predict
from rdkit import Chem
from safetensors.torch import load, save

from scoregnn.config import ADAPTIVE, BLOCKS, INTEGRATORS, NETWORKS, READOUTS, VELOCITIES
from scoregnn.nn.inputs import EmbeddedGraph

SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "C", "[Na+].[Cl-]", "N[C@@H](C)C(=O)O", "C/C=C/Cl", "*CC", "O"]
RECURRENCES = [
    {"block": block, "velocity": velocity, "integrator": integrator}
    for block, velocity, integrator in itertools.product(BLOCKS, VELOCITIES, INTEGRATORS)
]
VARIANTS = [
    *RECURRENCES,
    *({"readout": name} for name in READOUTS),
    *({"block": block, "share": False, "dt": 1.0} for block in BLOCKS),
    *({"network": name} for name in NETWORKS),
]
every_variant = pytest.mark.parametrize(
    "settings", VARIANTS, ids=lambda settings: "-".join(map(str, settings.values()))
)


def tolerance(settings):
    """The adaptive solver chooses its steps by the whole batch, so that its predictions agree to its own tolerance."""
    return {"atol": 1e-3, "rtol": 1e-3} if settings.get("integrator") == ADAPTIVE else {"atol": 1e-5, "rtol": 1e-5}


def network_of(settings):
    # Wide enough to tell molecules apart, as small as the many cases ask for.
    return make_network(**({"hidden": 8, "heads": 2, "steps": 2, "rtol": 1e-5, "atol": 1e-5} | settings))


@every_variant
def test_a_prediction_does_not_depend_on_company_or_order(settings):
    network, store = network_of(settings), make_store(SMILES)
    together = predict(network, store)
    assert together.shape == (len(SMILES), 2)
    assert torch.isfinite(together).all()
    alone = torch.cat([predict(network, store, [row]) for row in range(len(SMILES))])
    torch.testing.assert_close(together, alone, **tolerance(settings))
    order = [3, 0, 6, 2, 5, 1, 4]
    torch.testing.assert_close(predict(network, store, order), together[order], **tolerance(settings))


@every_variant
def test_a_prediction_does_not_depend_on_the_order_of_atoms(settings):
    network = network_of(settings)
    spellings = []
    for text in SMILES:
        mol = Chem.MolFromSmiles(text)
        spellings.append(Chem.MolToSmiles(mol, rootedAtAtom=mol.GetNumAtoms() - 1, canonical=False))
    assert spellings != SMILES
    torch.testing.assert_close(
        predict(network, make_store(SMILES)), predict(network, make_store(spellings)), **tolerance(settings)
    )


@every_variant
def test_batches_without_bonds_and_without_molecules_work(settings):
    network = network_of(settings)
    lone = predict(network, make_store(["C", "[Na+]", "O"]))
    assert torch.isfinite(lone).all()
    assert min((lone[a] - lone[b]).abs().max() for a, b in itertools.combinations(range(3), 2)) > 1e-5
    assert predict(network, make_store(["CCO"]), []).shape == (0, 2)


@every_variant
def test_weights_saved_and_loaded_give_the_same_predictions(settings):
    network, other, store = network_of(settings), network_of(settings | {"seed": 1}), make_store(SMILES)
    first = predict(network, store)
    assert not torch.equal(predict(other, store), first)
    other.load_state_dict(load(save(network.state_dict())))
    assert torch.equal(predict(other, store), first)


@every_variant
def test_every_parameter_gets_a_gradient(settings):
    network, store = network_of(settings).train(), make_store([*SMILES, "CC#N", "c1ccncc1"])
    network(store.batch(torch.arange(len(store)))).square().sum().backward()
    unused = {name for name, parameter in network.named_parameters() if parameter.grad is None}
    # GCN sees no bonds.
    assert unused == ({"embedding.bonds.table.weight"} if settings.get("block") == "gcn" else set())
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)
    assert network.embedding.atoms.table.weight.grad.abs().max() > 0


@pytest.mark.parametrize("settings", RECURRENCES, ids=lambda settings: "-".join(settings.values()))
def test_gradients_agree_with_finite_differences_in_float64(settings):
    adaptive = settings["integrator"] == ADAPTIVE
    # The adaptive solver's own error, 1e-6, must stay small beside what a step of finite differences changes.
    network = network_of(settings | {"rtol": 1e-6, "atol": 1e-6}).double()
    check = {"eps": 1e-3, "atol": 1e-2, "rtol": 1e-2} if adaptive else {}
    graph = network.embedding(make_store(["CC(=O)N", "[Na+].[OH-]"]).batch(torch.arange(2)))

    def outputs(atoms, bonds):
        embedded = EmbeddedGraph(atoms, bonds, graph.source, graph.target, graph.molecule, graph.num_molecules)
        state = network.recurrence(network.first_block.initial(embedded), embedded)
        return network.outputs(state, embedded, None)

    inputs = (graph.atoms.detach().requires_grad_(), graph.bonds.detach().requires_grad_())
    assert torch.autograd.gradcheck(outputs, inputs, fast_mode=True, **check)
