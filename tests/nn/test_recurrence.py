"""The recurrence against hand-computed numbers, exact solutions and scipy."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import nn

from scoregnn.config import FIXED_STEP
from scoregnn.errors import InputError
from scoregnn.nn import Block, ContractiveRecurrence
from scoregnn.nn.integrators import tableau


class NeighbourMean(nn.Module):
    """F(h) = 2 * mean of the neighbours: simple enough for pencil and paper."""

    def forward(self, h, edge_index):
        source, target = edge_index
        total = torch.zeros_like(h).index_add(0, target, h[source])
        return 2 * total / torch.bincount(target, minlength=len(h)).unsqueeze(1)


PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_update_equals_hand_computed_numbers_on_three_atoms():
    # h = (1, 2, 4); F = (2*2, 2*(1+4)/2, 2*2) = (4, 5, 4); h1 = 3/4 h + 1/4 F = (1.75, 2.75, 4).
    # F(h1) = (5.5, 5.75, 5.5); h2 = (2.6875, 3.5, 4.375).
    recurrence = ContractiveRecurrence(NeighbourMean(), steps=2, dt=0.25)
    states = list(recurrence.trajectory(torch.tensor([[1.0], [2.0], [4.0]]), PATH))
    torch.testing.assert_close(states[0], torch.tensor([[1.75], [2.75], [4.0]]))
    torch.testing.assert_close(states[1], torch.tensor([[2.6875], [3.5], [4.375]]))


def test_additive_update_equals_hand_computed_numbers():
    # h1 = h + 1/4 F(h) = (1 + 1, 2 + 1.25, 4 + 1).
    recurrence = ContractiveRecurrence(NeighbourMean(), steps=1, dt=0.25, velocity="additive")
    result = recurrence(torch.tensor([[1.0], [2.0], [4.0]]), PATH)
    torch.testing.assert_close(result, torch.tensor([[2.0], [3.25], [5.0]]))


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_euler_with_dt_one_applies_the_block_steps_times(steps):
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(6, 6), nn.Tanh())
    h = torch.randn(4, 6)
    expected = h
    for _ in range(steps):
        expected = layer(expected)
    torch.testing.assert_close(ContractiveRecurrence(layer, steps=steps, dt=1.0)(h), expected)


@pytest.mark.parametrize("integrator", FIXED_STEP)
@pytest.mark.parametrize("velocity", ["contractive", "additive"])
def test_dt_zero_is_the_identity(integrator, velocity):
    h = torch.randn(4, 6)
    recurrence = ContractiveRecurrence(nn.Linear(6, 6), steps=3, dt=0.0, integrator=integrator, velocity=velocity)
    assert torch.equal(recurrence(h), h)


@pytest.mark.parametrize("integrator", FIXED_STEP)
def test_order_of_convergence_against_scipy(integrator):
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(5, 5, generator=generator, dtype=torch.float64)
    h0 = torch.randn(1, 5, generator=generator, dtype=torch.float64)

    class Smooth(nn.Module):
        def forward(self, h):
            return torch.tanh(h @ weight)

    def derivative(_, h):
        return np.tanh(h @ weight.numpy()) - h

    exact = solve_ivp(derivative, (0.0, 1.0), h0[0].numpy(), rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for steps in (8, 16, 32):
        h = ContractiveRecurrence(Smooth(), steps=steps, dt=1.0 / steps, integrator=integrator)(h0)
        errors.append(np.abs(h[0].numpy() - exact).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders == pytest.approx(tableau(integrator).order, abs=0.25)


@pytest.mark.parametrize("integrator", FIXED_STEP)
def test_linear_block_follows_the_stability_polynomial(integrator):
    # For dh/dt = z/dt h one step multiplies by the truncated exponential series of z = dt (lambda - 1).
    dt, factor = 0.5, -0.3
    z = dt * (factor - 1)
    polynomial = {
        "euler": 1 + z,
        "midpoint": 1 + z + z**2 / 2,
        "heun": 1 + z + z**2 / 2,
        "rk4": 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24,
    }[integrator]

    class Scale(nn.Module):
        def forward(self, h):
            return factor * h

    h = torch.tensor([1.0, -2.0], dtype=torch.float64)
    result = ContractiveRecurrence(Scale(), steps=3, dt=dt, integrator=integrator)(h)
    torch.testing.assert_close(result, h * polynomial**3)


@pytest.mark.parametrize(("integrator", "evaluations"), [("euler", 1), ("midpoint", 2), ("heun", 2), ("rk4", 4)])
def test_a_block_is_prepared_once_and_evaluated_once_a_stage(integrator, evaluations):
    calls = {"prepare": 0, "forward": 0}

    class Counting(Block):
        def prepare(self, graph):
            calls["prepare"] += 1
            return graph

        def forward(self, h, context):
            calls["forward"] += 1
            return h * context

    ContractiveRecurrence(Counting(), steps=5, integrator=integrator)(torch.ones(2), 0.5)
    assert calls == {"prepare": 1, "forward": 5 * evaluations}


def test_shared_parameters_do_not_grow_with_steps_and_unshared_do():
    def count(module):
        return sum(parameter.numel() for parameter in module.parameters())

    one = count(nn.Linear(6, 6))
    assert [count(ContractiveRecurrence(nn.Linear(6, 6), steps=s)) for s in (1, 4, 16)] == [one] * 3
    assert count(ContractiveRecurrence([nn.Linear(6, 6) for _ in range(4)])) == 4 * one


def test_unshared_blocks_are_used_in_their_order():
    class Add(nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, h):
            return 10 * h + self.value

    states = list(ContractiveRecurrence([Add(1), Add(2), Add(3)], dt=1.0).trajectory(torch.zeros(1)))
    assert [float(state) for state in states] == [1.0, 12.0, 123.0]


def test_convex_updates_stay_in_the_hull_of_state_and_update():
    class Constant(nn.Module):
        def forward(self, h):
            return torch.ones_like(h)

    h = torch.zeros(3)
    for dt in (0.1, 0.5, 1.0):
        for state in ContractiveRecurrence(Constant(), steps=8, dt=dt).trajectory(h):
            assert bool(((state >= 0) & (state <= 1)).all())


def test_gradients_in_float64():
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double()
    for integrator in FIXED_STEP:
        recurrence = ContractiveRecurrence(layer, steps=3, integrator=integrator)
        assert torch.autograd.gradcheck(recurrence, (torch.randn(2, 3, dtype=torch.float64, requires_grad=True),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"dt": -0.1}, "dt must be at least 0"),
        ({"dt": float("nan")}, "dt must be at least 0"),
        ({"integrator": "rk5"}, "unknown integrator 'rk5'"),
        ({"velocity": "sideways"}, "unknown velocity 'sideways'"),
    ],
)
def test_impossible_settings_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        ContractiveRecurrence(nn.Linear(2, 2), **arguments)


def test_number_of_unshared_blocks_must_fit_the_steps():
    with pytest.raises(InputError, match="2 unshared blocks do not fit 3 steps"):
        ContractiveRecurrence([nn.Linear(2, 2), nn.Linear(2, 2)], steps=3)
