"""What a block is: the F of dh/dt = F(h) - h, in two methods."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.errors import InputError
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.segments import segment_mean


class Block(nn.Module):
    """One message-passing layer with its activation, evaluated many times on the same graph.

    `prepare(graph)` computes once what does not depend on the state; `forward(h, context)` is one evaluation of F
    with that context. The state lives on atoms unless `initial` and `to_atoms` say otherwise.
    """

    @classmethod
    def from_config(cls, config: Config, bond_dim: int) -> Self:
        """A block of the width and options in `config`; what the registry of blocks calls."""
        raise NotImplementedError

    def prepare(self, graph: EmbeddedGraph) -> Any:
        """What `forward` needs besides the state."""
        raise NotImplementedError

    def forward(self, h: Tensor, context: Any) -> Tensor:
        """F(h), of the shape of `h`."""
        raise NotImplementedError

    def take_activation(self) -> nn.Module:
        """The block's activation, which it then no longer applies: for a recurrence that applies it after a step.

        Raises `InputError` where the activation is not the last thing the block does.
        """
        activation = getattr(self, "activation", None)
        if not isinstance(activation, nn.Module):
            raise InputError(f"{type(self).__name__} cannot give its activation away: it is part of what it computes")
        self.activation: nn.Module = nn.Identity()
        return activation

    def initial(self, graph: EmbeddedGraph) -> Tensor:
        """The state before the first iteration: by default the embedded atoms [num_atoms, hidden]."""
        return graph.atoms

    def state_molecule(self, graph: EmbeddedGraph) -> Tensor:
        """The molecule of each row of the state: by default that of each atom."""
        return graph.molecule

    def to_atoms(self, h: Tensor, graph: EmbeddedGraph) -> Tensor:
        """Atom states [num_atoms, hidden] from the block's state: by default the state itself."""
        return h

    def drop_output(self) -> None:
        """Drops the parameters that only `to_atoms` uses: of the blocks of a stack the last alone needs them."""


def with_self_loops(graph: EmbeddedGraph) -> tuple[Tensor, Tensor, Tensor]:
    """Edges of the graph followed by one from every atom to itself: source, target [e + n], bonds [e + n, bond_dim].

    The loop's bond is the mean of the atom's bonds (zero for a lone atom), as PyG's `fill_value="mean"` has it.
    """
    loops = torch.arange(graph.num_atoms, device=graph.source.device)
    own = segment_mean(graph.bonds, graph.target, graph.num_atoms)
    return (
        torch.cat([graph.source, loops]),
        torch.cat([graph.target, loops]),
        torch.cat([graph.bonds, own]),
    )


def edges(graph: EmbeddedGraph, self_loops: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Source, target and bond vectors of the graph's edges, with or without self-loops."""
    return with_self_loops(graph) if self_loops else (graph.source, graph.target, graph.bonds)
