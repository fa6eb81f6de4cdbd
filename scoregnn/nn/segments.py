"""Sums, means, maxima and softmax over the members of each segment (the edges of an atom, the atoms of a molecule)."""

from __future__ import annotations

import torch
from torch import Tensor


def segment_sum(values: Tensor, segment: Tensor, num_segments: int) -> Tensor:
    """Sum of `values` [n, ...] by `segment` [n]: [num_segments, ...]; an empty segment gives 0."""
    out = values.new_zeros((num_segments, *values.shape[1:]))
    return out.index_add(0, segment, values)


def segment_count(segment: Tensor, num_segments: int, dtype: torch.dtype) -> Tensor:
    """Number of members of each segment: [num_segments]."""
    return torch.bincount(segment, minlength=num_segments).to(dtype)


def segment_mean(values: Tensor, segment: Tensor, num_segments: int) -> Tensor:
    """Mean of `values` [n, d] by `segment` [n]: [num_segments, d]; an empty segment gives 0."""
    count = segment_count(segment, num_segments, values.dtype).clamp(min=1)
    return segment_sum(values, segment, num_segments) / count.unsqueeze(-1)


def segment_max(values: Tensor, segment: Tensor, num_segments: int) -> Tensor:
    """Maximum of `values` [n, d] by `segment` [n]: [num_segments, d]; an empty segment gives 0."""
    index = segment.unsqueeze(-1).expand_as(values)
    out = values.new_zeros((num_segments, values.shape[1]))
    return out.scatter_reduce(0, index, values, reduce="amax", include_self=False)


def segment_softmax(logits: Tensor, segment: Tensor, num_segments: int) -> Tensor:
    """Softmax of `logits` [n, heads] within each segment: weights [n, heads] that sum to 1 by segment and head."""
    # The maximum only keeps exp in range; softmax does not depend on it, so it needs no gradient.
    shift = segment_max(logits.detach(), segment, num_segments)
    weights = (logits - shift.index_select(0, segment)).exp()
    total = segment_sum(weights, segment, num_segments)
    return weights / total.index_select(0, segment)
