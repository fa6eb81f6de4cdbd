"""Atoms and bonds as small whole numbers, one column a property, to be embedded by a network.

A feature depends on the molecule only, never on how its SMILES was written: no raw chiral tags, no explicit or
implicit hydrogen counts, nothing that depends on the choice of a smallest set of rings. (The size of the smallest
ring through an atom does not: every minimum cycle basis contains a shortest ring through each ring atom.)

R/S and E/Z are the labels of RDKit's own ("legacy") perception of stereochemistry. The newer labelling
(`rdCIPLabeler`) was tried and not taken: on stereoisomers of hexachlorocyclohexane its labels change with the order
of the atoms. A double bond of unknown geometry ("either" in an SDF file) counts as one without: SMILES cannot tell
them apart.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from rdkit import Chem

FEATURIZER_VERSION = 1
"""To be raised whenever a feature, its codes or a descriptor list changes: models record it."""


@dataclass(frozen=True)
class Category:
    """A property with a few known values: code i stands for `values[i]`, the last code for every other value."""

    name: str
    values: tuple[Hashable, ...]
    codes: dict[Hashable, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", {value: code for code, value in enumerate(self.values)})

    @property
    def size(self) -> int:
        """Number of codes, the "other" included."""
        return len(self.values) + 1

    @property
    def other(self) -> int:
        """Code of a value that is not listed."""
        return len(self.values)

    def code(self, value: Hashable) -> int:
        """The code of a value, `other` where it is not listed."""
        return self.codes.get(value, self.other)


_SYMBOLS = (
    "* H B C N O F Si P S Cl Br I Se As Te Ge Li Be Na Mg Al K Ca Ti V Cr Mn Fe Co Ni Cu Zn Ga Sr Zr Mo "
    "Ru Rh Pd Ag Cd In Sn Sb Cs Ba La Ce Gd W Re Os Ir Pt Au Hg Tl Pb Bi U"
)
ELEMENTS = tuple(_SYMBOLS.split())
"""Elements with a code of their own; `*` is a dummy atom, an attachment point."""

_H = Chem.HybridizationType
_B = Chem.BondType
_S = Chem.BondStereo
_HYBRIDIZATIONS = (_H.S, _H.SP, _H.SP2, _H.SP3, _H.SP2D, _H.SP3D, _H.SP3D2)
_BOND_TYPES = (_B.SINGLE, _B.DOUBLE, _B.TRIPLE, _B.AROMATIC, _B.DATIVE, _B.ZERO)

ATOM_FEATURES: tuple[Category, ...] = (
    Category("element", ELEMENTS),
    Category("degree", (0, 1, 2, 3, 4, 5, 6)),
    Category("hydrogens", (0, 1, 2, 3, 4)),
    Category("charge", (0, 1, -1, 2, -2, 3, -3, 4, -4)),
    Category("hybridization", tuple(str(h) for h in _HYBRIDIZATIONS)),
    Category("aromatic", (False, True)),
    Category("in_ring", (False, True)),
    Category("smallest_ring", (0, 3, 4, 5, 6, 7, 8)),
    Category("chirality", ("", "R", "S", "r", "s")),
    Category("isotope", (False, True)),
    Category("radical_electrons", (0, 1, 2)),
)
"""Columns of `atom_features`. `degree` counts bonds to atoms of the graph, so not to removed hydrogens;
`smallest_ring` is 0 outside rings; `isotope` tells whether one is given."""

BOND_FEATURES: tuple[Category, ...] = (
    Category("type", tuple(str(b) for b in _BOND_TYPES)),
    Category("conjugated", (False, True)),
    Category("in_ring", (False, True)),
    Category("stereo", ("", "E", "Z")),
)
"""Columns of `bond_features`."""

_ELEMENT, _, _HYDROGENS, _CHARGE, _, _, _, _RING, _CHIRALITY, _, _RADICALS = ATOM_FEATURES
_DEGREE_OTHER = ATOM_FEATURES[1].other


def _by_number(symbols: tuple[str, ...]) -> list[int]:
    table = Chem.GetPeriodicTable()
    numbers = [0 if symbol == "*" else table.GetAtomicNumber(symbol) for symbol in symbols]
    codes = [len(symbols)] * 256
    for code, number in enumerate(numbers):
        codes[number] = code
    return codes


# Keyed by what RDKit returns, so that an atom costs look-ups only.
_ELEMENT_CODES = _by_number(ELEMENTS)
_HYBRIDIZATION_CODES = {h: ATOM_FEATURES[4].code(str(h)) for h in _H.values.values()}
_BOND_TYPE_CODES = {b: BOND_FEATURES[0].code(str(b)) for b in _B.values.values()}
_STEREO_CODES = {s: BOND_FEATURES[3].other for s in _S.values.values()} | {
    _S.STEREONONE: 0,
    _S.STEREOANY: 0,
    _S.STEREOE: 1,
    _S.STEREOZ: 2,
}
_UNTAGGED = Chem.ChiralType.CHI_UNSPECIFIED


def atom_features(mol: Chem.Mol) -> np.ndarray:
    """Codes of every atom: uint8 [num_atoms, len(ATOM_FEATURES)], in the order of the molecule's atoms."""
    smallest_ring = mol.GetRingInfo().MinAtomRingSize
    charges, hydrogens, rings, radicals = _CHARGE.codes, _HYDROGENS.codes, _RING.codes, _RADICALS.codes
    other_charge, other_hydrogens, other_ring, other_radicals = (
        c.other for c in (_CHARGE, _HYDROGENS, _RING, _RADICALS)
    )
    codes: list[int] = []
    for index, atom in enumerate(mol.GetAtoms()):
        ring = smallest_ring(index)
        tagged = atom.GetChiralTag() != _UNTAGGED
        codes += (
            _ELEMENT_CODES[atom.GetAtomicNum()],
            min(atom.GetDegree(), _DEGREE_OTHER),
            hydrogens.get(atom.GetTotalNumHs(), other_hydrogens),
            charges.get(atom.GetFormalCharge(), other_charge),
            _HYBRIDIZATION_CODES[atom.GetHybridization()],
            atom.GetIsAromatic(),
            ring > 0,
            rings.get(ring, other_ring),
            _CHIRALITY.code(atom.GetProp("_CIPCode")) if tagged and atom.HasProp("_CIPCode") else 0,
            atom.GetIsotope() > 0,
            radicals.get(atom.GetNumRadicalElectrons(), other_radicals),
        )
    return np.array(codes, dtype=np.uint8).reshape(-1, len(ATOM_FEATURES))


def bond_features(mol: Chem.Mol) -> np.ndarray:
    """Codes of every bond: uint8 [num_bonds, len(BOND_FEATURES)], in the order of the molecule's bonds."""
    codes: list[int] = []
    for bond in mol.GetBonds():
        codes += (
            _BOND_TYPE_CODES[bond.GetBondType()],
            bond.GetIsConjugated(),
            bond.IsInRing(),
            _STEREO_CODES[bond.GetStereo()],
        )
    return np.array(codes, dtype=np.uint8).reshape(-1, len(BOND_FEATURES))


def bond_atoms(mol: Chem.Mol) -> np.ndarray:
    """Both atoms of every bond: int32 [num_bonds, 2]; a dative bond points from donor to acceptor."""
    ends: list[int] = []
    for bond in mol.GetBonds():
        ends += (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
    return np.array(ends, dtype=np.int32).reshape(-1, 2)
