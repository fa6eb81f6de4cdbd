"""A graph transformer: every atom attends to every atom of its molecule."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.nn.blocks.base import Block
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.pairs import MoleculeGroup, fragments, group_molecules, path_codes


class AttentionGroup(NamedTuple):
    """atoms: [m, length]. kept: places of real atoms in it. bias: added to the logits [m, heads, length, length]."""

    atoms: Tensor
    kept: Tensor
    bias: Tensor


class TransformerContext(NamedTuple):
    """restore: [num_atoms], the row of each atom where the kept atoms of all groups follow each other."""

    groups: tuple[AttentionGroup, ...]
    restore: Tensor


class TransformerBlock(Block):
    r"""A post-norm transformer layer within each molecule (Vaswani et al. 2017, arXiv 1706.03762).

        e_ij = q_i . k_j / sqrt(channels) + d(path_ij) + w . b_ij
        x_i = LayerNorm(h_i + W_o sum_j softmax_j(e_ij) v_j)
        F(h)_i = LayerNorm(x_i + FFN(x_i))                                FFN: widening * hidden, ReLU, hidden

    q, k, v are linear maps of h, by head; j runs over all atoms of the molecule, i itself included: there are no
    self-loops. d is a learned number for each head and length of the shortest path (Ying et al. 2021, Graphormer,
    arXiv 2106.05234), with one for all lengths above `max_distance` and one for pairs without a path; w . b_ij is
    there for bonded pairs only. `path_bias` and `bond_bias` switch these off.

    Cost: heads * n^2 logits for a molecule of n atoms. Molecules are padded in groups of similar size, to at most four
    times that, whatever else is in the batch.

    Shapes: h [num_atoms, hidden], bonds [num_edges, bond_dim] -> [num_atoms, hidden].
    """

    def __init__(
        self,
        hidden: int,
        bond_dim: int,
        *,
        heads: int,
        widening: int = 2,
        bond_bias: bool = True,
        path_bias: bool = True,
        max_distance: int = 8,
    ) -> None:
        super().__init__()
        self.heads, self.channels, self.max_distance = heads, hidden // heads, max_distance
        self.lin_in = nn.Linear(hidden, 3 * hidden)
        self.lin_out = nn.Linear(hidden, hidden)
        self.lin_bond = nn.Linear(bond_dim, heads, bias=False) if bond_bias else None
        self.path_bias = nn.Embedding(max_distance + 3, heads) if path_bias else None
        self.norm_attention = nn.LayerNorm(hidden)
        self.ffn = nn.Sequential(nn.Linear(hidden, widening * hidden), nn.ReLU(), nn.Linear(widening * hidden, hidden))
        self.norm_ffn = nn.LayerNorm(hidden)
        self.reset_parameters()

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        return cls(config.hidden, bond_dim, heads=config.heads)

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.lin_in.weight)
        for bias in (self.lin_in.bias, self.lin_out.bias):
            nn.init.zeros_(bias)
        if self.path_bias is not None:
            nn.init.normal_(self.path_bias.weight, std=0.1)

    def prepare(self, graph: EmbeddedGraph) -> TransformerContext:
        fragment = fragments(graph.source, graph.target, graph.num_atoms) if self.path_bias is not None else None
        groups = []
        for group in group_molecules(graph):
            kept = group.real.flatten().nonzero().squeeze(1)
            groups.append(AttentionGroup(group.atoms, kept, self._bias(group, graph, fragment)))
        rows = [group.atoms.flatten().index_select(0, group.kept) for group in groups]
        # An empty batch has no group.
        return TransformerContext(tuple(groups), torch.argsort(torch.cat([graph.molecule[:0], *rows])))

    def _bias(self, group: MoleculeGroup, graph: EmbeddedGraph, fragment: Tensor | None) -> Tensor:
        count, length = group.atoms.shape
        if self.path_bias is None or fragment is None:
            bias = self.lin_in.weight.new_zeros(count * length * length, self.heads)
        else:
            bias = self.path_bias(path_codes(group, fragment, self.max_distance)).view(-1, self.heads)
        if self.lin_bond is not None:
            pair = group.target * length + group.source % length
            bias = bias.index_add(0, pair, self.lin_bond(graph.bonds.index_select(0, group.edges)))
        bias = bias.view(count, length, length, self.heads).permute(0, 3, 1, 2)
        return bias.masked_fill(~group.real[:, None, None, :], -math.inf)

    def _attended(self, values: Tensor, group: AttentionGroup) -> Tensor:
        """Mixed values of the group's real atoms [kept, hidden]. values: q, k and v of each atom [n, 3, heads, c]."""
        count, length = group.atoms.shape
        padded = values.index_select(0, group.atoms.flatten()).view(count, length, 3, self.heads, self.channels)
        query, key, value = padded.permute(2, 0, 3, 1, 4)
        logits = query @ key.transpose(-1, -2) * self.channels**-0.5 + group.bias
        mixed = logits.softmax(dim=-1) @ value
        return mixed.transpose(1, 2).reshape(count * length, -1).index_select(0, group.kept)  # type: ignore[no-any-return]

    def forward(self, h: Tensor, context: TransformerContext) -> Tensor:
        values = self.lin_in(h).view(-1, 3, self.heads, self.channels)
        mixed = torch.cat([h[:0], *(self._attended(values, group) for group in context.groups)])
        x = self.norm_attention(h + self.lin_out(mixed.index_select(0, context.restore)))
        return self.norm_ffn(x + self.ffn(x))  # type: ignore[no-any-return]
