"""The whole network: categories in, one row of outputs a molecule."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scoregnn.config import ADAPTIVE, Config
from scoregnn.graphs.store import GraphBatch
from scoregnn.nn.blocks import Block, build_block
from scoregnn.nn.inputs import EmbeddedGraph, GraphEmbedding
from scoregnn.nn.mlp import ScoreMLP, mlp
from scoregnn.nn.readouts import build_readout
from scoregnn.nn.recurrence import ContractiveRecurrence
from scoregnn.nn.step_size import LearnedStep
from scoregnn.nn.velocities import build_velocity

BOND_DIM = 32


def build_recurrence(config: Config) -> ContractiveRecurrence:
    """The recurrence that `config` describes, with fresh blocks."""
    count = 1 if config.share else config.steps
    blocks = [build_block(config, BOND_DIM) for _ in range(count)]
    for block in blocks[:-1]:
        block.drop_output()
    after: list[list[nn.Module]] = [[] for _ in range(count)]
    if config.norm == "after":
        for modules in after:
            modules.append(nn.LayerNorm(config.hidden))
    if config.activation == "after":
        for block, modules in zip(blocks, after, strict=True):
            modules.append(block.take_activation())
    norms = [nn.LayerNorm(config.hidden) for _ in range(count)] if config.norm == "before" else None
    dt: float | LearnedStep = config.dt
    if config.learn_dt != "no":
        dt = LearnedStep(config.dt, count=config.steps if config.learn_dt == "each" else 1)
    adaptive_width = config.hidden if config.adaptive_initial else None
    return ContractiveRecurrence(
        blocks[0] if config.share else blocks,
        steps=config.steps,
        dt=dt,
        integrator=config.integrator,
        velocity=build_velocity(config.velocity, weight=config.initial_weight, width=adaptive_width),
        before=norms,
        after=[nn.Sequential(*modules) for modules in after] if any(after) else None,
        # Noise inside the equation would leave an adaptive solver no smooth function to follow.
        dropout=0.0 if config.integrator == ADAPTIVE else config.dropout,
        recompute=config.recompute,
        rtol=config.rtol,
        atol=config.atol,
        adjoint=config.adjoint,
    )


def build_head(config: Config, width_in: int, width_out: int) -> nn.Module:
    """The head that `config` names: [n, width_in] -> [n, width_out]."""
    if config.head == "mlp" or config.head_layers == 0:
        return mlp(width_in, config.hidden, config.head_layers, width_out, config.dropout)
    return ScoreMLP(width_in, config.hidden, width_out, steps=config.head_layers, dt=config.dt, dropout=config.dropout)


class MoleculeNetwork(nn.Module):
    """What training and prediction ask of a network: graphs and joined values in, one row of outputs a molecule.

    num_globals: width of what is joined after the readout. A subclass has a `head` beside its `body`.
    """

    def __init__(self, num_globals: int) -> None:
        super().__init__()
        self.num_globals = num_globals

    @property
    def body(self) -> tuple[nn.Module, ...]:
        """The parts that fine-tuning may freeze: all below readout and head."""
        raise NotImplementedError

    def forward(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> Tensor:
        raise NotImplementedError

    def every_step(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> list[Tensor]:
        """What the head gives after each iteration: `steps` tensors [num_molecules, num_outputs]."""
        raise NotImplementedError

    def settled(
        self, batch: GraphBatch, molecule_features: Tensor | None = None, *, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        """Outputs where each molecule stops iterating when it has settled, and its iterations [num_molecules].

        See `ContractiveRecurrence.settle`.
        """
        raise NotImplementedError

    def set_steps(self, steps: int) -> None:
        """Another number of iterations than in training; raises `InputError` where their number is built in."""
        raise NotImplementedError

    def join(self, molecules: Tensor, molecule_features: Tensor | None) -> Tensor:
        """What the head sees: [num_molecules, width + num_globals]."""
        if not self.num_globals:
            return molecules
        if molecule_features is None or molecule_features.shape[1] != self.num_globals:
            raise ValueError(f"the network joins {self.num_globals} values to each molecule after the readout")
        return torch.cat([molecules, molecule_features], dim=1)


class ScoreNetwork(MoleculeNetwork):
    """Embedding, recurrence, readout, head.

    The recurrence iterates the block `config.block`; the readout joins atoms to molecules; what is known of a
    molecule as a whole (descriptors, the user's features) is joined there; an MLP gives the outputs.

    atom_sizes, bond_sizes: number of codes of each categorical feature. num_outputs: width of the result.
    num_globals: width of what is joined after the readout.

    Shapes: a `GraphBatch` and globals [num_molecules, num_globals] -> [num_molecules, num_outputs].
    """

    def __init__(
        self,
        config: Config,
        *,
        atom_sizes: tuple[int, ...],
        bond_sizes: tuple[int, ...],
        num_outputs: int,
        num_globals: int = 0,
    ) -> None:
        super().__init__(num_globals)
        self.embedding = GraphEmbedding(atom_sizes, bond_sizes, config.hidden, BOND_DIM)
        self.recurrence = build_recurrence(config)
        self.readout = build_readout(config.readout, config.hidden)
        self.head = build_head(config, self.readout.out_dim + num_globals, num_outputs)

    @property
    def body(self) -> tuple[nn.Module, ...]:
        return self.embedding, self.recurrence

    def forward(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> Tensor:
        graph = self.embedding(batch)
        h = self.recurrence(self.first_block.initial(graph), graph)
        return self.outputs(h, graph, molecule_features)

    def every_step(self, batch: GraphBatch, molecule_features: Tensor | None = None) -> list[Tensor]:
        graph = self.embedding(batch)
        states = self.recurrence.trajectory(self.first_block.initial(graph), graph)
        return [self.outputs(h, graph, molecule_features) for h in states]

    def settled(
        self, batch: GraphBatch, molecule_features: Tensor | None = None, *, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        graph = self.embedding(batch)
        h, taken = self.recurrence.settle(
            self.first_block.initial(graph),
            self.first_block.state_molecule(graph),
            graph,
            tolerance=tolerance,
            num_segments=graph.num_molecules,
        )
        return self.outputs(h, graph, molecule_features), taken

    def set_steps(self, steps: int) -> None:
        self.recurrence.set_steps(steps)

    @property
    def first_block(self) -> Block:
        """The block that says where the state lives."""
        return self.recurrence.blocks[0]  # type: ignore[return-value]

    @property
    def last_block(self) -> Block:
        """The block that says what the state means for atoms."""
        return self.recurrence.blocks[-1]  # type: ignore[return-value]

    def outputs(self, h: Tensor, graph: EmbeddedGraph, molecule_features: Tensor | None) -> Tensor:
        """What readout and head make of a state of the recurrence: [num_molecules, num_outputs]."""
        molecules = self.readout(self.last_block.to_atoms(h, graph), graph)
        return self.head(self.join(molecules, molecule_features))  # type: ignore[no-any-return]
