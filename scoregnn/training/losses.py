"""Losses that skip what was not measured."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from scoregnn.training.task import Task


def elementwise_loss(task: Task, outputs: Tensor, targets: Tensor, bounds: Tensor) -> tuple[Tensor, Tensor]:
    """Loss of every molecule and target, and which of them count.

    Regression: the squared error; for a bound (+1: the true value lies above the target, -1: below) only the
    part of the error on the wrong side. Classification: the cross-entropy.

    outputs: [n, task.num_outputs]. targets: [n, num_targets], standardised values or class codes, NaN where
    missing. bounds: int8 [n, num_targets]. Returns losses [n, num_targets], 0 without gradient where missing,
    and the boolean mask of what is known.
    """
    known = ~torch.isnan(targets)
    filled = torch.where(known, targets, 0.0)
    if task.kind == "regression":
        error = outputs - filled
        error = torch.where(bounds > 0, error.clamp(max=0.0), error)
        error = torch.where(bounds < 0, error.clamp(min=0.0), error)
        losses = error.square()
    else:
        columns = []
        for target, logits in enumerate(outputs.split(task.widths, dim=1)):
            codes = filled[:, target]
            if logits.shape[1] == 1:
                columns.append(
                    functional.binary_cross_entropy_with_logits(logits[:, 0], codes.to(logits.dtype), reduction="none")
                )
            else:
                columns.append(functional.cross_entropy(logits, codes.long(), reduction="none"))
        losses = torch.stack(columns, dim=1)
    return torch.where(known, losses, 0.0), known


def mean_loss(task: Task, outputs: Tensor, targets: Tensor, bounds: Tensor, weights: Tensor) -> Tensor:
    """Weighted sum of the losses over the number of known labels: a scalar. weights: [n], mean 1 in training."""
    losses, known = elementwise_loss(task, outputs, targets, bounds)
    return (losses * weights.unsqueeze(1)).sum() / known.sum().clamp(min=1)
