"""The Neural-ODE reference: an adaptive solver from torchdiffeq (extra `ode`) in place of fixed steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from scoregnn.errors import MissingExtraError


class _Field(nn.Module):
    """dh/dt as a module of its own, as torchdiffeq's adjoint asks for."""

    def __init__(self, velocity: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._velocity = velocity

    def forward(self, _time: Tensor, h: Tensor) -> Tensor:
        return self._velocity(h)


def adaptive_states(
    velocity: Callable[[Tensor], Tensor],
    h: Tensor,
    *,
    steps: int,
    dt: float,
    rtol: float,
    atol: float,
    adjoint: bool,
    used: tuple[Tensor, ...],
) -> Iterator[Tensor]:
    """States at the times dt, 2 dt … steps * dt of dh/dt = velocity(h), by Dormand-Prince 5(4).

    used: every tensor that the velocity depends on besides h; with `adjoint` (Chen et al. 2018, arXiv 1806.07366)
    their gradients come from a second solve instead of a recorded graph.
    Raises `MissingExtraError` where torchdiffeq is not installed.
    """
    try:
        import torchdiffeq
    except ImportError:
        raise MissingExtraError(
            "the integrator dopri5 needs torchdiffeq; install it with: pip install 'scoregnn[ode]'"
        ) from None
    times = dt * torch.arange(steps + 1, dtype=h.dtype, device=h.device)
    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "method": "dopri5"}
    # The solver measures its first step by the state, and finds none where there is no row.
    if dt == 0 or not h.numel():
        yield from [h] * steps
        return
    if adjoint and torch.is_grad_enabled():
        wanted = tuple(tensor for tensor in used if tensor.requires_grad)
        states = torchdiffeq.odeint_adjoint(_Field(velocity), h, times, adjoint_params=wanted, **options)
    else:
        states = torchdiffeq.odeint(_Field(velocity), h, times, **options)
    yield from states[1:].unbind(0)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists, dictionaries and objects with fields."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from tensors_in(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from tensors_in(entry)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_in(getattr(value, name))
