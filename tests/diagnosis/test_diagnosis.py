"""The figures of a diagnosis on cases with known answers."""

import numpy as np
import pytest
import torch
from torch import nn

from scoregnn.config import BLOCKS, Config
from scoregnn.graphs.store import MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.nn import ContractiveRecurrence, EmbeddedGraph
from scoregnn.prediction.diagnosis import diagnose, dirichlet_energy, pairwise_distance, step_spectral_norms
from scoregnn.prediction.diagnosis_plots import diagnosis_png
from scoregnn.training.data import TrainingData
from scoregnn.training.model import fit_model
from scoregnn.training.task import Task

SMILES = ["CCO", "CCCC", "c1ccccc1", "CC(=O)O", "CCN", "C", "CCCCCC", "OCCO", "CCCl", "CCBr", "CC#N", "CCS"]


class Linear(nn.Module):
    """F(h) = h W, the same for every row, whatever the graph."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, h, graph):
        return h @ self.weight


def graph_of(molecule, num_molecules, source=(), target=()):
    edges = (torch.tensor(source, dtype=torch.long), torch.tensor(target, dtype=torch.long))
    return EmbeddedGraph(torch.empty(len(molecule), 0), torch.empty(0, 0), *edges, molecule, num_molecules)


@pytest.mark.parametrize("dt", [0.25, 1.0])
@pytest.mark.parametrize("integrator", ["euler", "heun"])
def test_contraction_of_a_linear_block_is_known(dt, integrator):
    weight = torch.randn(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    recurrence = ContractiveRecurrence(Linear(weight), steps=3, dt=dt, integrator=integrator)
    h = torch.randn(5, 4, dtype=torch.float64)
    molecule = torch.tensor([0, 0, 1, 1, 1])
    z = dt * (weight.numpy() - np.eye(4))
    step = np.eye(4) + z + (z @ z / 2 if integrator == "heun" else 0)
    norms = step_spectral_norms(recurrence, 1, h, h, graph_of(molecule, 2), molecule)
    assert norms.tolist() == pytest.approx([np.linalg.norm(step, 2)] * 2, rel=1e-3)


def test_spectral_norm_of_each_molecule_is_its_own():
    class Scaled(nn.Module):
        def forward(self, h, graph):
            return h * torch.tensor([2.0, 2.0, 0.5])[:, None]

    molecule = torch.tensor([0, 0, 1])
    recurrence = ContractiveRecurrence(Scaled(), steps=1, dt=0.5)
    norms = step_spectral_norms(recurrence, 0, torch.ones(3, 2), torch.ones(3, 2), graph_of(molecule, 2), molecule)
    assert norms.tolist() == pytest.approx([1.5, 0.75])


def test_energy_and_distance_of_equal_states_are_zero_and_of_others_as_by_hand():
    source, target = torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0, 2, 1])
    assert dirichlet_energy(torch.ones(3, 2), source, target) == 0.0
    assert pairwise_distance(torch.ones(3, 2), torch.zeros(3, dtype=torch.long), 1) == 0.0
    # States 0, 1, 3 on a path: each bond counts from both ends, 2 * (1 + 4) / 3 atoms.
    h = torch.tensor([[0.0], [1.0], [3.0]])
    assert dirichlet_energy(h, source, target) == pytest.approx(10 / 3)
    # Squared distances of all nine ordered pairs: 2 * (1 + 4 + 9) / 9.
    assert pairwise_distance(h, torch.zeros(3, dtype=torch.long), 1) == pytest.approx((28 / 9) ** 0.5)


def fitted(**settings):
    store = MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in SMILES])
    targets = torch.tensor([[float(len(text))] for text in SMILES], dtype=torch.float64)
    data = TrainingData(
        store,
        targets,
        torch.zeros(targets.shape, dtype=torch.int8),
        torch.ones(len(SMILES), dtype=torch.float64),
        torch.empty(len(SMILES), 0, dtype=torch.float64),
    )
    config = Config(**{"hidden": 16, "heads": 2, "epochs": 3, "steps": 3} | settings)
    task = Task("regression", ("y",), ("",))
    return fit_model(data, np.arange(8), np.arange(8, 12), config, task), store, targets[:, 0].numpy()


def test_diagnosis_of_a_model_holds_together():
    model, store, targets = fitted()
    found = diagnose(model, store, targets)
    assert [entry["iteration"] for entry in found["iterations"]] == [1, 2, 3]
    assert found["iterations"][0]["update_cosine"] is None
    assert all(-1 <= entry["update_cosine"] <= 1 for entry in found["iterations"][1:])
    assert list(found["error_by_steps"]) == ["1", "2", "3", "4", "5", "6"]
    error = np.sqrt(np.mean((model.predict(store)[0] - targets) ** 2))
    assert found["error_by_steps"]["3"] == pytest.approx(error)
    assert model.networks[0].recurrence.steps == 3
    cost = found["cost"]
    assert cost["model"]["parameters"] == model.num_parameters < cost["stack"]["parameters"]
    with torch.no_grad():
        graph = model.networks[0].embedding(store.batch(torch.arange(len(store))))
        first = next(model.networks[0].recurrence.trajectory(graph.atoms, graph))
    expected = ((first - graph.atoms).norm() / graph.atoms.norm()).item()
    assert found["iterations"][0]["relative_update"] == pytest.approx(expected)
    assert diagnosis_png(found).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "settings", [{"share": False, "dt": 1.0}, {"integrator": "dopri5"}, {"velocity": "initial-residual"}]
)
def test_diagnosis_of_every_kind_of_depth(settings):
    model, store, targets = fitted(**settings)
    found = diagnose(model, store, targets)
    assert (found["error_by_steps"] is None) == (settings.get("share") is False)
    assert (found["iterations"][0]["spectral_norm_max"] is None) == ("integrator" in settings)
    assert diagnosis_png(found).startswith(b"\x89PNG")


@pytest.mark.parametrize("settings", [{}, {"share": False, "dt": 1.0}], ids=["score", "stack"])
@pytest.mark.parametrize("block", BLOCKS)
def test_spectral_norm_of_every_block_is_that_of_its_whole_jacobian(block, settings):
    model, store, _ = fitted(block=block, epochs=1, steps=2, **settings)
    network = model.networks[0]
    with torch.no_grad():
        graph = network.embedding(store.batch(torch.tensor([3])))
    h = network.first_block.initial(graph).detach()
    step = network.recurrence.step_function(1, h, graph)
    whole = torch.autograd.functional.jacobian(step, h).reshape(h.numel(), h.numel())
    norms = step_spectral_norms(network.recurrence, 1, h, h, graph, network.first_block.state_molecule(graph))
    # Power iteration comes from below and slowly where two singular values are close.
    assert norms.item() == pytest.approx(torch.linalg.matrix_norm(whole, 2).item(), rel=0.03)
    found = diagnose(model, store)
    assert [entry["iteration"] for entry in found["iterations"]] == [1, 2]
    assert all(entry["dirichlet_energy"] > 0 and entry["gradient_norm"] > 0 for entry in found["iterations"])


def test_gradient_norm_is_the_gradient_of_the_sum_of_outputs():
    model, store, _ = fitted(steps=2)
    network = model.networks[0]
    graph = network.embedding(store.batch(torch.arange(len(store))))
    states = list(network.recurrence.trajectory(graph.atoms, graph))
    expected = [
        torch.autograd.grad(network.outputs(states[-1], graph, None).sum(), s, retain_graph=True)[0] for s in states
    ]
    found = [entry["gradient_norm"] for entry in diagnose(model, store)["iterations"]]
    assert found == pytest.approx([gradient.norm().item() for gradient in expected], rel=1e-4)
