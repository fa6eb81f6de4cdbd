"""What the hidden state's derivative is, given the block's result: g in dh/dt = g(h)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scoregnn.config import VELOCITIES
from scoregnn.errors import InputError


class ContractiveVelocity(nn.Module):
    """g(h) = F(h) - h: Euler's step is the blend (1 - dt) h + dt F(h) of SCORE (Godin 2026, arXiv 2603.10544)."""

    def forward(self, h: Tensor, update: Tensor, start: Tensor) -> Tensor:
        return update - h


class AdditiveVelocity(nn.Module):
    """g(h) = F(h): Euler's step is the residual update h + dt F(h) (He et al. 2015, arXiv 1512.03385, for dt = 1)."""

    def forward(self, h: Tensor, update: Tensor, start: Tensor) -> Tensor:
        return update


class InitialResidualVelocity(nn.Module):
    """g(h) = (1 - a) F(h) + a h[0] - h: contractive towards a mix of the update and the initial state.

    weight: a, in [0, 1], the same for all (Chen et al. 2020, GCNII, arXiv 2007.02133). With `width` it is learned,
    one for each row of the state: a = sigmoid(v . [h, h[0]] + c), which starts at `weight` for every row.
    """

    def __init__(self, weight: float = 0.1, *, width: int | None = None) -> None:
        super().__init__()
        if not 0 <= weight <= 1:
            raise InputError(f"the weight of the initial state must be in [0, 1], not {weight}")
        self.weight = weight
        self.gate = nn.Linear(2 * width, 1) if width is not None else None
        if self.gate is not None:
            nn.init.zeros_(self.gate.weight)
            nn.init.constant_(self.gate.bias, torch.logit(torch.tensor(weight), eps=1e-4).item())

    def forward(self, h: Tensor, update: Tensor, start: Tensor) -> Tensor:
        weight = self.weight if self.gate is None else self.gate(torch.cat([h, start], dim=-1)).sigmoid()
        return update + weight * (start - update) - h

    def extra_repr(self) -> str:
        return f"weight={self.weight:g}, adaptive={self.gate is not None}"


def build_velocity(name: str, *, weight: float = 0.1, width: int | None = None) -> nn.Module:
    """The velocity called `name`, one of `scoregnn.config.VELOCITIES`; weight and width as in initial-residual."""
    match name:
        case "contractive":
            return ContractiveVelocity()
        case "additive":
            return AdditiveVelocity()
        case "initial-residual":
            return InitialResidualVelocity(weight, width=width)
    raise InputError(f"unknown velocity {name!r}; known: {', '.join(VELOCITIES)}")
