"""SMILES in, checked molecules as plain arrays out.

The names below are imported when first asked for: who needs only `scoregnn.molecules.inputs` does not load RDKit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scoregnn.molecules.inputs import MolBlock, MoleculeInput

if TYPE_CHECKING:
    from scoregnn.molecules._process import WorkerStartError
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
    from scoregnn.molecules.fingerprints import morgan_bits, morgan_counts
    from scoregnn.molecules.identity import canonical_smiles, identity_key
    from scoregnn.molecules.isolation import Featurizer
    from scoregnn.molecules.parsing import STANDARDIZE_POLICIES, parse_molecule
    from scoregnn.molecules.scaffolds import murcko_scaffold

_HOMES = {
    "ATOM_FEATURES": "features",
    "BOND_FEATURES": "features",
    "DESCRIPTOR_KINDS": "descriptors",
    "FEATURIZER_VERSION": "features",
    "STANDARDIZE_POLICIES": "parsing",
    "Category": "features",
    "FeaturizeOptions": "featurize",
    "Featurizer": "isolation",
    "Molecule": "featurize",
    "Refusal": "featurize",
    "WorkerStartError": "_process",
    "atom_features": "features",
    "bond_atoms": "features",
    "bond_features": "features",
    "canonical_smiles": "identity",
    "compute_descriptors": "descriptors",
    "descriptor_names": "descriptors",
    "featurize_one": "featurize",
    "identity_key": "identity",
    "morgan_bits": "fingerprints",
    "morgan_counts": "fingerprints",
    "murcko_scaffold": "scaffolds",
    "parse_molecule": "parsing",
}

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
    "WorkerStartError",
    "atom_features",
    "bond_atoms",
    "bond_features",
    "canonical_smiles",
    "compute_descriptors",
    "descriptor_names",
    "featurize_one",
    "identity_key",
    "morgan_bits",
    "morgan_counts",
    "murcko_scaffold",
    "parse_molecule",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value
