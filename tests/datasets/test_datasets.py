"""The packaged data sets: their rows against the reference tables, their cards, and the counts they claim."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rdkit import Chem

from scoregnn import datasets
from scoregnn.datasets import dataset as dataset_module
from scoregnn.datasets import registry
from scoregnn.errors import InputError
from scoregnn.graphs.tables import column_values, read_labelled

NAMES = ("esol", "freesolv", "lipophilicity")


def test_the_registry_finds_every_module_with_a_card() -> None:
    assert datasets.names() == NAMES
    assert tuple(datasets.cards()) == NAMES


def test_listing_loads_neither_the_build_script_nor_the_summary() -> None:
    code = (
        "import sys; from scoregnn import datasets; print(datasets.names());"
        "print([m for m in ('build', 'summary', 'reference_splits') if f'scoregnn.datasets.{m}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(NAMES), "[]"]


def test_every_other_module_is_known_to_the_registry() -> None:
    modules = {module.name for module in pkgutil.iter_modules(datasets.__path__)}
    assert modules - set(NAMES) == registry._OTHERS


@pytest.mark.parametrize("name", NAMES)
def test_cards_are_whole(name: str) -> None:
    card = datasets.get(name).card
    assert card.name == name
    assert len(card.targets) == len(card.units)
    for field in dataclasses.fields(card):
        value = getattr(card, field.name)
        if field.name != "baseline_columns":
            assert value, field.name
    assert any(re.search(r"doi:10\.\d{4}/", citation) for citation in card.citations)
    for digest in (card.sha256, card.origin.member_sha256, card.origin.archive_sha256):
        assert re.fullmatch(r"[0-9a-f]{64}", digest)


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(InputError, match="unknown data set 'esoll'; did you mean 'esol'"):
        datasets.get("esoll")
    with pytest.raises(InputError, match="known: esol, freesolv, lipophilicity"):
        datasets.get("qm9")
    assert datasets.get(" ESOL ").name == "esol"


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "esol",
            {
                "name": "Compound ID",
                "smiles": "smiles",
                "log_solubility": "measured log solubility in mols per litre",
                "delaney_prediction": "ESOL predicted log solubility in mols per litre",
            },
        ),
        (
            "freesolv",
            {
                "name": "iupac",
                "smiles": "smiles",
                "hydration_free_energy": "expt",
                "gaff_calculation": "calc",
            },
        ),
        ("lipophilicity", {"name": "CMPD_CHEMBLID", "smiles": "smiles", "logd": "exp"}),
    ],
)
def test_rows_are_those_of_the_reference(shared_data: Path, name: str, columns: dict[str, str]) -> None:
    packaged = pd.read_csv(datasets.get(name).path, dtype=str, keep_default_na=False)
    reference = pd.read_csv(shared_data / f"{name}.csv", dtype=str, keep_default_na=False)
    assert list(packaged.columns) == list(columns)
    for ours, theirs in columns.items():
        assert packaged[ours].tolist() == reference[theirs].tolist(), ours


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_the_published_numbers(shared_data: Path, name: str) -> None:
    dataset = datasets.get(name)
    table = dataset.table()
    target = dataset.card.origin.columns[dataset.card.targets[0]]
    reference = pd.read_csv(shared_data / f"{name}.csv")
    assert table.target_names == dataset.card.targets
    assert table.task == dataset.card.task
    assert table.source == f"data set {name}"
    assert [row.molecule for row in table.rows] == reference["smiles"].tolist()
    np.testing.assert_allclose(table.targets[:, 0], reference[target], rtol=1e-15)
    assert len(table.rows) == dataset.card.rows
    assert table.skipped == {}


def test_the_packaged_table_has_the_hash_of_the_published_one(shared_data: Path) -> None:
    target = "measured log solubility in mols per litre"
    published = read_labelled(shared_data / "esol.csv", target_columns=[target])
    assert datasets.get("esol").table().data_sha256 == published.data_sha256


def test_known_facts_of_esol() -> None:
    facts = datasets.describe("esol")
    assert facts["rows"] == 1128
    assert facts["distinct_molecules"] == 1117
    assert facts["repeated_molecules"] == 11
    assert facts["conflicting_molecules"] == 6
    assert facts["atoms"] == (1, 55)
    assert facts["rows_without_bonds"] == 1
    assert facts["scaffolds"] == 269
    assert facts["acyclic_rows"] == 317
    assert (facts["commonest_scaffold"], facts["commonest_scaffold_rows"]) == ("c1ccccc1", 254)
    target = facts["targets"]["log_solubility"]
    assert (target["min"], target["max"], target["unit"]) == (-11.6, 1.58, "log mol/L")
    assert target["sd"] == pytest.approx(2.096, abs=5e-4)
    smiles = column_values(datasets.get("esol").table(), "smiles")
    assert sum(text != text.strip() for text in smiles) == 212
    assert sum(Chem.MolFromSmiles(text.strip()).GetNumBonds() == 1 for text in smiles) == 6


def test_known_facts_of_the_others() -> None:
    freesolv = datasets.describe("freesolv")
    assert (freesolv["rows"], freesolv["rows_without_bonds"], freesolv["atoms"][0]) == (642, 3, 1)
    smiles = column_values(datasets.get("lipophilicity").table(), "smiles")
    assert len(smiles) == 4200
    assert sum("." in text for text in smiles) == 1
    unusual = {"B", "Si", "Se"}
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    assert sum(bool(unusual & {atom.GetSymbol() for atom in mol.GetAtoms()}) for mol in molecules) == 8
    values = datasets.get("lipophilicity").table().targets
    assert (values.min(), values.max()) == (-1.5, 4.5)


def test_the_doubted_values_of_freesolv_are_there() -> None:
    table = datasets.get("freesolv").table()
    values = dict(zip((str(row.molecule) for row in table.rows), table.targets[:, 0], strict=True))
    assert values["CS(=O)(=O)Cl"] == values["COS(=O)(=O)C"] == -4.87


def test_mannitol_and_sorbitol_are_the_stated_conflict() -> None:
    table = datasets.get("esol").table()
    keys = [Chem.CanonSmiles(str(row.molecule).strip()) for row in table.rows]
    at = [n for n, key in enumerate(keys) if key == Chem.CanonSmiles("OCC(O)C(O)C(O)C(O)CO")]
    assert sorted(table.targets[at, 0].tolist()) == [0.06, 1.09]


@pytest.mark.parametrize(
    "options",
    [
        {"feature_columns": ["delaney_prediction"]},
        {"target_columns": ["delaney_prediction"]},
        {"weight_column": "delaney_prediction"},
    ],
)
def test_predictions_by_others_cannot_be_trained_on(options: dict[str, object]) -> None:
    dataset = datasets.get("esol")
    with pytest.raises(InputError, match="'delaney_prediction' is a prediction by others"):
        dataset.table(**options)  # type: ignore[arg-type]


def test_delaneys_own_prediction_is_there_to_compare_with() -> None:
    table = datasets.get("esol").table()
    predicted = np.array([float(cell) for cell in column_values(table, "delaney_prediction")])
    assert np.sqrt(np.mean((predicted - table.targets[:, 0]) ** 2)) == pytest.approx(0.9, abs=0.05)


def test_a_damaged_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = datasets.get("freesolv")
    content = bytearray(dataset.path.read_bytes())
    content[5000] ^= 1
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "freesolv.csv").write_bytes(content)
    monkeypatch.setattr(dataset_module.importlib.resources, "files", lambda _: tmp_path)
    with pytest.raises(InputError, match=r"freesolv: .* is damaged or was changed"):
        dataset.table()
    (tmp_path / "data" / "freesolv.csv").unlink()
    with pytest.raises(InputError, match=r"cannot be read .*install scoregnn again"):
        dataset.table()


def test_every_file_of_the_data_folder_belongs_to_a_card() -> None:
    folder = importlib.resources.files("scoregnn.datasets").joinpath("data")
    tables = {item.name for item in folder.iterdir() if item.name.endswith(".csv")}
    assert "esol.csv" in tables
    assert tables == {card.file for card in datasets.cards().values()}


@pytest.mark.parametrize("name", NAMES)
def test_packaged_files_are_plain_and_deterministic(name: str) -> None:
    content = datasets.get(name).path.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    content.decode("utf-8")
    assert hashlib.sha256(content).hexdigest() == datasets.get(name).card.sha256
