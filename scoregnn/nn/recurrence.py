"""The heart of SCORE: one block iterated as an ordinary differential equation of the hidden state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import Tensor, nn

from scoregnn.config import VELOCITIES
from scoregnn.errors import InputError
from scoregnn.nn.integrators import explicit_step, tableau


def contractive_velocity(h: Tensor, update: Tensor) -> Tensor:
    """F(h) - h: Euler's step is then the blend (1 - dt) h + dt F(h)."""
    return update - h


def additive_velocity(h: Tensor, update: Tensor) -> Tensor:
    """F(h): Euler's step is then the residual update h + dt F(h)."""
    return update


_VELOCITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = dict(
    zip(VELOCITIES, (contractive_velocity, additive_velocity), strict=True)
)


class ContractiveRecurrence(nn.Module):
    r"""Iterates F as dh/dt = g(h), with g(h) = F(h) - h (contractive) or F(h) (additive).

    With the contractive velocity and Euler's scheme one iteration is

        h[t+1] = (1 - dt) h[t] + dt F(h[t])

    (Godin 2026, SCORE, arXiv 2603.10544). The class knows nothing about chemistry: F may be a
    `scoregnn.nn.Block`, any PyG convolution or any module that maps a state to one of the same shape.

    Parameters
    ----------
    blocks: one module, shared by all iterations, or a sequence of `steps` modules, one for each iteration.
        [block] * 4, the same object four times, is sharing too, but is prepared four times.
    steps: number of iterations; may be left out when `blocks` is a sequence.
    dt: step size, at least 0. dt = 0 leaves the state as it is, dt = 1 with Euler replaces it by F(h).
    integrator: "euler", "midpoint", "heun" or "rk4"; the higher-order schemes evaluate F 2, 2 and 4 times a step.
    velocity: "contractive" or "additive".
    dropout: share of the components of F(h) set to 0 while training, drawn anew at every evaluation.

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
        blocks: nn.Module | Sequence[nn.Module],
        *,
        steps: int | None = None,
        dt: float = 0.25,
        integrator: str = "euler",
        velocity: str = "contractive",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.shared = isinstance(blocks, nn.Module) and not isinstance(blocks, nn.ModuleList)
        members = [blocks] if isinstance(blocks, nn.Module) and self.shared else list(blocks)  # type: ignore[arg-type]
        if steps is None:
            steps = 4 if self.shared else len(members)
        if steps < 1:
            raise InputError(f"steps must be at least 1, not {steps}")
        if not self.shared and len(members) != steps:
            raise InputError(f"{len(members)} unshared blocks do not fit {steps} steps; give one block a step")
        if not dt >= 0:
            raise InputError(f"dt must be at least 0, not {dt}")
        if velocity not in _VELOCITIES:
            raise InputError(f"unknown velocity {velocity!r}; known: {', '.join(_VELOCITIES)}")
        self.blocks = nn.ModuleList(members)
        self.steps = steps
        self.dt = float(dt)
        self.integrator = integrator
        self.velocity = velocity
        self.dropout = nn.Dropout(dropout)
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
        slope = _VELOCITIES[self.velocity]
        for step in range(self.steps):
            evaluate = functions[0 if self.shared else step]
            h = explicit_step(lambda state, f=evaluate: slope(state, self.dropout(f(state))), h, self.dt, self._scheme)  # type: ignore[misc]
            yield h

    def extra_repr(self) -> str:
        return (
            f"steps={self.steps}, dt={self.dt:g}, integrator={self.integrator!r}, velocity={self.velocity!r}, "
            f"shared={self.shared}"
        )


def _prepared(block: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> Callable[[Tensor], Tensor]:
    prepare = getattr(block, "prepare", None)
    if prepare is None:
        return lambda state: block(state, *inputs, **options)
    context = prepare(*inputs, **options)
    return lambda state: block(state, context)
