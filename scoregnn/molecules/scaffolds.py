"""Bemis-Murcko scaffolds, for splits that hold whole ring systems out."""

from __future__ import annotations

from rdkit import Chem
from rdkit.Chem.Scaffolds import MurckoScaffold

from scoregnn.molecules._rdkit import rdkit_settings


def murcko_scaffold(mol: Chem.Mol) -> str:
    """Canonical SMILES, without stereochemistry, of the Bemis-Murcko scaffold; "" for an acyclic molecule.

    Rings, the chains that link them, and atoms double-bonded to either, as RDKit defines it.
    Source: Bemis & Murcko, J. Med. Chem. 39, 2887 (1996).
    """
    if mol.GetRingInfo().NumRings() == 0:
        return ""
    with rdkit_settings():
        smiles: str = MurckoScaffold.MurckoScaffoldSmiles(mol=mol, includeChirality=False)
    return smiles
