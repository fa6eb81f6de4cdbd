"""What becomes a molecule, what is refused and why."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rdkit import Chem

from scoregnn.errors import InputError, InvalidMoleculeError
from scoregnn.molecules import MolBlock, canonical_smiles, parse_molecule
from scoregnn.molecules.parsing import MAX_LENGTH


@pytest.mark.parametrize(
    ("smiles", "atoms", "canonical"),
    [
        ("C", 1, "C"),
        (" CCO\t", 3, "CCO"),
        ("[Na+].[Cl-]", 2, "[Cl-].[Na+]"),
        ("[U]", 1, "[U]"),
        ("C*", 2, "*C"),
        ("[13CH4]", 1, "[13CH4]"),
        ("[2H]O[2H]", 3, "[2H]O[2H]"),
        ("[H]O[H]", 1, "O"),
        ("[H][H]", 2, "[H][H]"),
        ("[H+]", 1, "[H+]"),
        ("N->[Pt]", 2, "[NH3]->[Pt]"),
        ("[H]*", 2, "*[H]"),
        ("[H]/N=C/C", 3, "CC=N"),
        ("C" * 1200, 1200, "C" * 1200),
        ("CCO |r|", 3, "CCO"),
        ("CCO |^1:0|", 3, "[CH2]CO"),
    ],
)
def test_accepted(smiles: str, atoms: int, canonical: str) -> None:
    mol = parse_molecule(smiles)
    assert mol.GetNumAtoms() == atoms
    assert canonical_smiles(mol) == canonical


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        (None, "empty"),
        (float("nan"), "empty"),
        (1.5, "a float is not a SMILES"),
        (["C"], "a list is not a SMILES"),
        ("CC>>CC", "a reaction"),
        ("CCO ethanol", "text after a blank ('ethanol')"),
        ("CCO\tethanol", "text after a blank ('ethanol')"),
        ("CCO |garbage|", "cannot read the extension"),
        ("C\x00C", r"character '\x00' at position 2"),
        ("CCé", r"character '\xe9' at position 3"),
        ("C\nC", r"character '\n' at position 2"),
        ("C\ud800", r"character '\ud800' at position 2"),
        ("C(C)(C)(C)(C)C", "valence for atom # 0 C, 5"),
        ("c1cccc1", "Can't kekulize"),
        ("C1CC", "ring closure 1 is not closed"),
        ("C%(100)CC", "ring closure 100 is not closed"),
        ("C(C", "unmatched parenthesis"),
        ("C[Na", "unmatched square bracket"),
        ("not_a_smiles", "not a SMILES"),
        ("[C,N]", "not a SMILES"),
        ("C~C", "a query"),
        ("C" * (MAX_LENGTH + 1), "100,001 characters"),
        (b"", "not a binary RDKit molecule"),
        (b"\x00\x01garbage", "not a binary RDKit molecule"),
        (MolBlock(""), "not a valid SDF record"),
        (MolBlock("CCO"), "not a valid SDF record"),
        (Chem.MolFromSmarts("[C,N]-[#8]").ToBinary(), "a query"),
        (Chem.Mol().ToBinary(), "without atoms"),
        (Chem.MolFromSmiles("CN(C)(C)C", sanitize=False).ToBinary(), "valence"),
    ],
)
def test_refused_with_a_reason(item: object, reason: str) -> None:
    with pytest.raises(InvalidMoleculeError) as caught:
        parse_molecule(item)  # type: ignore[arg-type]
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("standardize", ["as-drawn", "parent"])
@pytest.mark.parametrize(
    ("smiles", "geometry"),
    [
        ("[H]/C1=C(/[H])CCCCCCCCCC1", "E"),  # both hydrogens trans, so both ring bonds trans
        ("[H]/C1=C(\\[H])CCCCCCCCCC1", "Z"),
        ("[H]/C(C)=C(/[H])C", "E"),
        ("[H]/C(C)=C(\\[H])C", "Z"),
        ("C/C=C/C", "E"),
        ("C/C(Cl)=C(\\[H])F", "Z"),  # H cis to CH3, so F cis to Cl, and these two rank highest
        ("CC/C=C/[H]", ""),
        ("[H]/C([H])=C/C", ""),
    ],
)
def test_geometry_survives_every_way_in(smiles: str, geometry: str, standardize: str) -> None:
    codes = {Chem.BondStereo.STEREOE: "E", Chem.BondStereo.STEREOZ: "Z"}
    keep = Chem.SmilesParserParams()
    keep.removeHs = False
    explicit = Chem.MolFromSmiles(smiles, keep)
    for item in (smiles, explicit.ToBinary(), MolBlock(Chem.MolToMolBlock(explicit))):
        mol = parse_molecule(item, standardize=standardize)
        assert mol.GetNumAtoms() == mol.GetNumHeavyAtoms()
        assert "".join(codes[b.GetStereo()] for b in mol.GetBonds() if b.GetStereo()) == geometry
        # What is written from it is the same molecule again.
        assert canonical_smiles(parse_molecule(canonical_smiles(mol))) == canonical_smiles(mol)


@pytest.mark.parametrize("v3000", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_sdf_record(v3000: bool, newline: str) -> None:
    smiles = "C[C@H](N)C(=O)O.F/C=C/Cl"
    block = Chem.MolToMolBlock(Chem.AddHs(Chem.MolFromSmiles(smiles)), forceV3000=v3000)
    record = (block + "> <logS>\n-1.5\n\n$$$$\n").replace("\n", newline)
    assert canonical_smiles(parse_molecule(MolBlock(record))) == Chem.CanonSmiles(smiles)


def block_with(symbol: str) -> MolBlock:
    return MolBlock(Chem.MolToMolBlock(Chem.MolFromSmiles("C[Po]")).replace("Po ", symbol.ljust(3)))


@pytest.mark.parametrize("symbol", ["A", "Q", "X"])
def test_sdf_query_atoms_are_refused(symbol: str) -> None:
    with pytest.raises(InvalidMoleculeError, match="a query"):
        parse_molecule(block_with(symbol))


@pytest.mark.parametrize("symbol", ["*", "R", "R#"])
def test_sdf_attachment_points_are_dummy_atoms(symbol: str) -> None:
    assert [atom.GetAtomicNum() for atom in parse_molecule(block_with(symbol)).GetAtoms()] == [6, 0]


def test_sdf_atom_list_is_a_query() -> None:
    with pytest.raises(InvalidMoleculeError, match="a query"):
        parse_molecule(MolBlock(Chem.MolToMolBlock(Chem.MolFromSmarts("C-[N,O]"))))


def test_binary_molecules_are_sanitised_again() -> None:
    raw = Chem.MolFromSmiles("[H]C1=CC=CC=C1[C@]([H])(F)Cl", sanitize=False)
    mol = parse_molecule(raw.ToBinary())
    assert canonical_smiles(mol) == Chem.CanonSmiles("c1ccccc1[C@]([H])(F)Cl")
    assert [atom.GetProp("_CIPCode") for atom in mol.GetAtoms() if atom.HasProp("_CIPCode")]


@pytest.mark.parametrize(
    ("given", "parent"),
    [
        ("CC(=O)[O-].[Na+]", "CC(=O)O"),
        ("Cl.C[NH+](C)C", "CN(C)C"),
        ("CN.[Na+].[Na+].O=S(=O)([O-])S(=O)(=O)[O-]", "CN"),  # organic before larger
        ("CCO", "CCO"),
        ("[Na+].[Cl-]", "Cl"),
        ("CN(=O)=O", "C[N+](=O)[O-]"),
        ("C[N+](C)(C)C.[Br-]", "C[N+](C)(C)C"),  # no proton to lose
    ],
)
def test_parent(given: str, parent: str) -> None:
    found = canonical_smiles(parse_molecule(given, standardize="parent"))
    assert found == Chem.CanonSmiles(parent)
    assert canonical_smiles(parse_molecule(found, standardize="parent")) == found


def test_unknown_policy() -> None:
    with pytest.raises(InputError, match="as-drawn, parent"):
        parse_molecule("C", standardize="largest")


def test_silence_and_rdkit_settings_restored() -> None:
    program = (
        "from rdkit import Chem\n"
        "Chem.SetUseLegacyStereoPerception(False)\n"
        "from scoregnn.molecules import FeaturizeOptions, featurize_one\n"
        "options = FeaturizeOptions('parent', 'full', True, True, True, True)\n"
        "for s in ['c1cccc1', '[H]', 'C1CC', 'F/C=C/[C@H](Cl)Br', 'CC(=O)[O-].[Na+]', 'N->[Pt]', '[U].*C', 'C[Si]']:\n"
        "    try: featurize_one(s, options)\n"
        "    except ValueError: pass\n"
        "assert not Chem.GetUseLegacyStereoPerception()\n"
        "Chem.MolFromSmiles('C1C')\n"
    )
    run = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    # Only the last line speaks: RDKit's log is on again for everybody else.
    assert "unclosed ring for input: 'C1C'" in run.stderr and "C1CC" not in run.stderr
    assert len(run.stderr.strip().splitlines()) <= 5
