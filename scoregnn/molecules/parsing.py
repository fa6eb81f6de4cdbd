"""A text or binary structure in, a checked RDKit molecule out, under one stated standardisation policy.

Policies (`STANDARDIZE_POLICIES`)
    as-drawn: what was given, sanitised by RDKit. Explicit hydrogens become counts of their neighbour, except
        isotopes of hydrogen, charged, bridging and lone hydrogens and those on `*` (`[2H]`, `[H+]`, `[H][H]`, `*[H]`).
        The stereochemistry of an N-H imine, which only an explicit hydrogen can spell and which inverts quickly, goes
        with that hydrogen.
    parent: as-drawn, then RDKit's MolStandardize: `Cleanup` (metals disconnected, functional groups normalised,
        acids reionised), `LargestFragmentChooser` preferring organic fragments, `Uncharger`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from rdkit import Chem
from rdkit.Chem.MolStandardize import rdMolStandardize

from scoregnn.errors import InputError, InvalidMoleculeError
from scoregnn.molecules._rdkit import rdkit_settings
from scoregnn.molecules.inputs import MolBlock, MoleculeInput

MAX_LENGTH = 100_000
"""Longest SMILES read, in characters; SDF records and binary molecules may be `BLOCK_FACTOR` times as long."""

BLOCK_FACTOR = 100

STANDARDIZE_POLICIES = ("as-drawn", "parent")


def parse_molecule(item: MoleculeInput, *, standardize: str = "as-drawn") -> Chem.Mol:
    """The sanitised molecule of a SMILES, an SDF record or a binary RDKit molecule.

    Blanks around a SMILES are stripped. A ChemAxon extension after a blank (`CCO |...|`) is read by RDKit; any
    other text after a blank is refused: a name in the SMILES column means that the table was split wrongly.
    Salts, ions, radicals, isotopes, `*`, metals, dative bonds are molecules; queries and reactions are not.

    Raises `InvalidMoleculeError` with a short reason, and `InputError` for an unknown policy.
    """
    check_policy(standardize)
    reason = unreadable(item)
    if reason:
        raise InvalidMoleculeError(reason)
    with rdkit_settings():
        if isinstance(item, str):
            mol = _from_smiles(item.strip())
        elif isinstance(item, MolBlock):
            mol = _from_block(item.text)
        else:
            mol = _from_binary(item)
        if mol.GetNumAtoms() == 0:
            raise InvalidMoleculeError("a molecule without atoms")
        if mol.GetNumHeavyAtoms() < mol.GetNumAtoms():
            mol = _without_hydrogens(mol)
        return _parent(mol) if standardize == "parent" else mol


def check_policy(standardize: str) -> None:
    """Raises `InputError` unless `standardize` is one of `STANDARDIZE_POLICIES`."""
    if standardize not in STANDARDIZE_POLICIES:
        raise InputError(f"unknown standardisation {standardize!r}; known: {', '.join(STANDARDIZE_POLICIES)}")


def unreadable(item: object) -> str:
    """Why an input need not be shown to RDKit at all; "" where it should be. Cheap, runs no chemistry."""
    if isinstance(item, str):
        if len(item) > MAX_LENGTH:
            return f"a SMILES of {len(item):,} characters; at most {MAX_LENGTH:,} are read"
        text = item.strip()
        if not text:
            return "empty"
        if not text.isascii() or not text.isprintable():
            odd = next(c for c in text if not ("!" <= c <= "~" or c == " "))
            # A tab is a separator like a blank and is judged with the text behind it.
            if odd != "\t":
                return f"character {odd!a} at position {text.index(odd) + 1} cannot be in a SMILES"
        return ""
    if isinstance(item, MolBlock):
        size, kind = len(item.text), "an SDF record"
    elif isinstance(item, bytes):
        size, kind = len(item), "a binary molecule"
    elif item is None or item != item:
        return "empty"
    else:
        return f"a {type(item).__name__} is not a SMILES"
    most = MAX_LENGTH * BLOCK_FACTOR
    return f"{kind} of {size:,} characters; at most {most:,} are read" if size > most else ""


def _from_smiles(text: str) -> Chem.Mol:
    structure, _, rest = text.partition(" ") if " " in text else text.partition("\t")
    rest = rest.strip()
    if rest and not (rest.startswith("|") and rest.endswith("|") and len(rest) > 1):
        raise InvalidMoleculeError(
            f"text after a blank ({_short(rest)}); a file of SMILES and names needs the ending .smi"
        )
    # RDKit's parser turns `[H]/C1=C(/[H])CCCCCCCCCC1` from E to Z while it removes hydrogens: they are removed later.
    mol = Chem.MolFromSmiles(text, _keeping_hydrogens()) if "[H]" in text else Chem.MolFromSmiles(text)
    if mol is None:
        raise InvalidMoleculeError(_smiles_reason(structure, rest))
    if (rest or "~" in structure) and _is_query(mol):
        raise InvalidMoleculeError("a query (any-atom or any-bond), not a molecule")
    return mol


def _from_block(text: str) -> Chem.Mol:
    # RDKit reads the header as three lines from the very first character: nothing is stripped in front of it.
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        mol = Chem.MolFromMolBlock(lines, removeHs=False)
        if mol is None:
            raw = Chem.MolFromMolBlock(lines, sanitize=False, removeHs=False)
            raise InvalidMoleculeError(_sanitize_reason(raw) if raw is not None else "not a valid SDF record")
    except InvalidMoleculeError:
        raise
    except Exception as error:
        raise InvalidMoleculeError(f"not a valid SDF record: {_first_line(error)}") from None
    if _is_query(mol):
        raise InvalidMoleculeError("a query (atom list, any-atom or any-bond), not a molecule")
    return mol


def _from_binary(data: bytes) -> Chem.Mol:
    try:
        mol = Chem.Mol(data)
    except Exception as error:
        raise InvalidMoleculeError(f"not a binary RDKit molecule: {_first_line(error)}") from None
    if _is_query(mol):
        raise InvalidMoleculeError("a query (SMARTS), not a molecule")
    try:
        # The molecule comes from a user's program: it may be unsanitised, edited, or labelled by other rules.
        Chem.SanitizeMol(mol)
        _direct_bonds(mol)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    except Exception as error:
        raise InvalidMoleculeError(_first_line(error)) from None
    return mol


def _without_hydrogens(mol: Chem.Mol) -> Chem.Mol:
    # RDKit would hand on the direction of a removed hydrogen's bond, wrongly at ring closures.
    for bond in mol.GetBonds():
        bond.SetBondDir(Chem.BondDir.NONE)
    mol = Chem.RemoveHs(mol, _hydrogen_removal())
    _direct_bonds(mol)
    return mol


def _direct_bonds(mol: Chem.Mol) -> None:
    """Spell E and Z as bond directions: RDKit forgets those without when it perceives stereochemistry anew."""
    if any(bond.GetStereo() in _GEOMETRIES for bond in mol.GetBonds()):
        for bond in mol.GetBonds():
            bond.SetBondDir(Chem.BondDir.NONE)
        Chem.SetDoubleBondNeighborDirections(mol)


_GEOMETRIES = {
    Chem.BondStereo.STEREOE,
    Chem.BondStereo.STEREOZ,
    Chem.BondStereo.STEREOCIS,
    Chem.BondStereo.STEREOTRANS,
}


@cache
def _keeping_hydrogens() -> Chem.SmilesParserParams:
    parameters = Chem.SmilesParserParams()
    parameters.removeHs = False
    return parameters


@cache
def _hydrogen_removal() -> Chem.RemoveHsParameters:
    parameters = Chem.RemoveHsParameters()
    parameters.removeDefiningBondStereo = True
    parameters.removeWithWedgedBond = True
    parameters.showWarnings = False
    return parameters


@cache
def _parent_steps() -> tuple[Callable[[Chem.Mol], Chem.Mol], ...]:
    return (
        rdMolStandardize.Cleanup,
        rdMolStandardize.LargestFragmentChooser(preferOrganic=True).choose,
        rdMolStandardize.Uncharger().uncharge,
    )


def _parent(mol: Chem.Mol) -> Chem.Mol:
    try:
        for step in _parent_steps():
            mol = step(mol)
        Chem.SanitizeMol(mol)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    except Exception as error:
        raise InvalidMoleculeError(f"RDKit finds no parent structure: {_first_line(error)}") from None
    if mol.GetNumAtoms() == 0:
        raise InvalidMoleculeError("no parent structure is left")
    return mol


def _is_query(mol: Chem.Mol) -> bool:
    # The null query of a dummy atom matches anything, as `*` should; A, Q, X and atom lists ask for something.
    return any(atom.HasQuery() and atom.DescribeQuery().strip() != "AtomNull" for atom in mol.GetAtoms()) or any(
        bond.HasQuery() for bond in mol.GetBonds()
    )


def _smiles_reason(structure: str, rest: str) -> str:
    if ">" in structure.replace("->", ""):
        return "a reaction, not a molecule"
    raw = Chem.MolFromSmiles(structure, sanitize=False)
    if raw is not None:
        reason = _sanitize_reason(raw)
        return reason if reason or not rest else f"RDKit cannot read the extension {_short(rest)}"
    return _syntax_reason(structure)


def _sanitize_reason(raw: Chem.Mol) -> str:
    try:
        Chem.SanitizeMol(raw)
    except Exception as error:
        return _first_line(error)
    return ""


def _syntax_reason(smiles: str) -> str:
    """What is wrong with a SMILES that RDKit cannot parse, where a look at its brackets tells."""
    if smiles.count("[") != smiles.count("]"):
        return f"not a SMILES: unmatched square bracket in {_short(smiles)}"
    bare = re.sub(r"\[[^\]]*\]", "", smiles)
    if bare.count("(") != bare.count(")"):
        return f"not a SMILES: unmatched parenthesis in {_short(smiles)}"
    labels = ["".join(found) for found in re.findall(r"%\((\d+)\)|%(\d\d)|(\d)", bare)]
    unclosed = sorted({int(label) for label in labels if labels.count(label) % 2})
    if unclosed:
        return f"not a SMILES: ring closure {unclosed[0]} is not closed in {_short(smiles)}"
    return f"not a SMILES that RDKit can read: {_short(smiles)}"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return _short(lines[0], 160, quote=False) if lines else type(error).__name__


def _short(text: str, most: int = 40, *, quote: bool = True) -> str:
    text = text if len(text) <= most else text[:most] + "..."
    return repr(text) if quote else text
