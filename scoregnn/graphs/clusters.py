"""Taylor-Butina clustering of packed fingerprints, in blocks: memory does not grow with the square of n."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoregnn.errors import InputError

BLOCK = 1024


def butina_clusters(fingerprints: NDArray[np.uint8], *, cutoff: float = 0.35, block: int = BLOCK) -> NDArray[np.int64]:
    """Cluster number of each fingerprint, in the order in which the clusters are found.

    Shape: `[n, num_bytes]` packed bits to `[n]`. Two fingerprints are neighbours where their Tanimoto
    distance is at most `cutoff`, in [0, 1]. The fingerprint with most neighbours (of equal ones the last) and
    its neighbours become the first cluster and are taken away, and so on down the list, without counting
    neighbours anew (Butina 1999, doi:10.1021/ci9803381); RDKit's `ML.Cluster.Butina` gives the same clusters.
    Distances are computed twice instead of being kept: memory is `block * n` numbers. Raises `InputError` for
    a bad cutoff or array.
    """
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | float) or not 0 <= cutoff <= 1:
        raise InputError(f"the cutoff must be a Tanimoto distance from 0 to 1, not {cutoff!r}")
    if fingerprints.ndim != 2 or fingerprints.dtype != np.uint8:
        raise InputError(
            f"fingerprints must be uint8 bits [n, bytes], not {fingerprints.dtype} {list(fingerprints.shape)}"
        )
    bits = np.bitwise_count(fingerprints).sum(axis=1, dtype=np.float32)
    counts = _neighbour_counts(fingerprints, bits, cutoff, block)
    ranked = np.lexsort((np.arange(len(counts)), counts))[::-1]
    clusters = np.full(len(counts), -1, dtype=np.int64)
    found = 0
    while (ranked := ranked[clusters[ranked] < 0]).size:
        centres = ranked[:block]
        free = np.flatnonzero(clusters < 0)
        near = np.concatenate(
            [
                _neighbours(fingerprints, bits, centres, free[start : start + block], cutoff)
                for start in range(0, len(free), block)
            ],
            axis=1,
        )
        for centre, row in zip(centres, near, strict=True):
            if clusters[centre] < 0:
                members = free[row]
                clusters[members[clusters[members] < 0]] = found
                clusters[centre] = found
                found += 1
    return clusters


def _neighbour_counts(
    fingerprints: NDArray[np.uint8], bits: NDArray[np.float32], cutoff: float, block: int
) -> NDArray[np.int64]:
    """Neighbours of each fingerprint, itself included; each pair of blocks is computed once."""
    rows = np.arange(len(fingerprints))
    counts = np.zeros(len(rows), dtype=np.int64)
    for start in range(0, len(rows), block):
        left = rows[start : start + block]
        for other in range(start, len(rows), block):
            right = rows[other : other + block]
            near = _neighbours(fingerprints, bits, left, right, cutoff)
            counts[left] += near.sum(axis=1)
            if other > start:
                counts[right] += near.sum(axis=0)
    return counts


def _neighbours(
    fingerprints: NDArray[np.uint8],
    bits: NDArray[np.float32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    cutoff: float,
) -> NDArray[np.bool_]:
    """Whether the distance is at most the cutoff, `[left, right]`; two empty fingerprints are the same."""
    shared = _unpacked(fingerprints[left]) @ _unpacked(fingerprints[right]).T
    either = bits[left][:, None] + bits[right][None, :] - shared
    # In double precision, so that pairs exactly at the cutoff are judged as RDKit judges them.
    similarity = np.divide(shared, either, out=np.ones(shared.shape), where=either > 0, dtype=np.float64)
    return np.asarray(1.0 - similarity <= cutoff)


def _unpacked(fingerprints: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bits as numbers: their matrix product counts shared bits, exact in float32 below 2**24 bits."""
    return np.unpackbits(fingerprints, axis=1).astype(np.float32)
