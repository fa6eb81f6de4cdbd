"""From an input to plain arrays: everything this room computes about one molecule, in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoregnn.molecules._rdkit import rdkit_settings
from scoregnn.molecules.descriptors import compute_descriptors, descriptor_names
from scoregnn.molecules.features import atom_features, bond_atoms, bond_features
from scoregnn.molecules.fingerprints import morgan_bits, morgan_counts
from scoregnn.molecules.identity import canonical_smiles, identity_key
from scoregnn.molecules.inputs import MoleculeInput
from scoregnn.molecules.parsing import check_policy, parse_molecule
from scoregnn.molecules.scaffolds import murcko_scaffold


@dataclass(frozen=True)
class FeaturizeOptions:
    """What to compute besides the graph.

    standardize: one of `STANDARDIZE_POLICIES`. descriptors: one of `DESCRIPTOR_KINDS`.
    identity, scaffold, fingerprint, smiles: whether to fill `key`, `scaffold`, `fingerprint`, `smiles` of `Molecule`.
    fingerprint_counts: whether to fill the field of that name.
    """

    standardize: str = "as-drawn"
    descriptors: str = "none"
    identity: bool = False
    scaffold: bool = False
    fingerprint: bool = False
    smiles: bool = False
    fingerprint_counts: bool = False

    def __post_init__(self) -> None:
        check_policy(self.standardize)
        descriptor_names(self.descriptors)


@dataclass(frozen=True, eq=False)
class Molecule:
    """A molecule as plain arrays, free of RDKit.

    atoms: uint8 [num_atoms, len(ATOM_FEATURES)]. bonds: int32 [num_bonds, 2], each bond once.
    bond_features: uint8 [num_bonds, len(BOND_FEATURES)]. descriptors: float64 [num_descriptors], with NaN.
    key: see `identity_key`. scaffold: see `murcko_scaffold`. fingerprint: see `morgan_bits`.
    smiles: canonical. fingerprint_counts: see `morgan_counts`. What was not asked for is None.
    """

    atoms: np.ndarray
    bonds: np.ndarray
    bond_features: np.ndarray
    descriptors: np.ndarray | None = None
    key: str | None = None
    scaffold: str | None = None
    fingerprint: np.ndarray | None = None
    smiles: str | None = None
    fingerprint_counts: np.ndarray | None = None

    @property
    def num_atoms(self) -> int:
        return len(self.atoms)

    @property
    def num_bonds(self) -> int:
        return len(self.bonds)


@dataclass(frozen=True)
class Refusal:
    """Why an input did not become a molecule, in a few words and without its row number."""

    reason: str


def featurize_one(item: MoleculeInput, options: FeaturizeOptions | None = None) -> Molecule:
    """Parse and featurise in this process, without a time limit; raises `InvalidMoleculeError`.

    For input that is not trusted, `Featurizer` does the same in worker processes.
    """
    options = options or FeaturizeOptions()
    with rdkit_settings():
        mol = parse_molecule(item, standardize=options.standardize)
        wanted = options.descriptors
        return Molecule(
            atoms=atom_features(mol),
            bonds=bond_atoms(mol),
            bond_features=bond_features(mol),
            descriptors=None if wanted == "none" else compute_descriptors(mol, wanted),
            key=identity_key(mol) if options.identity else None,
            scaffold=murcko_scaffold(mol) if options.scaffold else None,
            fingerprint=morgan_bits(mol) if options.fingerprint else None,
            smiles=canonical_smiles(mol) if options.smiles else None,
            fingerprint_counts=morgan_counts(mol) if options.fingerprint_counts else None,
        )
