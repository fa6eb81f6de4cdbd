"""Explicit Runge-Kutta schemes: a scheme is its Butcher tableau, and one function takes a step with any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from scoregnn.config import FIXED_STEP
from scoregnn.errors import InputError


@dataclass(frozen=True)
class ButcherTableau:
    """Coefficients of an explicit Runge-Kutta scheme.

    stages: row i holds the weights a[i][j] of the earlier velocities k[j] in the i-th stage's state.
    weights: b, of the velocities in the update. order: the global error falls as dt ** order.
    Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.1.
    """

    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    order: int


EULER = ButcherTableau(stages=((),), weights=(1.0,), order=1)
MIDPOINT = ButcherTableau(stages=((), (0.5,)), weights=(0.0, 1.0), order=2)
HEUN = ButcherTableau(stages=((), (1.0,)), weights=(0.5, 0.5), order=2)
RK4 = ButcherTableau(stages=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6), order=4)

_TABLEAUX = dict(zip(FIXED_STEP, (EULER, MIDPOINT, HEUN, RK4), strict=True))


def tableau(name: str) -> ButcherTableau:
    """The scheme called `name`, one of `scoregnn.config.FIXED_STEP`."""
    if name not in _TABLEAUX:
        raise InputError(f"unknown integrator {name!r}; known: {', '.join(_TABLEAUX)}")
    return _TABLEAUX[name]


def explicit_step(
    velocity: Callable[[Tensor], Tensor], h: Tensor, dt: float | Tensor, scheme: ButcherTableau
) -> Tensor:
    """One step of dh/dt = velocity(h) from `h` (any shape) over `dt`, a number or a scalar tensor."""
    slopes: list[Tensor] = []
    for row in scheme.stages:
        slopes.append(velocity(_advance(h, dt, row, slopes)))
    return _advance(h, dt, scheme.weights, slopes)


def _advance(h: Tensor, dt: float | Tensor, coefficients: tuple[float, ...], slopes: list[Tensor]) -> Tensor:
    for coefficient, slope in zip(coefficients, slopes, strict=True):
        if coefficient:
            scaled = dt * coefficient
            h = h + scaled * slope if isinstance(scaled, Tensor) else h.add(slope, alpha=scaled)
    return h


def contractive_weights(scheme: ButcherTableau, dt: float) -> tuple[float, ...]:
    """One step with the velocity F(h) - h as a mix of h and of F at the stages: weights (h, F_1, …), summing to 1.

    All weights within [0, 1] make the step a convex combination, so that it stays where h and the values of F are.
    Euler's is (1 - dt, dt). Midpoint's is not convex for any dt > 0: F_1 has the weight -dt^2 / 2.
    """
    size = 1 + len(scheme.stages)
    slopes: list[list[float]] = []

    def advanced(coefficients: tuple[float, ...]) -> list[float]:
        state = [1.0] + [0.0] * (size - 1)
        for coefficient, slope in zip(coefficients, slopes, strict=True):
            state = [entry + dt * coefficient * change for entry, change in zip(state, slope, strict=True)]
        return state

    for stage, row in enumerate(scheme.stages, start=1):
        state = advanced(row)
        slopes.append([float(place == stage) - entry for place, entry in enumerate(state)])
    return tuple(advanced(scheme.weights))
