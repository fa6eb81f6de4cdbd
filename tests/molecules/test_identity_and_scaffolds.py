"""Identity keys, scaffolds and fingerprints, against the known facts of the reference tables."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from scoregnn.molecules import (
    FeaturizeOptions,
    Featurizer,
    Molecule,
    Refusal,
    identity_key,
    morgan_bits,
    murcko_scaffold,
    parse_molecule,
)


def key(smiles: str) -> str:
    return identity_key(parse_molecule(smiles))


def test_known_keys() -> None:
    assert key("C") == "VNWKTOKETHGBQD-UHFFFAOYSA-N"  # methane
    assert key("OCC") == key("CCO") == "LFQSCWFLJHTTHZ-UHFFFAOYSA-N"  # ethanol
    assert key("CC(=O)[O-].[Na+]") == "VMHLLURERBWHNL-UHFFFAOYSA-M"  # sodium acetate
    assert key("C[C@H](N)C(=O)O") == "QNAYBMKLOCPYGJ-REOHCLBHSA-N"  # L-alanine
    assert len({key("C[C@H](N)C(=O)O"), key("C[C@@H](N)C(=O)O"), key("CC(N)C(=O)O")}) == 3


def test_fallback_where_there_is_no_inchikey() -> None:
    assert key("*CC") == key("CC*") == "smiles:*CC"
    assert key("*CC") != key("*CCC")
    assert key("C" * 1200) == "smiles:" + "C" * 1200


@pytest.mark.parametrize(
    ("smiles", "scaffold"),
    [
        ("CCO", ""),
        ("Cc1ccccc1", "c1ccccc1"),
        ("CC(=O)Nc1ccc(O)cc1", "c1ccccc1"),
        ("O=C1CCCCC1C", "O=C1CCCCC1"),
        ("c1ccccc1CCC1CC1", "c1ccc(CCC2CC2)cc1"),
        ("C[C@H]1CC[C@@H](C)CC1", "C1CCCCC1"),
        ("[Na+].[O-]c1ccccc1", "c1ccccc1"),
    ],
)
def test_scaffold(smiles: str, scaffold: str) -> None:
    assert murcko_scaffold(parse_molecule(smiles)) == scaffold


def test_fingerprint_is_packed_morgan() -> None:
    mols = [parse_molecule(s) for s in ("CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O")]
    bits = [np.unpackbits(morgan_bits(mol)) for mol in mols]
    assert morgan_bits(mols[0]).shape == (256,) and morgan_bits(mols[0], size=1024).shape == (128,)
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    expected = DataStructs.TanimotoSimilarity(*(generator.GetFingerprint(mol) for mol in mols))
    assert (bits[0] & bits[1]).sum() / (bits[0] | bits[1]).sum() == pytest.approx(expected)


def column(path: Path, name: str) -> list[str]:
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def test_known_facts_of_the_reference_tables(shared_data: Path) -> None:
    with Featurizer(FeaturizeOptions(identity=True, scaffold=True)) as featurizer:
        esol = list(featurizer.map(column(shared_data / "esol.csv", "smiles")))
        molecules = [m for m in esol if isinstance(m, Molecule)]
        assert len(molecules) == len(esol) == 1128
        keys = Counter(m.key for m in molecules)
        assert len(keys) == 1117
        assert sum(count == 2 for count in keys.values()) == 11
        scaffolds = Counter(m.scaffold for m in molecules)
        assert (len(scaffolds), scaffolds[""], scaffolds["c1ccccc1"]) == (269, 317, 254)
        assert sum(m.num_bonds == 0 for m in molecules) == 1
        assert sum(m.num_bonds == 1 for m in molecules) == 6
        assert (min(m.num_atoms for m in molecules), max(m.num_atoms for m in molecules)) == (1, 55)

    with Featurizer() as featurizer:
        freesolv = list(featurizer.map(column(shared_data / "freesolv.csv", "smiles")))
        assert sum(m.num_atoms == 1 for m in freesolv if isinstance(m, Molecule)) == 3
        aqsoldb = list(featurizer.map(column(shared_data / "aqsoldb.csv", "SMILES")))
        assert sum(isinstance(m, Refusal) for m in aqsoldb) == 2
        assert sum(m.num_bonds == 0 for m in aqsoldb if isinstance(m, Molecule)) == 149
        tox21 = column(shared_data / "tox21.csv", "smiles")
        reasons = [(s, m.reason) for s, m in zip(tox21, featurizer.map(tox21), strict=True) if isinstance(m, Refusal)]
        assert len(reasons) == 8
        assert all("valence" in reason and Chem.MolFromSmiles(s) is None for s, reason in reasons)
