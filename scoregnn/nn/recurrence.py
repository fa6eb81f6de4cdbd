"""The heart of SCORE: one block iterated as an ordinary differential equation of the hidden state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from scoregnn.config import ADAPTIVE
from scoregnn.errors import InputError
from scoregnn.nn.adaptive import adaptive_states, tensors_in
from scoregnn.nn.integrators import explicit_step, tableau
from scoregnn.nn.segments import segment_max
from scoregnn.nn.step_size import LearnedStep
from scoregnn.nn.velocities import build_velocity

Modules = nn.Module | Sequence[nn.Module]


class ContractiveRecurrence(nn.Module):
    r"""Iterates F as dh/dt = g(h), with g(h) = F(h) - h (contractive), F(h) (additive) or another velocity.

    With the contractive velocity and Euler's scheme one iteration is

        h[t+1] = (1 - dt) h[t] + dt F(h[t])

    (Godin 2026, SCORE, arXiv 2603.10544). The class knows nothing about chemistry: F may be a
    `scoregnn.nn.Block`, any PyG convolution or any module that maps a state to one of the same shape.

    Parameters
    ----------
    blocks: one module, shared by all iterations, or a sequence of `steps` modules, one for each iteration.
    steps: number of iterations, 4 by default; may be left out when `blocks` is a sequence.
    dt: step size, at least 0, or a `LearnedStep`. dt = 0 leaves the state as it is, dt = 1 with Euler and the
        contractive velocity replaces it by F(h).
    integrator: "euler", "midpoint", "heun" or "rk4" (F is evaluated 1, 2, 2 and 4 times a step), or "dopri5", the
        adaptive solver of torchdiffeq as a reference: one shared block, fixed dt, nothing but the velocity.
    velocity: "contractive", "additive", "initial-residual", or a module g(h, F(h), h[0]) such as
        `InitialResidualVelocity`.
    before, after: modules applied to the state that F sees, and to the state after each step (a LayerNorm, an
        activation); one for all steps or a sequence of `steps`.
    dropout: share of the components of F(h) set to 0 while training, drawn anew at every evaluation.
    recompute: forget what happens inside a step and compute it again in the backward pass, so that memory for
        activations grows with the number of states only.
    rtol, atol, adjoint: of "dopri5": tolerances, and gradients by the adjoint equation instead of a recorded graph.

    Shapes
    ------
    h: any shape [..., hidden] that F accepts; the result has the same shape.

    Example
    -------
    >>> import torch
    >>> from torch_geometric.nn import GINEConv
    >>> layer = GINEConv(torch.nn.Linear(16, 16), edge_dim=4)
    >>> recurrence = ContractiveRecurrence(layer, steps=4, dt=0.25)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> recurrence(torch.randn(3, 16), edge_index, torch.randn(4, 4)).shape
    torch.Size([3, 16])
    """

    def __init__(
        self,
        blocks: Modules,
        *,
        steps: int | None = None,
        dt: float | LearnedStep = 0.25,
        integrator: str = "euler",
        velocity: str | nn.Module = "contractive",
        before: Modules | None = None,
        after: Modules | None = None,
        dropout: float = 0.0,
        recompute: bool = False,
        rtol: float = 1e-4,
        atol: float = 1e-4,
        adjoint: bool = False,
    ) -> None:
        super().__init__()
        self.blocks = _listed(blocks)
        self.shared = _is_one(blocks)
        if steps is None:
            steps = 4 if self.shared else len(self.blocks)
        if steps < 1:
            raise InputError(f"steps must be at least 1, not {steps}")
        if not self.shared and len(self.blocks) != steps:
            raise InputError(f"{len(self.blocks)} unshared blocks do not fit {steps} steps; give one block a step")
        self.before, self.after = _listed(before), _listed(after)
        for modules in (self.before, self.after):
            if len(modules) not in (0, 1, steps):
                raise InputError(
                    f"{len(modules)} modules before or after do not fit {steps} steps; give one, or one a step"
                )
        if not isinstance(dt, LearnedStep) and not dt >= 0:
            raise InputError(f"dt must be at least 0, not {dt}")
        if isinstance(dt, LearnedStep) and len(dt.logit) not in (1, steps):
            raise InputError(f"{len(dt.logit)} learned dt do not fit {steps} steps; learn one, or one a step")
        self.steps = steps
        self.dt = dt
        self.integrator = integrator
        self.velocity = build_velocity(velocity) if isinstance(velocity, str) else velocity
        self.dropout = nn.Dropout(dropout)
        self.recompute = recompute
        self.rtol, self.atol, self.adjoint = rtol, atol, adjoint
        if integrator == ADAPTIVE:
            self._check_adaptive()
        else:
            self._scheme = tableau(integrator)

    def forward(self, h: Tensor, *inputs: Any, **options: Any) -> Tensor:
        """The state after `steps` iterations from `h`.

        inputs: what the block needs besides the state. A block with a method `prepare` gets it once a forward
        pass and its result at every evaluation; any other module gets `inputs` themselves at every evaluation.
        """
        state = h
        for state in self.trajectory(h, *inputs, **options):  # noqa: B007  (only the last one is wanted)
            pass
        return state

    def trajectory(self, h: Tensor, *inputs: Any, **options: Any) -> Iterator[Tensor]:
        """The states h[1] … h[steps], one after the other."""
        functions = [_prepared(block, inputs, options) for block in self.blocks]
        if self.integrator == ADAPTIVE:
            # Not what `prepare` made of them: its gradient already reaches parameters and inputs through itself.
            used = (*self.parameters(), h, *tensors_in((inputs, options)))
            slope = self._velocity_of(0, functions, h)
            yield from adaptive_states(
                slope,
                h,
                steps=self.steps,
                dt=self._dt_of(0),
                rtol=self.rtol,
                atol=self.atol,
                adjoint=self.adjoint,
                used=used,
            )
            return
        start = h
        for step in range(self.steps):
            if self.recompute and torch.is_grad_enabled():
                h = checkpoint(self._step, step, h, functions, start, use_reentrant=False)
            else:
                h = self._step(step, h, functions, start)
            yield h

    def settle(
        self, h: Tensor, segment: Tensor, *inputs: Any, tolerance: float, num_segments: int, **options: Any
    ) -> tuple[Tensor, Tensor]:
        """Iterates each segment (molecule) until its state moves by less than `tolerance`, at most `steps` times.

        segment: [rows of h], the molecule of each row. Returns the state, and the iterations each took [num_segments].
        A molecule stops where max |h[t+1] - h[t]| over its rows falls under the tolerance, and keeps that state,
        whatever the others do.
        """
        active = torch.ones(num_segments, dtype=torch.bool, device=h.device)
        taken = torch.zeros(num_segments, dtype=torch.long, device=h.device)
        for state in self.trajectory(h, *inputs, **options):
            # Rows of a stopped molecule only ever meet rows of the same molecule, so the others are not disturbed.
            kept = active.index_select(0, segment).unsqueeze(-1)
            moved = segment_max((state - h).abs(), segment, num_segments).amax(dim=-1)
            settled = torch.where(kept, state, h)
            taken += active
            active &= moved >= tolerance
            h = settled
            if not bool(active.any()):
                break
        return h, taken

    def step_function(
        self, step: int, start: Tensor, *inputs: Any, **options: Any
    ) -> Callable[[Tensor], Tensor] | None:
        """One step as a function of the state: h[step] -> h[step + 1]; None for the adaptive solver.

        step: counted from 0. start: h[0], which some velocities look back to.
        """
        if self.integrator == ADAPTIVE:
            return None
        functions = [_prepared(block, inputs, options) for block in self.blocks]
        return lambda h: self._step(step, h, functions, start)

    def set_steps(self, steps: int) -> None:
        """More (or fewer) iterations than in training, with the same shared block.

        Raises `InputError` where the number of steps is built in: unshared blocks, or one dt or norm for each step.
        """
        if steps < 1:
            raise InputError(f"steps must be at least 1, not {steps}")
        learned_each = isinstance(self.dt, LearnedStep) and len(self.dt.logit) > 1
        if steps != self.steps and (not self.shared or learned_each or max(len(self.before), len(self.after)) > 1):
            raise InputError(
                f"this network has parts of its own for each of its {self.steps} steps; only a network that shares its "
                "block, dt and norm over all steps can take another number"
            )
        self.steps = steps

    def _step(self, step: int, h: Tensor, functions: list[_Evaluation], start: Tensor) -> Tensor:
        h = explicit_step(self._velocity_of(step, functions, start), h, self._dt_of(step), self._scheme)
        return self.after[min(step, len(self.after) - 1)](h) if len(self.after) else h

    def _velocity_of(self, step: int, functions: list[_Evaluation], start: Tensor) -> Callable[[Tensor], Tensor]:
        evaluate = functions[0 if self.shared else step]

        def velocity(state: Tensor) -> Tensor:
            seen = self.before[min(step, len(self.before) - 1)](state) if len(self.before) else state
            return self.velocity(state, self.dropout(evaluate(seen)), start)  # type: ignore[no-any-return]

        return velocity

    def _dt_of(self, step: int) -> Any:
        return self.dt(step) if isinstance(self.dt, LearnedStep) else self.dt

    def _check_adaptive(self) -> None:
        reasons = {
            "one shared block": not self.shared,
            "a fixed dt": isinstance(self.dt, LearnedStep),
            "nothing before or after a step": bool(len(self.before) or len(self.after)),
            "no dropout": self.dropout.p > 0,
            "no recomputation (the adjoint has that effect)": self.recompute,
        }
        for reason, broken in reasons.items():
            if broken:
                raise InputError(f"the integrator {ADAPTIVE} solves one smooth equation: it needs {reason}")

    def extra_repr(self) -> str:
        dt = "" if isinstance(self.dt, LearnedStep) else f"dt={self.dt:g}, "
        return f"steps={self.steps}, {dt}integrator={self.integrator!r}, shared={self.shared}"


def _is_one(modules: Modules) -> bool:
    return isinstance(modules, nn.Module) and not isinstance(modules, nn.ModuleList)


def _listed(modules: Modules | None) -> nn.ModuleList:
    if modules is None:
        return nn.ModuleList()
    return nn.ModuleList([modules] if _is_one(modules) else list(modules))  # type: ignore[list-item, arg-type]


@dataclass(frozen=True)
class _Evaluation:
    """F of one block on one graph."""

    block: nn.Module
    inputs: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self, state: Tensor) -> Tensor:
        return self.block(state, *self.inputs, **self.options)  # type: ignore[no-any-return]


def _prepared(block: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> _Evaluation:
    prepare = getattr(block, "prepare", None)
    if prepare is None:
        return _Evaluation(block, inputs, options)
    return _Evaluation(block, (prepare(*inputs, **options),), {})
