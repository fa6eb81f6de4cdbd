"""Graph convolution with symmetric normalisation: the mean-like baseline that sees no bonds."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_count, segment_sum


class GCNContext(NamedTuple):
    source: Tensor
    target: Tensor
    scale: Tensor


class GCNBlock(Block):
    r"""Graph convolution (Kipf and Welling 2017, arXiv 1609.02907); bonds say who is a neighbour and nothing else.

        F(h)_i = act(sum_j W h_j / sqrt(d_i d_j) + bias)

    j runs over the neighbours of atom i and, with self-loops, i itself; d is the number of those j. Unlike in other
    blocks, self-loops are on unless they are switched off.

    Shapes: h [num_atoms, hidden] -> [num_atoms, hidden].
    """

    def __init__(self, hidden: int, *, self_loops: bool = True, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.self_loops = self_loops
        self.lin = nn.Linear(hidden, hidden, bias=False)
        self.bias = nn.Parameter(self.lin.weight.new_zeros(hidden))
        self.activation = nn.ReLU() if activation is None else activation
        nn.init.xavier_uniform_(self.lin.weight)

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, self_loops=config.self_loops is not False)

    def prepare(self, graph: EmbeddedGraph) -> GCNContext:
        degree = segment_count(graph.target, graph.num_atoms, self.bias.dtype) + self.self_loops
        # A lone atom without a self-loop has no term to scale; any finite number does.
        return GCNContext(graph.source, graph.target, degree.clamp(min=1).rsqrt().unsqueeze(-1))

    def forward(self, h: Tensor, context: GCNContext) -> Tensor:
        # 1 / sqrt(d_i d_j) is taken in two halves, by atom, so that nothing is computed for each edge.
        scaled = context.scale * self.lin(h)
        mixed = segment_sum(scaled.index_select(0, context.source), context.target, h.shape[0])
        if self.self_loops:
            mixed = mixed + scaled
        return self.activation(context.scale * mixed + self.bias)  # type: ignore[no-any-return]
