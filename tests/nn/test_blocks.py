"""Blocks against PyG's layers with the same weights and against slow loops written from the equations."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINEConv

from scoregnn.nn import ContractiveRecurrence, ConvBlock, EmbeddedGraph, GATBlock, GATv2Block, MPNNBlock

HIDDEN, BOND_DIM, HEADS = 12, 5, 3


def random_graph(seed=0, num_atoms=9, isolated=2):
    """A random undirected graph whose last `isolated` atoms have no bond."""
    generator = torch.Generator().manual_seed(seed)
    upper = torch.triu(torch.rand(num_atoms, num_atoms, generator=generator) < 0.4, diagonal=1)
    upper[:, num_atoms - isolated :] = False
    upper[num_atoms - isolated :] = False
    pairs = upper.nonzero()
    bonds = torch.randn(len(pairs), BOND_DIM, generator=generator)
    source = torch.cat([pairs[:, 0], pairs[:, 1]])
    target = torch.cat([pairs[:, 1], pairs[:, 0]])
    return EmbeddedGraph(
        atoms=torch.randn(num_atoms, HIDDEN, generator=generator),
        bonds=torch.cat([bonds, bonds]),
        source=source,
        target=target,
        molecule=torch.zeros(num_atoms, dtype=torch.long),
        num_molecules=1,
    )


def evaluate(block, graph):
    return block(graph.atoms, block.prepare(graph))


@pytest.mark.parametrize("self_loops", [False, True])
def test_gat_agrees_with_pyg(self_loops):
    torch.manual_seed(0)
    block = GATBlock(HIDDEN, BOND_DIM, heads=HEADS, self_loops=self_loops, activation=nn.Identity())
    conv = GATConv(HIDDEN, HIDDEN // HEADS, heads=HEADS, edge_dim=BOND_DIM, add_self_loops=self_loops)
    with torch.no_grad():
        block.bias.normal_()
        conv.lin.weight.copy_(block.lin.weight)
        conv.lin_edge.weight.copy_(block.lin_bond.weight)
        conv.att_src.copy_(block.attend_source[None])
        conv.att_dst.copy_(block.attend_target[None])
        conv.att_edge.copy_(block.attend_bond[None])
        conv.bias.copy_(block.bias)
    graph = random_graph()
    expected = conv(graph.atoms, torch.stack([graph.source, graph.target]), graph.bonds)
    torch.testing.assert_close(evaluate(block, graph), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("self_loops", [False, True])
def test_gatv2_agrees_with_pyg(self_loops):
    torch.manual_seed(0)
    block = GATv2Block(HIDDEN, BOND_DIM, heads=HEADS, self_loops=self_loops, activation=nn.Identity())
    conv = GATv2Conv(HIDDEN, HIDDEN // HEADS, heads=HEADS, edge_dim=BOND_DIM, add_self_loops=self_loops)
    with torch.no_grad():
        for parameter in (block.bias, block.lin_source.bias, block.lin_target.bias):
            parameter.normal_()
        conv.lin_l.load_state_dict(block.lin_source.state_dict())
        conv.lin_r.load_state_dict(block.lin_target.state_dict())
        conv.lin_edge.weight.copy_(block.lin_bond.weight)
        conv.att.copy_(block.attend[None])
        conv.bias.copy_(block.bias)
    graph = random_graph()
    expected = conv(graph.atoms, torch.stack([graph.source, graph.target]), graph.bonds)
    # PyG adds lin_l's bias inside the sum of messages, where it sums to itself: an atom without edges lacks it in both.
    torch.testing.assert_close(evaluate(block, graph), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("self_loops", [False, True])
def test_mpnn_agrees_with_a_loop_over_bonds(self_loops):
    torch.manual_seed(0)
    block = MPNNBlock(HIDDEN, BOND_DIM, self_loops=self_loops)
    graph = random_graph()
    edges = list(zip(graph.source.tolist(), graph.target.tolist(), graph.bonds, strict=True))
    if self_loops:
        for atom in range(graph.num_atoms):
            own = [bond for _, target, bond in edges if target == atom]
            edges.append((atom, atom, torch.stack(own).mean(0) if own else torch.zeros(BOND_DIM)))
    first = torch.cat([block.lin_source.weight, block.lin_target.weight, block.lin_bond.weight], dim=1)
    summed = torch.zeros(graph.num_atoms, HIDDEN)
    for source, target, bond in edges:
        together = torch.cat([graph.atoms[source], graph.atoms[target], bond])
        summed[target] += torch.relu(first @ together + block.lin_bond.bias)
    expected = torch.relu(summed @ block.lin_out.weight.T + block.lin_out.bias)
    torch.testing.assert_close(evaluate(block, graph), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("conv", "takes_bonds"),
    [
        (GCNConv(HIDDEN, HIDDEN), False),
        (GINEConv(nn.Linear(HIDDEN, HIDDEN), edge_dim=BOND_DIM), True),
        (GATv2Conv(HIDDEN, HIDDEN, edge_dim=BOND_DIM, add_self_loops=False), True),
    ],
)
def test_wrapped_convolution_is_the_convolution_with_its_activation(conv, takes_bonds):
    graph = random_graph()
    edge_index = torch.stack([graph.source, graph.target])
    raw = conv(graph.atoms, edge_index, graph.bonds) if takes_bonds else conv(graph.atoms, edge_index)
    torch.testing.assert_close(evaluate(ConvBlock(conv, nn.Tanh()), graph), raw.tanh())
    torch.testing.assert_close(evaluate(ConvBlock(conv), graph), raw)


def test_a_convolution_can_be_iterated_without_the_rest_of_the_package():
    torch.manual_seed(0)
    conv = GINEConv(nn.Linear(HIDDEN, HIDDEN), edge_dim=BOND_DIM)
    graph = random_graph()
    inputs = (torch.stack([graph.source, graph.target]), graph.bonds)
    h = graph.atoms
    for _ in range(3):
        h = 0.75 * h + 0.25 * conv(h, *inputs)
    result = ContractiveRecurrence(conv, steps=3, dt=0.25)(graph.atoms, *inputs)
    torch.testing.assert_close(result, h, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("make", [GATBlock, GATv2Block, MPNNBlock])
def test_without_self_loops_a_lone_atom_loses_its_state_and_with_them_it_does_not(make):
    torch.manual_seed(0)
    options = {} if make is MPNNBlock else {"heads": HEADS}
    graph = EmbeddedGraph(
        atoms=torch.randn(2, HIDDEN),
        bonds=torch.empty(0, BOND_DIM),
        source=torch.empty(0, dtype=torch.long),
        target=torch.empty(0, dtype=torch.long),
        molecule=torch.arange(2),
        num_molecules=2,
    )
    blind = evaluate(make(HIDDEN, BOND_DIM, **options), graph)
    assert torch.equal(blind[0], blind[1])
    seeing = evaluate(make(HIDDEN, BOND_DIM, self_loops=True, **options), graph)
    assert (seeing[0] - seeing[1]).abs().max() > 1e-2


@pytest.mark.parametrize("make", [GATBlock, GATv2Block, MPNNBlock])
def test_gradients_in_float64(make):
    torch.manual_seed(0)
    options = {} if make is MPNNBlock else {"heads": HEADS}
    block = make(HIDDEN, BOND_DIM, activation=nn.Tanh(), **options).double()
    graph = random_graph(num_atoms=5, isolated=1)

    def function(atoms, bonds):
        embedded = EmbeddedGraph(atoms, bonds, graph.source, graph.target, graph.molecule, 1)
        return block(atoms, block.prepare(embedded))

    inputs = (graph.atoms.double().requires_grad_(), graph.bonds.double().requires_grad_())
    assert torch.autograd.gradcheck(function, inputs)
