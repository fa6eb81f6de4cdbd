"""Segment operations and readouts against plain loops."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, Set2Set

from scoregnn.config import READOUTS
from scoregnn.errors import InputError
from scoregnn.nn.inputs import CategoricalEmbedding, EmbeddedGraph
from scoregnn.nn.readouts import build_readout
from scoregnn.nn.segments import segment_max, segment_mean, segment_softmax, segment_sum

SEGMENT = torch.tensor([0, 2, 2, 0, 2, 3])
VALUES = torch.tensor([[1.0, -4.0], [2.0, 5.0], [-3.0, 7.0], [4.0, -6.0], [6.0, 1.0], [-8.0, -9.0]])


def test_sum_mean_and_max_by_hand_with_an_empty_segment():
    assert segment_sum(VALUES, SEGMENT, 5).tolist() == [[5, -10], [0, 0], [5, 13], [-8, -9], [0, 0]]
    torch.testing.assert_close(
        segment_mean(VALUES, SEGMENT, 5),
        torch.tensor([[2.5, -5], [0, 0], [5 / 3, 13 / 3], [-8, -9], [0, 0]]),
    )
    assert segment_max(VALUES, SEGMENT, 5).tolist() == [[4, -4], [0, 0], [6, 7], [-8, -9], [0, 0]]


def test_softmax_is_torchs_softmax_within_each_segment_even_for_large_logits():
    logits = 1000 * VALUES
    result = segment_softmax(logits, SEGMENT, 4)
    for segment in (0, 2, 3):
        rows = segment == SEGMENT
        torch.testing.assert_close(result[rows], logits[rows].softmax(dim=0))


def graph_of(molecule):
    empty = torch.empty(0, dtype=torch.long)
    return EmbeddedGraph(
        torch.empty(len(molecule), 0), torch.empty(0, 0), empty, empty, molecule, int(molecule.max()) + 1
    )


MOLECULE = torch.tensor([0, 0, 1, 2, 2, 2])


def atoms_and_readout(name):
    torch.manual_seed(0)
    return torch.randn(6, 4), build_readout(name, 4)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "attention"])
def test_readouts_equal_a_loop_over_molecules(name):
    atoms, readout = atoms_and_readout(name)
    expected = []
    for number in range(3):
        own = atoms[number == MOLECULE]
        if name == "attention":
            expected.append((readout.score(own).softmax(dim=0) * own).sum(0))
        else:
            expected.append({"sum": own.sum(0), "mean": own.mean(0), "max": own.amax(0)}[name])
    torch.testing.assert_close(readout(atoms, graph_of(MOLECULE)), torch.stack(expected))


def test_set2set_agrees_with_pyg():
    atoms, readout = atoms_and_readout("set2set")
    theirs = Set2Set(4, processing_steps=3)
    with torch.no_grad():
        for name, parameter in readout.lstm.named_parameters():
            getattr(theirs.lstm, f"{name}_l0").copy_(parameter)
    assert readout.out_dim == 8
    torch.testing.assert_close(readout(atoms, graph_of(MOLECULE)), theirs(atoms, MOLECULE))


def test_molattfp_agrees_with_the_attention_of_pyg_and_a_gru():
    atoms, readout = atoms_and_readout("molattfp")
    conv = GATConv(4, 4, add_self_loops=False, negative_slope=0.01)
    leaky = nn.functional.leaky_relu
    with torch.no_grad():
        conv.lin.weight.copy_(readout.lin_value.weight)
        conv.bias.copy_(readout.lin_value.bias)
    molecules = leaky(torch.stack([atoms[number == MOLECULE].sum(0) for number in range(3)]))
    for _ in range(2):
        # PyG scores the mapped states, a . W h; solving for its a gives the scores of the states themselves.
        with torch.no_grad():
            inverse = torch.linalg.inv(readout.lin_value.weight)
            conv.att_src.copy_((readout.score_atom.weight @ inverse)[None])
            conv.att_dst.copy_((readout.score_molecule.weight @ inverse)[None])
        readout.score_atom.bias.data.zero_()
        edges = torch.stack([torch.arange(6), MOLECULE])
        context = nn.functional.elu(conv((atoms, molecules), edges))
        molecules = leaky(readout.gru(context, molecules))
    torch.testing.assert_close(readout(atoms, graph_of(MOLECULE)), molecules, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", READOUTS)
def test_width_of_a_readout_is_what_it_says_and_gradients_agree_in_float64(name):
    atoms, readout = atoms_and_readout(name)
    readout.double()
    assert readout(atoms.double(), graph_of(MOLECULE)).shape == (3, readout.out_dim)
    inputs = atoms.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda values: readout(values, graph_of(MOLECULE)), (inputs,))


def test_unknown_readout_is_refused():
    with pytest.raises(InputError, match="unknown readout 'median'"):
        build_readout("median", 4)


def test_categorical_embedding_adds_the_rows_of_each_feature():
    torch.manual_seed(0)
    embedding = CategoricalEmbedding((3, 2, 4), 5)
    table = embedding.table.weight
    result = embedding(torch.tensor([[2, 0, 3], [0, 1, 0]]))
    torch.testing.assert_close(result, torch.stack([table[2] + table[3] + table[8], table[0] + table[4] + table[5]]))
