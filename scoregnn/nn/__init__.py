"""Networks: the recurrence and its integrators, blocks, readouts, the whole."""

from scoregnn.nn.blocks import Block, ConvBlock, GATBlock, GATv2Block, MPNNBlock
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.mlp import ScoreMLP
from scoregnn.nn.network import ScoreNetwork
from scoregnn.nn.recurrence import ContractiveRecurrence

__all__ = [
    "Block",
    "ContractiveRecurrence",
    "ConvBlock",
    "EmbeddedGraph",
    "GATBlock",
    "GATv2Block",
    "MPNNBlock",
    "ScoreMLP",
    "ScoreNetwork",
]
