"""Velocities, learned dt, norms, depth names, the adaptive reference, recomputation, settling."""

import itertools
import math

import pytest
import torch
from torch import nn

from scoregnn.config import DEPTHS, FIXED_STEP, Config
from scoregnn.errors import InputError
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.nn import Block, ContractiveRecurrence, ScoreNetwork
from scoregnn.nn.integrators import contractive_weights, tableau
from scoregnn.nn.network import build_recurrence
from scoregnn.nn.step_size import LearnedStep
from scoregnn.nn.velocities import InitialResidualVelocity

SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "C", "[Na+].[Cl-]", "CCCCO"]


class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, h):
        return self.factor * h


class Constant(nn.Module):
    def forward(self, h):
        return torch.full_like(h, 3.0)


def make_network(**settings):
    torch.manual_seed(0)
    config = Config(**{"hidden": 16, "heads": 2, "steps": 3} | settings)
    return ScoreNetwork(config, atom_sizes=ATOM_SIZES, bond_sizes=BOND_SIZES, num_outputs=1).eval()


def make_batch(smiles=SMILES):
    store = MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in smiles])
    return store.batch(torch.arange(len(store)))


def test_initial_residual_by_hand():
    # F = 3, h0 = 1, a = 1/4: g(h) = 2.25 + 0.25 - h; with dt = 1/2 the states are 1.75 and 2.125.
    recurrence = ContractiveRecurrence(Constant(), steps=2, dt=0.5, velocity=InitialResidualVelocity(0.25))
    assert [state.item() for state in recurrence.trajectory(torch.ones(1))] == [1.75, 2.125]


@pytest.mark.parametrize("integrator", FIXED_STEP)
def test_initial_residual_of_weight_zero_is_contractive_and_of_weight_one_stays(integrator):
    torch.manual_seed(0)
    layer, h = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), torch.randn(3, 4)
    options = {"steps": 3, "integrator": integrator}
    plain = ContractiveRecurrence(layer, **options)(h)
    none = ContractiveRecurrence(layer, velocity=InitialResidualVelocity(0.0), **options)(h)
    torch.testing.assert_close(none, plain)
    torch.testing.assert_close(ContractiveRecurrence(layer, velocity=InitialResidualVelocity(1.0), **options)(h), h)


def test_adaptive_weight_starts_at_the_given_one_and_then_differs_by_row():
    torch.manual_seed(0)
    velocity = InitialResidualVelocity(0.2, width=4)
    h, update, start = torch.randn(3, 3, 4)
    torch.testing.assert_close(velocity(h, update, start), InitialResidualVelocity(0.2)(h, update, start))
    nn.init.normal_(velocity.gate.weight)
    weight = torch.sigmoid(torch.cat([h, start], 1) @ velocity.gate.weight[0] + velocity.gate.bias)
    assert weight.std() > 0.01
    expected = (1 - weight[:, None]) * update + weight[:, None] * start - h
    torch.testing.assert_close(velocity(h, update, start), expected)


@pytest.mark.parametrize("count", [1, 3])
def test_learned_dt_starts_as_the_fixed_one_and_gets_a_gradient(count):
    torch.manual_seed(0)
    layer, h = nn.Linear(4, 4), torch.randn(3, 4)
    learned = LearnedStep(0.25, count=count)
    recurrence = ContractiveRecurrence(layer, steps=3, dt=learned, integrator="heun")
    result = recurrence(h)
    torch.testing.assert_close(result, ContractiveRecurrence(layer, steps=3, dt=0.25, integrator="heun")(h))
    result.sum().backward()
    assert learned.logit.grad.shape == (count,)
    assert bool((learned.logit.grad != 0).all())


def test_learned_dt_stays_within_its_bounds():
    authors = LearnedStep(0.3, low=0.1, high=0.5)
    assert authors.logit.item() == pytest.approx(0.0, abs=1e-6)
    for logit, dt in ((-50.0, 0.1), (50.0, 0.5)):
        nn.init.constant_(authors.logit, logit)
        assert authors(0).item() == pytest.approx(dt)
    with pytest.raises(InputError, match="starts inside its bounds 0 and 1, not at 1"):
        LearnedStep(1.0)


def test_modules_before_and_after_are_where_they_should_be():
    torch.manual_seed(0)
    layer, norm, h = nn.Linear(4, 4), nn.LayerNorm(4), torch.randn(3, 4)
    residual = ContractiveRecurrence([layer, layer], dt=1.0, velocity="additive", after=nn.Sequential(norm, nn.ReLU()))(
        h
    )
    expected = h
    for _ in range(2):
        expected = torch.relu(norm(expected + layer(expected)))
    torch.testing.assert_close(residual, expected)
    first = ContractiveRecurrence(layer, steps=1, dt=0.25, before=norm)(h)
    torch.testing.assert_close(first, 0.75 * h + 0.25 * layer(norm(h)))


def test_each_step_has_its_own_module_after_it_where_a_sequence_is_given():
    after = [Scale(2.0), Scale(3.0)]
    assert ContractiveRecurrence(Scale(0.0), steps=2, dt=0.5, after=after)(torch.ones(1)).item() == 1.5


def test_depth_names_are_what_they_say():
    graphs = make_batch()
    for name, settings in DEPTHS.items():
        network = make_network(**settings)
        recurrence, graph = network.recurrence, network.embedding(graphs)
        h0 = blocks = None
        blocks = [recurrence.blocks[0]] * 3 if recurrence.shared else list(recurrence.blocks)
        h0 = h = graph.atoms
        for step, block in enumerate(blocks):
            update = block(h, block.prepare(graph))
            match name:
                case "score":
                    h = 0.75 * h + 0.25 * update
                case "skip05":
                    h = nn.functional.leaky_relu(h + 0.5 * (update - h))
                case "stack":
                    h = update
                case "residual":
                    h = nn.functional.leaky_relu(recurrence.after[step][0](h + update))
                case "shared-residual":
                    h = h + update
                case "initial-residual":
                    h = 0.75 * h + 0.25 * (0.9 * update + 0.1 * h0)
        torch.testing.assert_close(recurrence(h0, graph), h, atol=1e-5, rtol=1e-5)


def test_fixed_steps_converge_to_the_adaptive_solver_as_dt_shrinks():
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(5, 5), nn.Tanh()).double()
    h = torch.randn(4, 5, dtype=torch.float64)
    reference = ContractiveRecurrence(layer, steps=2, dt=0.5, integrator="dopri5", rtol=1e-10, atol=1e-10)(h)
    errors = [
        (ContractiveRecurrence(layer, steps=steps, dt=1 / steps)(h) - reference).abs().max().item()
        for steps in (4, 8, 16, 32)
    ]
    ratios = [before / after for before, after in itertools.pairwise(errors)]
    assert ratios == pytest.approx([2.0] * 3, rel=0.15)
    rk4 = ContractiveRecurrence(layer, steps=32, dt=1 / 32, integrator="rk4")(h)
    torch.testing.assert_close(rk4, reference, atol=1e-7, rtol=0)


def test_adaptive_states_are_those_at_every_step():
    h = torch.tensor([1.0, -2.0], dtype=torch.float64)
    recurrence = ContractiveRecurrence(Scale(-0.5), steps=3, dt=0.4, integrator="dopri5", rtol=1e-9, atol=1e-9)
    for step, state in enumerate(recurrence.trajectory(h), start=1):
        torch.testing.assert_close(state, h * math.exp(-1.5 * 0.4 * step), atol=1e-7, rtol=0)


def test_adjoint_gives_the_gradients_of_plain_back_propagation_even_through_what_was_prepared():
    class Smooth(Block):
        def __init__(self):
            super().__init__()
            self.prepared, self.repeated = nn.Linear(3, 4), nn.Linear(4, 4)

        def prepare(self, inputs):
            return self.prepared(inputs)

        def forward(self, h, context):
            return torch.tanh(self.repeated(h) + context)

    torch.manual_seed(0)
    block = Smooth().double()
    h, inputs = torch.randn(2, 4, dtype=torch.float64), torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    wanted = (inputs, *block.parameters())
    gradients = []
    for adjoint in (False, True):
        options = {"integrator": "dopri5", "rtol": 1e-9, "atol": 1e-9, "adjoint": adjoint}
        recurrence = ContractiveRecurrence(block, steps=3, dt=0.5, velocity=InitialResidualVelocity(0.3), **options)
        gradients.append(torch.autograd.grad(recurrence(h, inputs).square().sum(), wanted))
    for plain, by_adjoint in zip(*gradients, strict=True):
        assert plain.abs().max() > 0.1
        torch.testing.assert_close(by_adjoint, plain, atol=1e-6, rtol=0)


def test_adaptive_prediction_depends_on_company_within_its_tolerance_only():
    network = make_network(integrator="dopri5", rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        together = network(make_batch())
        alone = torch.cat([network(make_batch([text])) for text in SMILES])
    torch.testing.assert_close(together, alone, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_recomputation_changes_nothing_but_memory(dropout):
    graphs = make_batch()
    found = []
    for recompute in (False, True):
        network = make_network(steps=8, dropout=dropout, recompute=recompute).train()
        stored = 0

        def count(tensor):
            nonlocal stored
            stored += tensor.numel()
            return tensor

        torch.manual_seed(1)
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            loss = network(graphs).square().sum()
        loss.backward()
        found.append((loss.item(), [p.grad.clone() for p in network.parameters()], stored))
    (plain, plain_gradients, plain_stored), (again, again_gradients, again_stored) = found
    assert plain == again
    for one, other in zip(plain_gradients, again_gradients, strict=True):
        torch.testing.assert_close(one, other)
    assert again_stored < plain_stored / 2


def kept_for_the_backward_pass(**settings):
    sizes = {}

    def keep(tensor):
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        make_network(**settings).train()(make_batch())
    return sum(sizes.values())


def test_depth_64_recomputed_fits_where_depth_8_did():
    deep = kept_for_the_backward_pass(hidden=64, steps=64, recompute=True)
    assert deep < kept_for_the_backward_pass(hidden=64, steps=8)
    assert deep < kept_for_the_backward_pass(hidden=64, steps=64) / 5


def test_settling_takes_the_iterations_that_a_linear_contraction_needs():
    # h[t+1] = r h[t] with r = 1 - dt (1 - c) = 0.8: the move in iteration t is 0.2 * 0.8^(t-1) * |h0|.
    recurrence = ContractiveRecurrence(Scale(0.2), steps=100, dt=0.25)
    h0 = torch.tensor([[1.0, 0.5], [-8.0, 1.0], [0.001, 0.0]])
    state, taken = recurrence.settle(h0, torch.tensor([0, 1, 2]), tolerance=0.01, num_segments=3)
    expected = [next(t for t in range(1, 100) if 0.2 * 0.8 ** (t - 1) * size < 0.01) for size in (1.0, 8.0, 0.001)]
    assert taken.tolist() == expected
    torch.testing.assert_close(state, h0 * torch.tensor([[0.8**t] for t in expected]))


def test_settling_of_a_molecule_does_not_depend_on_the_others():
    network = make_network(steps=60)
    with torch.no_grad():
        together, taken = network.settled(make_batch(), tolerance=0.01)
        parts = [network.settled(make_batch([text]), tolerance=0.01) for text in SMILES]
        torch.testing.assert_close(together, torch.cat([part[0] for part in parts]), atol=1e-4, rtol=1e-4)
        assert taken.tolist() == [part[1].item() for part in parts]
        assert 1 < min(taken.tolist()) < max(taken.tolist()) < 60
        network.recurrence.set_steps(3)
        assert network.settled(make_batch(), tolerance=1e-9)[1].tolist() == [3] * 4


def test_more_steps_at_inference_are_those_of_a_longer_network():
    short, long = make_network(steps=2), make_network(steps=6)
    short.recurrence.set_steps(6)
    torch.testing.assert_close(short(make_batch()), long(make_batch()))


@pytest.mark.parametrize("settings", [{"share": False}, {"learn_dt": "each"}])
def test_steps_that_are_built_in_cannot_be_changed(settings):
    recurrence = make_network(**settings).recurrence
    recurrence.set_steps(3)
    with pytest.raises(InputError, match="parts of its own for each of its 3 steps"):
        recurrence.set_steps(4)


def test_outputs_of_every_step_end_with_the_output():
    network = make_network()
    outputs = network.every_step(make_batch())
    assert len(outputs) == 3
    torch.testing.assert_close(outputs[-1], network(make_batch()))
    torch.testing.assert_close(outputs[0], make_network(steps=1)(make_batch()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"integrator": "dopri5", "share": False}, "one shared block"),
        ({"integrator": "dopri5", "learn_dt": "one"}, "no dt to learn"),
        ({"integrator": "dopri5", "norm": "after"}, "nothing can come after a step"),
        ({"integrator": "dopri5", "activation": "after"}, "nothing can come after a step"),
        ({"integrator": "dopri5", "recompute": True}, "use the adjoint"),
        ({"adjoint": True}, "for the integrator dopri5"),
        ({"adaptive_initial": True}, "velocity initial-residual"),
        ({"learn_dt": "one", "dt": 1.0}, "between 0 and 1"),
        ({"norm": "batch"}, "unknown norm 'batch'"),
        ({"initial_weight": 1.5}, "initial_weight must be a number at least 0 and at most 1"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        build_recurrence(Config(**settings))


@pytest.mark.parametrize("dt", [0.25, 0.5])
@pytest.mark.parametrize("integrator", FIXED_STEP)
def test_a_step_as_a_mix_of_state_and_updates(integrator, dt):
    weights = contractive_weights(tableau(integrator), dt)
    by_hand = {
        "euler": (1 - dt, dt),
        "midpoint": (1 - dt + dt**2 / 2, -(dt**2) / 2, dt),
        "heun": (1 - dt + dt**2 / 2, dt / 2 - dt**2 / 2, dt / 2),
    }
    if integrator in by_hand:
        assert weights == pytest.approx(by_hand[integrator])
    assert sum(weights) == pytest.approx(1.0)
    assert all(0 <= weight <= 1 for weight in weights) == (integrator != "midpoint")

    # A block that returns a new unknown at each call shows the same mix: h = 1, F_i = 10 ** i.
    values = iter([10.0, 100.0, 1000.0, 10000.0])

    class Next(nn.Module):
        def forward(self, h):
            return torch.full_like(h, next(values))

    step = ContractiveRecurrence(Next(), steps=1, dt=dt, integrator=integrator)(torch.ones(1, dtype=torch.float64))
    assert step.item() == pytest.approx(sum(weight * 10**place for place, weight in enumerate(weights)))
