"""Taylor-Butina clusters against RDKit's, and by hand."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdFingerprintGenerator
from rdkit.ML.Cluster import Butina

from scoregnn.errors import InputError
from scoregnn.graphs.clusters import butina_clusters
from scoregnn.graphs.splits import butina_split, cluster_groups


def rdkit_clusters(bit_vectors, cutoff: float) -> list[list[int]]:
    distances = []
    for position in range(1, len(bit_vectors)):
        similar = DataStructs.BulkTanimotoSimilarity(bit_vectors[position], bit_vectors[:position])
        distances += [1.0 - value for value in similar]
    clusters = Butina.ClusterData(distances, len(bit_vectors), cutoff, isDistData=True, reordering=False)
    return [sorted(cluster) for cluster in clusters]


def our_clusters(packed: np.ndarray, cutoff: float, block: int) -> list[list[int]]:
    numbers = butina_clusters(packed, cutoff=cutoff, block=block)
    return [np.flatnonzero(numbers == number).tolist() for number in range(numbers.max() + 1)]


def to_bit_vector(bits: np.ndarray) -> DataStructs.ExplicitBitVect:
    vector = DataStructs.ExplicitBitVect(len(bits))
    vector.SetBitsFromList(np.flatnonzero(bits).tolist())
    return vector


@pytest.mark.parametrize("cutoff", [0.2, 0.35, 0.6])
def test_same_clusters_as_rdkit_on_esol(shared_data, cutoff):
    with (shared_data / "esol.csv").open(newline="") as file:
        smiles = sorted({row["smiles"].strip() for row in csv.DictReader(file)})
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    with rdBase.BlockLogs():
        vectors = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    packed = np.packbits([np.frombuffer(v.ToBitString().encode(), np.uint8) - ord("0") for v in vectors], axis=1)
    assert our_clusters(packed, cutoff, block=200) == rdkit_clusters(vectors, cutoff)


@given(
    st.integers(1, 30),
    st.sampled_from([0.0, 0.25, 0.35, 0.5, 0.75, 1.0]),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_same_clusters_as_rdkit_on_short_fingerprints_full_of_ties(number, cutoff, block, seed):
    bits = np.random.default_rng(seed).random((number, 8)) < 0.4
    bits[:, 0] |= ~bits.any(axis=1)
    vectors = [to_bit_vector(row) for row in bits]
    assert our_clusters(np.packbits(bits, axis=1), cutoff, block) == rdkit_clusters(vectors, cutoff)


def test_clusters_by_hand():
    bits = [
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 1, 0, 0],
    ]
    packed = np.packbits(bits, axis=1)
    # Distances: 1/4 between the first two, 1/3 between the last two, 5/6 between the first and the last.
    assert butina_clusters(packed, cutoff=0.25).tolist() == [0, 0, 2, 1]
    assert butina_clusters(packed, cutoff=0.34).tolist() == [1, 1, 0, 0]
    assert butina_clusters(packed, cutoff=0.24).tolist() == [3, 2, 1, 0]


def test_empty_fingerprints_are_one_cluster():
    packed = np.array([[0], [0], [7]], dtype=np.uint8)
    assert butina_clusters(packed).tolist() == [0, 0, 1]
    assert butina_clusters(np.zeros((0, 4), dtype=np.uint8)).tolist() == []


def test_a_group_is_clustered_once_by_its_smallest_fingerprint():
    packed = np.array([[0b11110000], [0b00001111], [0b11110000], [0b00001111]], dtype=np.uint8)
    assert cluster_groups(["a", "a", "b", "c"], packed, cutoff=0.1) == [0, 0, 1, 0]


def test_split_keeps_lookalikes_together():
    rng = np.random.default_rng(0)
    packed = np.repeat(rng.integers(0, 256, (20, 16), dtype=np.uint8), 5, axis=0)
    split = butina_split([f"k{row:03d}" for row in range(100)], packed, seed=1)
    for part in split.parts.values():
        assert (np.bincount(part // 5, minlength=20) % 5 == 0).all()
    assert [len(part) for part in split.parts.values()] == [80, 10, 10]


def test_wrong_fingerprints_and_cutoffs():
    packed = np.zeros((3, 4), dtype=np.uint8)
    with pytest.raises(InputError, match=r"Tanimoto distance from 0 to 1, not 1\.5"):
        butina_split(list("abc"), packed, cutoff=1.5)
    with pytest.raises(InputError, match="for each of 2 rows"):
        butina_split(list("ab"), packed)
    with pytest.raises(InputError, match="uint8 bits"):
        butina_clusters(np.zeros((3, 4)))
