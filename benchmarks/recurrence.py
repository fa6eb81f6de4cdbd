"""GATv2-SCORE against a loop over PyG's layer: forward and backward, four iterations, equal results.

    python benchmarks/recurrence.py [--threads 2] [--repeats 15]

Both sides get the same weights and the same batch of ESOL molecules; their results must agree to 1e-5. The two are
timed in turns, and the ratio of the medians is printed: below 1 the package is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

# Read when torch starts its first threads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv

from scoregnn.config import Config
from scoregnn.datasets import get
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES
from scoregnn.nn import ContractiveRecurrence
from scoregnn.nn.blocks.gatv2 import GATv2Block
from scoregnn.nn.inputs import GraphEmbedding
from scoregnn.training.prepare import prepare

HIDDEN, BOND_DIM, HEADS, STEPS, DT, BATCH = 128, 32, 4, 4, 0.25, 64


def copied(block: GATv2Block) -> GATv2Conv:
    """PyG's layer with the weights of `block`."""
    conv = GATv2Conv(HIDDEN, HIDDEN // HEADS, heads=HEADS, edge_dim=BOND_DIM, add_self_loops=False)
    with torch.no_grad():
        conv.lin_l.load_state_dict(block.lin_source.state_dict())
        conv.lin_r.load_state_dict(block.lin_target.state_dict())
        conv.lin_edge.weight.copy_(block.lin_bond.weight)
        conv.att.copy_(block.attend[None])
        conv.bias.copy_(block.bias)
    return conv


def timed(function: Callable[[], Tensor]) -> float:
    begun = time.perf_counter()
    function().square().mean().backward()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)

    store = prepare(get("esol").table(), Config()).data.store
    embedding = GraphEmbedding(ATOM_SIZES, BOND_SIZES, HIDDEN, BOND_DIM)
    with torch.no_grad():
        graph = embedding(store.batch(torch.randperm(len(store))[:BATCH]))
    block = GATv2Block(HIDDEN, BOND_DIM, heads=HEADS)
    conv, activation = copied(block), nn.LeakyReLU()
    recurrence = ContractiveRecurrence(block, steps=STEPS, dt=DT)
    edge_index = torch.stack([graph.source, graph.target])

    def ours() -> Tensor:
        return recurrence(graph.atoms, graph)  # type: ignore[no-any-return]

    def loop() -> Tensor:
        h = graph.atoms
        for _ in range(STEPS):
            h = (1 - DT) * h + DT * activation(conv(h, edge_index, graph.bonds))
        return h

    torch.testing.assert_close(ours(), loop(), atol=1e-5, rtol=1e-5)
    for warm_up in (ours, loop, ours, loop):
        timed(warm_up)
    seconds: dict[str, list[float]] = {"scoregnn": [], "loop over PyG": []}
    for _ in range(options.repeats):
        seconds["scoregnn"].append(timed(ours))
        seconds["loop over PyG"].append(timed(loop))
    print(
        f"{BATCH} molecules, {graph.num_atoms} atoms, {len(graph.source)} edges, "
        f"{options.threads} threads, results equal"
    )
    for name, times in seconds.items():
        low, _, high = statistics.quantiles(times, n=4)
        print(f"{name:14} {1e3 * statistics.median(times):7.2f} ms (quartiles {1e3 * low:.2f} to {1e3 * high:.2f})")
    ratio = statistics.median(seconds["scoregnn"]) / statistics.median(seconds["loop over PyG"])
    print(f"ratio          {ratio:7.2f}")


if __name__ == "__main__":
    main()
