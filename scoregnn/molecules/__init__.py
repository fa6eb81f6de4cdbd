"""SMILES in, checked molecules as plain arrays out."""

from scoregnn.molecules.descriptors import DESCRIPTOR_KINDS, compute_descriptors, descriptor_names
from scoregnn.molecules.features import (
    ATOM_FEATURES,
    BOND_FEATURES,
    FEATURIZER_VERSION,
    Category,
    atom_features,
    bond_atoms,
    bond_features,
)
from scoregnn.molecules.featurize import FeaturizeOptions, Molecule, Refusal, featurize_one
from scoregnn.molecules.fingerprints import morgan_bits
from scoregnn.molecules.identity import canonical_smiles, identity_key
from scoregnn.molecules.isolation import Featurizer
from scoregnn.molecules.parsing import STANDARDIZE_POLICIES, MolBlock, MoleculeInput, parse_molecule
from scoregnn.molecules.scaffolds import murcko_scaffold

__all__ = [
    "ATOM_FEATURES",
    "BOND_FEATURES",
    "DESCRIPTOR_KINDS",
    "FEATURIZER_VERSION",
    "STANDARDIZE_POLICIES",
    "Category",
    "FeaturizeOptions",
    "Featurizer",
    "MolBlock",
    "Molecule",
    "MoleculeInput",
    "Refusal",
    "atom_features",
    "bond_atoms",
    "bond_features",
    "canonical_smiles",
    "compute_descriptors",
    "descriptor_names",
    "featurize_one",
    "identity_key",
    "morgan_bits",
    "murcko_scaffold",
    "parse_molecule",
]
