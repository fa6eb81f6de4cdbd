"""How far one step goes: a fixed dt, or one that is learned within bounds."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scoregnn.errors import InputError


class LearnedStep(nn.Module):
    """dt = low + (high - low) sigmoid(a), with a learned; it starts at `dt`.

    count: 1 for one dt in all steps, or the number of steps for one in each. The default bounds keep Euler's
    contractive update a convex blend; low=0.1, high=0.5, dt=0.3 is the learnable variant of the SCORE experiments.
    """

    def __init__(self, dt: float = 0.25, *, count: int = 1, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__()
        if not low < dt < high:
            raise InputError(f"a learned dt starts inside its bounds {low:g} and {high:g}, not at {dt:g}")
        self.low, self.high = low, high
        share = torch.tensor((dt - low) / (high - low), dtype=torch.float64)
        self.logit = nn.Parameter(torch.full((count,), torch.logit(share).item()))

    def forward(self, step: int) -> Tensor:
        """dt of the step counted from 0, a scalar."""
        logit = self.logit[step if len(self.logit) > 1 else 0]
        return self.low + (self.high - self.low) * logit.sigmoid()

    def extra_repr(self) -> str:
        return f"count={len(self.logit)}, low={self.low:g}, high={self.high:g}"
