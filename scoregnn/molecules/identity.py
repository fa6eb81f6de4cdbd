"""When two rows are the same molecule."""

from __future__ import annotations

from rdkit import Chem

from scoregnn.molecules._rdkit import rdkit_settings

_NO_STRUCTURE = "MOSFIJXAXDLOML-UHFFFAOYSA-N"  # InChIKey of the empty InChI


def identity_key(mol: Chem.Mol) -> str:
    """The standard InChIKey, or `smiles:` + canonical SMILES where RDKit gives none (`*`, over 1,024 atoms).

    Spellings and simple tautomers (mobile hydrogens) share a key; salts, stereoisomers, isotopologues do not.
    Nothing is printed: InChI's warnings concern its own normalisation, not the molecule.
    """
    with rdkit_settings():
        key: str = Chem.MolToInchiKey(mol)
        return key if key and key != _NO_STRUCTURE else "smiles:" + canonical_smiles(mol)


def canonical_smiles(mol: Chem.Mol) -> str:
    """RDKit's canonical isomeric SMILES."""
    smiles: str = Chem.MolToSmiles(mol)
    return smiles
