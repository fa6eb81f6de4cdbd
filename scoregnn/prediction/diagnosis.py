"""How the state of a network moves over its iterations: is the step contractive in fact, does the state settle?"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.graphs.store import MoleculeStore
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.network import MoleculeNetwork, ScoreNetwork
from scoregnn.nn.recurrence import ContractiveRecurrence
from scoregnn.nn.segments import segment_mean, segment_sum
from scoregnn.training.model import Model, build_network

POWER_ITERATIONS = 30
MOST_MOLECULES = 256
TIMED_REPEATS = 7


@dataclass(frozen=True)
class Iteration:
    """What happened in one iteration, over all molecules looked at.

    relative_update: ||h[t] - h[t-1]|| / ||h[t-1]||. update_cosine: between this update and the one before.
    dirichlet_energy: mean over atoms of the summed squared distances to their neighbours' states (Rusch et al. 2023,
    arXiv 2303.10993); it goes to 0 where the states of bonded atoms become equal (oversmoothing).
    pairwise_distance: root mean square distance of two atoms' states within a molecule, mean over molecules.
    spectral_norm_median, spectral_norm_max: largest singular value of the step's Jacobian, over molecules; below 1 the
    step is contractive there. gradient_norm: of the sum of outputs, reaching the state after this iteration.
    """

    iteration: int
    relative_update: float
    update_cosine: float | None
    dirichlet_energy: float
    pairwise_distance: float
    spectral_norm_median: float | None
    spectral_norm_max: float | None
    gradient_norm: float


def diagnose(
    model: Model, store: MoleculeStore, targets: np.ndarray | None = None, features: Tensor | None = None
) -> dict[str, Any]:
    """Facts about the first network of `model` on the molecules of `store` (at most `MOST_MOLECULES` of them).

    targets: [n] measured values of the first target, for the error against the number of iterations.
    features: [n, num_features] of a model with feature columns.
    Returns a dictionary of plain numbers, ready for JSON: config, iterations (see `Iteration`), start (energy and
    distance before the first iteration), error_by_steps, cost beside the unshared stack of the same width and depth.
    """
    if len(store) == 0:
        raise InputError("there is no molecule to diagnose the model on")
    rows = torch.arange(min(len(store), MOST_MOLECULES))
    network = model.networks[0].eval()
    if not isinstance(network, ScoreNetwork):
        raise InputError(f"a network of the kind {model.config.network} has no recurrence to look into")
    if features is None:
        features = torch.empty(len(store), 0, dtype=torch.float64)
    joined = model.joined(store, features)
    return {
        "molecules": len(rows),
        "config": model.config.to_dict(),
        **iterations_of(network, store, rows, joined[rows]),
        "error_by_steps": error_by_steps(model, store, targets, features) if targets is not None else None,
        "cost": cost_beside_stack(model, store, rows, joined[rows]),
    }


def iterations_of(network: ScoreNetwork, store: MoleculeStore, rows: Tensor, joined: Tensor) -> dict[str, Any]:
    """The `iterations` and the `start` of a diagnosis."""
    with torch.no_grad():
        graph = network.embedding(store.batch(rows))
    states = [network.first_block.initial(graph).detach()]
    with torch.no_grad():
        states += list(network.recurrence.trajectory(states[0], graph))
    gradients = _gradient_norms(network, graph, states[0], joined)
    segment = network.first_block.state_molecule(graph)
    found: list[Iteration] = []
    for step, (before, after) in enumerate(itertools.pairwise(states), start=1):
        update = after - before
        earlier = states[step - 1] - states[step - 2] if step > 1 else None
        norms = step_spectral_norms(network.recurrence, step - 1, states[0], before, graph, segment)
        energy, distance = _spread(network, after, graph)
        found.append(
            Iteration(
                iteration=step,
                relative_update=_ratio(update.norm(), before.norm()),
                update_cosine=None if earlier is None else _cosine(update, earlier),
                dirichlet_energy=energy,
                pairwise_distance=distance,
                spectral_norm_median=None if norms is None else float(norms.median()),
                spectral_norm_max=None if norms is None else float(norms.max()),
                gradient_norm=gradients[step - 1],
            )
        )
    energy, distance = _spread(network, states[0], graph)
    return {
        "start": {"dirichlet_energy": energy, "pairwise_distance": distance},
        "iterations": [dataclasses.asdict(iteration) for iteration in found],
    }


def dirichlet_energy(h: Tensor, source: Tensor, target: Tensor) -> float:
    """Mean over atoms of sum_j ||h_i - h_j||^2 over neighbours j: h [num_atoms, hidden], edges in both directions."""
    distances = (h.index_select(0, target) - h.index_select(0, source)).square().sum(-1)
    return float(distances.sum() / max(len(h), 1))


def pairwise_distance(h: Tensor, molecule: Tensor, num_molecules: int) -> float:
    """Root mean square distance of two atoms' states in a molecule, mean over molecules: h [num_atoms, hidden]."""
    mean = segment_mean(h, molecule, num_molecules)
    variance = segment_mean((h - mean.index_select(0, molecule)).square(), molecule, num_molecules).sum(-1)
    return float((2 * variance).sqrt().mean())


def step_spectral_norms(
    recurrence: ContractiveRecurrence, step: int, start: Tensor, h: Tensor, graph: EmbeddedGraph, segment: Tensor
) -> Tensor | None:
    """Largest singular value of d h[t+1] / d h[t] at `h` for each molecule: [num_molecules].

    Power iteration on J^T J; molecules do not touch each other, so one vector with a norm of its own in each of them
    serves all. None for the adaptive solver, which has no single step.
    """
    function = recurrence.step_function(step, start, graph)
    if function is None:
        return None
    generator = torch.Generator().manual_seed(0)
    vector = torch.randn(h.shape, generator=generator, dtype=h.dtype).to(h.device)
    size = torch.zeros(graph.num_molecules, dtype=h.dtype, device=h.device)
    for _ in range(POWER_ITERATIONS):
        vector = (
            vector / _norms(vector, segment, graph.num_molecules).clamp(min=1e-30).index_select(0, segment)[:, None]
        )
        moved = torch.func.jvp(function, (h,), (vector,))[1]
        size = _norms(moved, segment, graph.num_molecules)
        (vector,) = torch.func.vjp(function, h)[1](moved)
    return size.detach()


def error_by_steps(
    model: Model, store: MoleculeStore, targets: np.ndarray, features: Tensor
) -> dict[str, float] | None:
    """RMSE (or error rate) of the first target against the number of iterations at inference, up to twice as many.

    None where the number of steps is built in.
    """
    trained = model.config.steps
    known = np.isfinite(targets)
    errors: dict[str, float] = {}
    try:
        for steps in range(1, 2 * trained + 1):
            for network in model.networks:
                network.set_steps(steps)
            predicted = model.predict(store, features)[0][known]
            if model.task.kind == "regression":
                errors[str(steps)] = float(np.sqrt(np.mean((predicted - targets[known]) ** 2)))
            else:
                errors[str(steps)] = float(np.mean(predicted.argmax(axis=1) != targets[known]))
    except InputError:
        return None
    finally:
        for network in model.networks:
            network.set_steps(trained)
    return errors


def cost_beside_stack(model: Model, store: MoleculeStore, rows: Tensor, joined: Tensor) -> dict[str, Any]:
    """Parameters, seconds of a forward and backward pass, and numbers kept for the backward pass, of this network and
    of the unshared stack of the same block, width and depth; timed in turns in this process."""
    stack_settings = {"share": False, "velocity": "contractive", "dt": 1.0, "learn_dt": "no", "integrator": "euler"}
    plain = {"adjoint": False, "adaptive_initial": False, "norm": "none", "activation": "inside", "recompute": False}
    stack_config = Config.from_dict(model.config.to_dict() | stack_settings | plain)
    with torch.random.fork_rng(devices=[]):
        stack = build_network(stack_config, model.task, len(model.features))
    networks: dict[str, MoleculeNetwork] = {"model": model.networks[0], "stack": stack.eval()}
    batch = store.batch(rows)
    seconds: dict[str, list[float]] = {name: [] for name in networks}
    for _ in range(TIMED_REPEATS + 1):
        for name, network in networks.items():
            begun = time.perf_counter()
            network(batch, joined).square().mean().backward()
            seconds[name].append(time.perf_counter() - begun)
            network.zero_grad(set_to_none=True)
    return {
        name: {
            "parameters": sum(parameter.numel() for parameter in network.parameters()),
            "seconds": statistics.median(seconds[name][1:]),
            "saved_numbers": _saved_numbers(network, batch, joined),
        }
        for name, network in networks.items()
    }


def _saved_numbers(network: MoleculeNetwork, batch: Any, joined: Tensor) -> int:
    sizes: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().size() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network(batch, joined)
    return sum(sizes.values())


def _gradient_norms(network: ScoreNetwork, graph: EmbeddedGraph, start: Tensor, joined: Tensor) -> list[float]:
    states = []
    for state in network.recurrence.trajectory(start.clone().requires_grad_(), graph):
        state.retain_grad()
        states.append(state)
    network.outputs(states[-1], graph, joined if network.num_globals else None).sum().backward()
    norms = [float(state.grad.norm()) if state.grad is not None else 0.0 for state in states]
    network.zero_grad(set_to_none=True)
    return norms


def _spread(network: ScoreNetwork, state: Tensor, graph: EmbeddedGraph) -> tuple[float, float]:
    with torch.no_grad():
        atoms = network.last_block.to_atoms(state, graph)
        energy = dirichlet_energy(atoms, graph.source, graph.target)
        return energy, pairwise_distance(atoms, graph.molecule, graph.num_molecules)


def _norms(vector: Tensor, segment: Tensor, num_segments: int) -> Tensor:
    return segment_sum(vector.square().sum(-1), segment, num_segments).sqrt()


def _cosine(one: Tensor, other: Tensor) -> float:
    return _ratio((one * other).sum(), one.norm() * other.norm())


def _ratio(part: Tensor, whole: Tensor) -> float:
    return float(part / whole) if float(whole) else 0.0
