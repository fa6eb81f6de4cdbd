"""Blocks against PyG's layers with the same weights and against slow loops written from the equations."""

import pytest
import torch
from random_graphs import BOND_DIM, HEADS, HIDDEN, edge_index, evaluate, random_graph, randomize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from torch import nn
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINEConv, NNConv
from torch_geometric.nn.models.attentive_fp import GATEConv

from scoregnn.config import BLOCKS, HEADED_BLOCKS, LOOPLESS_BLOCKS, Config
from scoregnn.errors import InputError
from scoregnn.nn import ContractiveRecurrence, ConvBlock, EmbeddedGraph
from scoregnn.nn.blocks import build_block
from scoregnn.nn.blocks.attentivefp import AttentiveFPBlock
from scoregnn.nn.blocks.dmpnn import DMPNNBlock
from scoregnn.nn.blocks.gat import GATBlock
from scoregnn.nn.blocks.gatv2 import GATv2Block
from scoregnn.nn.blocks.gcn import GCNBlock
from scoregnn.nn.blocks.gine import GINEBlock
from scoregnn.nn.blocks.mpnn import AdditiveMPNNBlock, MPNNBlock
from scoregnn.nn.blocks.mpnn_edge import EdgeMPNNBlock
from scoregnn.nn.blocks.transformer import TransformerBlock

GRAPH = random_graph(sizes=(7, 4, 12))


def agrees(found, expected):
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("self_loops", [False, True])
def test_gat_agrees_with_pyg(self_loops):
    block = GATBlock(HIDDEN, BOND_DIM, heads=HEADS, self_loops=self_loops, activation=nn.Identity())
    conv = GATConv(HIDDEN, HIDDEN // HEADS, heads=HEADS, edge_dim=BOND_DIM, add_self_loops=self_loops)
    randomize(block)
    with torch.no_grad():
        conv.lin.weight.copy_(block.lin.weight)
        conv.lin_edge.weight.copy_(block.lin_bond.weight)
        conv.att_src.copy_(block.attend_source[None])
        conv.att_dst.copy_(block.attend_target[None])
        conv.att_edge.copy_(block.attend_bond[None])
        conv.bias.copy_(block.bias)
    agrees(evaluate(block, GRAPH), conv(GRAPH.atoms, edge_index(GRAPH), GRAPH.bonds))


@pytest.mark.parametrize("self_loops", [False, True])
def test_gatv2_agrees_with_pyg(self_loops):
    block = GATv2Block(HIDDEN, BOND_DIM, heads=HEADS, self_loops=self_loops, activation=nn.Identity())
    conv = GATv2Conv(HIDDEN, HIDDEN // HEADS, heads=HEADS, edge_dim=BOND_DIM, add_self_loops=self_loops)
    randomize(block)
    with torch.no_grad():
        conv.lin_l.load_state_dict(block.lin_source.state_dict())
        conv.lin_r.load_state_dict(block.lin_target.state_dict())
        conv.lin_edge.weight.copy_(block.lin_bond.weight)
        conv.att.copy_(block.attend[None])
        conv.bias.copy_(block.bias)
    agrees(evaluate(block, GRAPH), conv(GRAPH.atoms, edge_index(GRAPH), GRAPH.bonds))


@pytest.mark.parametrize("self_loops", [False, True])
def test_gcn_agrees_with_pyg(self_loops):
    block = GCNBlock(HIDDEN, self_loops=self_loops, activation=nn.Identity())
    conv = GCNConv(HIDDEN, HIDDEN, add_self_loops=self_loops)
    randomize(block)
    with torch.no_grad():
        conv.lin.weight.copy_(block.lin.weight)
        conv.bias.copy_(block.bias)
    agrees(evaluate(block, GRAPH), conv(GRAPH.atoms, edge_index(GRAPH)))


def test_gine_agrees_with_pyg():
    block = GINEBlock(HIDDEN, BOND_DIM, eps=0.3, activation=nn.Identity())
    randomize(block)
    conv = GINEConv(block.mlp, eps=0.3, edge_dim=BOND_DIM)
    conv.lin.load_state_dict(block.lin_bond.state_dict())
    agrees(evaluate(block, GRAPH), conv(GRAPH.atoms, edge_index(GRAPH), GRAPH.bonds))


def test_mpnn_with_an_edge_network_agrees_with_pyg():
    matrices = 4
    block = EdgeMPNNBlock(HIDDEN, BOND_DIM, num_matrices=matrices, activation=nn.Identity())
    randomize(block)
    network = nn.Sequential(nn.Linear(BOND_DIM, matrices), nn.ReLU(), nn.Linear(matrices, HIDDEN * HIDDEN))
    conv = NNConv(HIDDEN, HIDDEN, network, aggr="add", root_weight=True)
    with torch.no_grad():
        network[0].load_state_dict(block.lin_bond.state_dict())
        network[2].weight.copy_(block.matrices[1:].flatten(1).T)
        network[2].bias.copy_(block.matrices[0].flatten())
        conv.lin.weight.copy_(block.lin_own.weight)
        conv.bias.copy_(block.lin_own.bias)
    agrees(evaluate(block, GRAPH), conv(GRAPH.atoms, edge_index(GRAPH), GRAPH.bonds))


def test_attentivefp_agrees_with_the_bond_aware_layer_of_pyg_and_a_gru():
    block = AttentiveFPBlock(HIDDEN, BOND_DIM)
    conv = GATEConv(HIDDEN, HIDDEN, edge_dim=BOND_DIM)
    randomize(block)
    with torch.no_grad():
        conv.lin1.weight.copy_(torch.cat([block.lin_neighbour.weight, block.lin_bond.weight], dim=1))
        conv.lin2.weight.copy_(block.lin_value.weight)
        conv.att_l.copy_(block.attend_neighbour.weight)
        conv.att_r.copy_(block.attend_target.weight)
        conv.bias.copy_(block.lin_value.bias)
    mixed = nn.functional.elu(conv(GRAPH.atoms, edge_index(GRAPH), GRAPH.bonds))
    agrees(evaluate(block, GRAPH), nn.functional.leaky_relu(block.gru(mixed, GRAPH.atoms)))


def summed_messages_one_by_one(block, graph, self_loops):
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
    return summed @ block.lin_out.weight.T + block.lin_out.bias


@pytest.mark.parametrize("self_loops", [False, True])
def test_mpnn_agrees_with_a_loop_over_bonds(self_loops):
    block = MPNNBlock(HIDDEN, BOND_DIM, self_loops=self_loops)
    randomize(block)
    agrees(evaluate(block, GRAPH), torch.relu(summed_messages_one_by_one(block, GRAPH, self_loops)))


@pytest.mark.parametrize("dt", [0.25, 1.0])
def test_additive_mpnn_gives_the_residual_update_of_the_authors_experiments(dt):
    block = AdditiveMPNNBlock(HIDDEN, BOND_DIM)
    randomize(block)
    state = ContractiveRecurrence(block, steps=1, dt=dt)(GRAPH.atoms, GRAPH)
    agrees(state, GRAPH.atoms + dt * summed_messages_one_by_one(block, GRAPH, self_loops=False))


def test_dmpnn_agrees_with_a_loop_over_directed_bonds():
    block = DMPNNBlock(HIDDEN, BOND_DIM)
    randomize(block)
    graph, relu = GRAPH, torch.relu
    ends = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    inputs = [
        block.lin_atom.weight @ graph.atoms[v] + block.lin_bond.weight @ bond
        for (v, _), bond in zip(ends, graph.bonds, strict=True)
    ]
    h = {pair: relu(value) for pair, value in zip(ends, inputs, strict=True)}
    agrees(block.initial(graph), torch.stack(list(h.values())))
    for _ in range(2):
        moved = {}
        for (v, w), value in zip(ends, inputs, strict=True):
            message = sum((state for (k, end), state in h.items() if end == v and k != w), torch.zeros(HIDDEN))
            moved[v, w] = 0.75 * h[v, w] + 0.25 * relu(value + block.lin_message.weight @ message)
        h = moved
    state = ContractiveRecurrence(block, steps=2, dt=0.25)(block.initial(graph), graph)
    agrees(state, torch.stack(list(h.values())))
    for atom, found in enumerate(block.to_atoms(state, graph)):
        arriving = sum((value for (_, end), value in h.items() if end == atom), torch.zeros(HIDDEN))
        own = block.lin_out_atom.weight @ graph.atoms[atom] + block.lin_out_atom.bias
        agrees(found, relu(own + block.lin_out_bonds.weight @ arriving))


def test_dmpnn_needs_every_bond_in_both_directions():
    one_way = EmbeddedGraph(
        torch.randn(3, HIDDEN),
        torch.randn(2, BOND_DIM),
        torch.tensor([0, 2]),
        torch.tensor([1, 0]),
        torch.zeros(3, dtype=torch.long),
        1,
    )
    with pytest.raises(InputError, match="every bond in both directions"):
        DMPNNBlock(HIDDEN, BOND_DIM).prepare(one_way)


@pytest.mark.parametrize("bond_bias", [False, True])
@pytest.mark.parametrize("path_bias", [False, True])
def test_transformer_agrees_with_torchs_layer_molecule_by_molecule(bond_bias, path_bias):
    furthest = 2
    options = {"bond_bias": bond_bias, "path_bias": path_bias, "max_distance": furthest}
    block = TransformerBlock(HIDDEN, BOND_DIM, heads=HEADS, **options)
    layer = nn.TransformerEncoderLayer(HIDDEN, HEADS, 2 * HIDDEN, dropout=0.0, batch_first=True)
    randomize(block)
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(block.lin_in.weight)
        layer.self_attn.in_proj_bias.copy_(block.lin_in.bias)
    layer.self_attn.out_proj.load_state_dict(block.lin_out.state_dict())
    for ours, theirs in (
        ("ffn.0", "linear1"),
        ("ffn.2", "linear2"),
        ("norm_attention", "norm1"),
        ("norm_ffn", "norm2"),
    ):
        layer.get_submodule(theirs).load_state_dict(block.get_submodule(ours).state_dict())
    graph = random_graph(3, sizes=(7, 1, 30, 4, 12))
    adjacency = coo_array((torch.ones(len(graph.source)).numpy(), (graph.source.numpy(), graph.target.numpy())))
    adjacency.resize((graph.num_atoms, graph.num_atoms))
    lengths = torch.from_numpy(shortest_path(adjacency, unweighted=True))
    codes = torch.where(lengths <= furthest, lengths, furthest + 1.0 + lengths.isinf()).long()
    assert set(codes.flatten().tolist()) == {0, 1, 2, 3, 4}
    bias = torch.zeros(graph.num_atoms, graph.num_atoms, HEADS)
    if path_bias:
        bias += block.path_bias.weight[codes]
    if bond_bias:
        bias[graph.target, graph.source] += graph.bonds @ block.lin_bond.weight.T
    found = evaluate(block, graph)
    for number in range(graph.num_molecules):
        own = (graph.molecule == number).nonzero().squeeze(1)
        mask = bias[own][:, own].permute(2, 0, 1)
        agrees(found[own], layer(graph.atoms[own][None], src_mask=mask)[0])


def test_one_large_molecule_does_not_make_the_attention_of_small_ones_large():
    block = TransformerBlock(HIDDEN, BOND_DIM, heads=HEADS)
    graph = random_graph(sizes=(300, *[9] * 40))
    logits = sum(group.bias.numel() for group in block.prepare(graph).groups) / HEADS
    pairs = 300**2 + 40 * 9**2 + 2**2
    assert pairs <= logits <= 4 * pairs


@pytest.mark.parametrize(
    ("conv", "takes_bonds"),
    [
        (GCNConv(HIDDEN, HIDDEN), False),
        (GINEConv(nn.Linear(HIDDEN, HIDDEN), edge_dim=BOND_DIM), True),
        (GATv2Conv(HIDDEN, HIDDEN, edge_dim=BOND_DIM, add_self_loops=False), True),
    ],
)
def test_wrapped_convolution_is_the_convolution_with_its_activation(conv, takes_bonds):
    inputs = (edge_index(GRAPH), GRAPH.bonds) if takes_bonds else (edge_index(GRAPH),)
    raw = conv(GRAPH.atoms, *inputs)
    torch.testing.assert_close(evaluate(ConvBlock(conv, nn.Tanh()), GRAPH), raw.tanh())
    torch.testing.assert_close(evaluate(ConvBlock(conv), GRAPH), raw)


def test_a_convolution_can_be_iterated_without_the_rest_of_the_package():
    torch.manual_seed(0)
    conv = GINEConv(nn.Linear(HIDDEN, HIDDEN), edge_dim=BOND_DIM)
    inputs = (edge_index(GRAPH), GRAPH.bonds)
    h = GRAPH.atoms
    for _ in range(3):
        h = 0.75 * h + 0.25 * conv(h, *inputs)
    agrees(ContractiveRecurrence(conv, steps=3, dt=0.25)(GRAPH.atoms, *inputs), h)


def block_named(name, **settings):
    torch.manual_seed(0)
    return build_block(Config(block=name, hidden=HIDDEN, heads=HEADS, **settings), BOND_DIM)


@pytest.mark.parametrize("name", sorted(set(BLOCKS) - set(LOOPLESS_BLOCKS) - {"mpnn-additive"}))
def test_without_self_loops_a_lone_atom_loses_its_state_and_with_them_it_does_not(name):
    graph = random_graph(sizes=(), isolated=2)
    blind = evaluate(block_named(name, self_loops=False), graph)
    assert torch.equal(blind[0], blind[1])
    seeing = evaluate(block_named(name, self_loops=True), graph)
    assert (seeing[0] - seeing[1]).abs().max() > 1e-2


@pytest.mark.parametrize("name", sorted({*LOOPLESS_BLOCKS, "mpnn-additive"}))
def test_the_other_blocks_see_a_lone_atom_and_refuse_self_loops_that_add_nothing(name):
    block, graph = block_named(name), random_graph(sizes=(), isolated=2)
    found = block.to_atoms(evaluate(block, graph), graph)
    assert (found[0] - found[1]).abs().max() > 1e-2
    if name in LOOPLESS_BLOCKS:
        with pytest.raises(InputError, match=f"the block {name} sees an atom's own state anyway"):
            Config(block=name, self_loops=True)


@pytest.mark.parametrize("name", HEADED_BLOCKS)
def test_heads_must_divide_the_width(name):
    with pytest.raises(InputError, match=r"hidden \(10\) must be a multiple of heads \(4\)"):
        Config(block=name, hidden=10)


@pytest.mark.parametrize("name", sorted(set(BLOCKS) - {"transformer"}))
def test_a_block_gives_its_activation_away(name):
    block = block_named(name)
    before = evaluate(block, GRAPH)
    activation = block.take_activation()
    after = evaluate(block, GRAPH)
    if name == "mpnn-additive":
        assert isinstance(activation, nn.ReLU)
        assert torch.equal(after, before)
    else:
        assert (after < -1e-3).any()
        torch.testing.assert_close(activation(after), before)


def test_a_transformer_has_none_to_give():
    with pytest.raises(InputError, match="TransformerBlock cannot give its activation away"):
        block_named("transformer").take_activation()


@pytest.mark.parametrize("name", BLOCKS)
def test_gradients_in_float64(name):
    block = block_named(name).double()
    if name != "transformer":
        block.activation = nn.Tanh()
    randomize(block)
    graph = random_graph(sizes=(4,), isolated=1)

    def function(atoms, bonds):
        embedded = EmbeddedGraph(atoms, bonds, graph.source, graph.target, graph.molecule, graph.num_molecules)
        return block.to_atoms(evaluate(block, embedded), embedded)

    inputs = (graph.atoms.double().requires_grad_(), graph.bonds.double().requires_grad_())
    assert torch.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("name", BLOCKS)
def test_fresh_blocks_neither_blow_up_nor_let_the_state_fade(name):
    block = block_named(name)
    graph = random_graph(sizes=(12, 20), isolated=0)
    growth = evaluate(block, graph).norm() / block.initial(graph).norm()
    assert 0.1 < growth.item() < 10
