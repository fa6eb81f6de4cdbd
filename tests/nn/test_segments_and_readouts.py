"""Segment operations and readouts against plain loops."""

import pytest
import torch

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


@pytest.mark.parametrize("name", READOUTS)
def test_readouts_equal_a_loop_over_molecules(name):
    torch.manual_seed(0)
    molecule = torch.tensor([0, 0, 1, 2, 2, 2])
    atoms = torch.randn(6, 4)
    readout = build_readout(name, 4)
    expected = []
    for number in range(3):
        own = atoms[molecule == number]
        if name == "attention":
            expected.append((readout.score(own).softmax(dim=0) * own).sum(0))
        else:
            expected.append({"sum": own.sum(0), "mean": own.mean(0), "max": own.amax(0)}[name])
    torch.testing.assert_close(readout(atoms, graph_of(molecule)), torch.stack(expected))


def test_unknown_readout_is_refused():
    with pytest.raises(InputError, match="unknown readout 'median'"):
        build_readout("median", 4)


def test_categorical_embedding_adds_the_rows_of_each_feature():
    torch.manual_seed(0)
    embedding = CategoricalEmbedding((3, 2, 4), 5)
    table = embedding.table.weight
    result = embedding(torch.tensor([[2, 0, 3], [0, 1, 0]]))
    torch.testing.assert_close(result, torch.stack([table[2] + table[3] + table[8], table[0] + table[4] + table[5]]))
