"""Many molecular graphs in a few contiguous arrays, and batches cut out of them without a loop over molecules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from scoregnn.molecules import ATOM_FEATURES, BOND_FEATURES, Molecule

ATOM_SIZES = tuple(feature.size for feature in ATOM_FEATURES)
BOND_SIZES = tuple(feature.size for feature in BOND_FEATURES)


@dataclass(frozen=True)
class GraphBatch:
    """Molecular graphs as one large graph without bonds between its parts.

    atoms: integer codes [num_atoms, num_atom_features]. bonds: integer codes [num_edges, num_bond_features], a row
    for each direction of a bond. source, target: [num_edges], sorted by target. molecule: [num_atoms].
    """

    atoms: Tensor
    bonds: Tensor
    source: Tensor
    target: Tensor
    molecule: Tensor
    num_molecules: int

    def to(self, device: torch.device | str) -> GraphBatch:
        """The same batch on another device."""
        return GraphBatch(
            atoms=self.atoms.to(device),
            bonds=self.bonds.to(device),
            source=self.source.to(device),
            target=self.target.to(device),
            molecule=self.molecule.to(device),
            num_molecules=self.num_molecules,
        )


@dataclass(frozen=True)
class MoleculeStore:
    """A columnar store of molecular graphs.

    atoms: uint8 [total_atoms, num_atom_features]. atom_offsets: int64 [num_molecules + 1].
    bonds: uint8 [total_edges, num_bond_features], source, target: int32 [total_edges], atoms counted within the
    molecule, sorted by target. edge_offsets: int64 [num_molecules + 1].
    descriptors: float64 [num_molecules, num_descriptors], as computed (NaN and infinity included).
    """

    atoms: Tensor
    atom_offsets: Tensor
    bonds: Tensor
    source: Tensor
    target: Tensor
    edge_offsets: Tensor
    descriptors: Tensor

    def __len__(self) -> int:
        return self.atom_offsets.shape[0] - 1

    @classmethod
    def from_molecules(cls, molecules: Sequence[Molecule]) -> MoleculeStore:
        """Builds the store once; the molecules may be thrown away afterwards."""
        num_atoms = np.array([len(m.atoms) for m in molecules], dtype=np.int64)
        num_edges = np.array([2 * len(m.bonds) for m in molecules], dtype=np.int64)
        bonds = _stack([m.bonds for m in molecules], 2, np.int32)
        source = np.concatenate([bonds[:, 0], bonds[:, 1]])
        target = np.concatenate([bonds[:, 1], bonds[:, 0]])
        features = np.tile(_stack([m.bond_features for m in molecules], len(BOND_FEATURES), np.uint8), (2, 1))
        owner = np.tile(np.repeat(np.arange(len(molecules)), num_edges // 2), 2)
        order = np.lexsort((source, target, owner))
        descriptors = [m.descriptors for m in molecules if m.descriptors is not None]
        width = len(descriptors[0]) if descriptors else 0
        return cls(
            atoms=torch.from_numpy(_stack([m.atoms for m in molecules], len(ATOM_FEATURES), np.uint8)),
            atom_offsets=_offsets(num_atoms),
            bonds=torch.from_numpy(features[order]),
            source=torch.from_numpy(source[order]),
            target=torch.from_numpy(target[order]),
            edge_offsets=_offsets(num_edges),
            descriptors=torch.from_numpy(np.array(descriptors, dtype=np.float64).reshape(len(molecules), width)),
        )

    def batch(self, index: Tensor) -> GraphBatch:
        """The molecules at `index` [n], in that order (repeats allowed), as one graph."""
        atom_rows, molecule, atom_starts = _ragged(self.atom_offsets, index)
        edge_rows, edge_molecule, _ = _ragged(self.edge_offsets, index)
        shift = atom_starts.index_select(0, edge_molecule)
        return GraphBatch(
            atoms=self.atoms.index_select(0, atom_rows).long(),
            bonds=self.bonds.index_select(0, edge_rows).long(),
            source=self.source.index_select(0, edge_rows) + shift,
            target=self.target.index_select(0, edge_rows) + shift,
            molecule=molecule,
            num_molecules=index.shape[0],
        )


def _stack(parts: list[np.ndarray], width: int, dtype: type) -> np.ndarray:
    if not parts:
        return np.empty((0, width), dtype=dtype)
    return np.concatenate(parts).astype(dtype, copy=False)


def _offsets(counts: np.ndarray) -> Tensor:
    return torch.from_numpy(np.concatenate([[0], counts.cumsum()]).astype(np.int64))


def _ragged(offsets: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of the segments at `index`: their numbers [total], the segment of each [total], where each begins [n]."""
    counts = (offsets[1:] - offsets[:-1]).index_select(0, index)
    starts = counts.cumsum(0) - counts
    segment = torch.repeat_interleave(torch.arange(index.shape[0]), counts)
    rows = torch.arange(segment.shape[0]) + (offsets.index_select(0, index) - starts).index_select(0, segment)
    return rows, segment, starts
