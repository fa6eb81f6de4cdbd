"""Scalers of targets and of what is joined after the readout; both are fitted on the training part only."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class TargetScaler:
    """z = (y - mean) / scale for each target. mean, scale: float64 [num_targets]."""

    mean: Tensor
    scale: Tensor

    @classmethod
    def fit(cls, targets: Tensor, bounds: Tensor) -> TargetScaler:
        """From exact values [n, num_targets]; missing (NaN) ones and bounds are left out.

        A target with fewer than two distinct exact values gets the scale 1.
        """
        known = torch.isfinite(targets) & (bounds == 0)
        # A target that has only bounds is centred on them: there is nothing better to go by.
        known = torch.where(known.any(0), known, torch.isfinite(targets))
        count = known.sum(0).clamp(min=1)
        values = torch.where(known, targets, 0.0)
        mean = values.sum(0) / count
        spread = (torch.where(known, targets - mean, 0.0).square().sum(0) / count).sqrt()
        tiny = 1e-12 * mean.abs().clamp(min=1.0)
        return cls(mean, torch.where(spread > tiny, spread, torch.ones_like(spread)))

    @classmethod
    def identity(cls, num_targets: int) -> TargetScaler:
        return cls(torch.zeros(num_targets, dtype=torch.float64), torch.ones(num_targets, dtype=torch.float64))

    def transform(self, targets: Tensor) -> Tensor:
        return (targets - self.mean) / self.scale

    def inverse(self, values: Tensor) -> Tensor:
        return values * self.scale + self.mean


@dataclass(frozen=True)
class ColumnScaler:
    """Brings columns of a matrix to a common scale; every field is float64 [num_columns].

    Non-finite values become `fill`; with `compress` values go through sign(x) log(1 + |x|) and are clipped to
    [low, high], the range seen in training (RDKit's Ipc reaches 1e12); then z = (x - mean) / scale.
    """

    fill: Tensor
    low: Tensor
    high: Tensor
    mean: Tensor
    scale: Tensor
    compress: Tensor

    @classmethod
    def fit(cls, values: Tensor, *, compress: bool) -> ColumnScaler:
        """From `values` [n, num_columns]. A column without any finite value becomes the constant 0."""
        width = values.shape[1]
        flag = torch.full((width,), float(compress), dtype=torch.float64)
        values = _compress(values.double(), flag)
        known = torch.isfinite(values)
        fill = torch.where(known, values, torch.nan).nanmedian(dim=0).values if len(values) else torch.zeros(width)
        fill = torch.nan_to_num(fill.double(), nan=0.0)
        filled = torch.where(known, values, fill)
        mean = filled.mean(0)
        spread = (filled - mean).square().mean(0).sqrt()
        constant = spread <= 1e-12 * mean.abs().clamp(min=1.0)
        return cls(
            fill=fill,
            low=filled.amin(0),
            high=filled.amax(0),
            mean=mean,
            scale=torch.where(constant, torch.ones_like(spread), spread),
            compress=flag,
        )

    def transform(self, values: Tensor) -> Tensor:
        """[n, num_columns] -> float32 [n, num_columns], always finite."""
        values = _compress(values.double(), self.compress)
        values = torch.where(torch.isfinite(values), values, self.fill)
        clipped = values.clamp(self.low, self.high)
        values = torch.where(self.compress > 0, clipped, values)
        return ((values - self.mean) / self.scale).float()

    def tensors(self) -> dict[str, Tensor]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _compress(values: Tensor, flag: Tensor) -> Tensor:
    return torch.where(flag > 0, values.sign() * values.abs().log1p(), values)
