"""Networks: the recurrence and its integrators, blocks, readouts, the whole.

The blocks by name lie in `scoregnn.nn.blocks`, a file each: `from scoregnn.nn.blocks.gatv2 import GATv2Block`.
"""

from scoregnn.nn.blocks import Block, ConvBlock
from scoregnn.nn.inputs import EmbeddedGraph
from scoregnn.nn.mlp import ScoreMLP
from scoregnn.nn.network import ScoreNetwork
from scoregnn.nn.recurrence import ContractiveRecurrence

__all__ = [
    "Block",
    "ContractiveRecurrence",
    "ConvBlock",
    "EmbeddedGraph",
    "ScoreMLP",
    "ScoreNetwork",
]
