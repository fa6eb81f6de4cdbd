"""Columns of the baselines: against RDKit's own numbers, and their caches in memory and in a file."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from rdkit import Chem, DataStructs
from rdkit.Chem import Descriptors, rdFingerprintGenerator, rdMolDescriptors

from scoregnn.baselines import build_baseline, features
from scoregnn.baselines.columns import compressed, fit_scaler, scaled, scaler_numbers, scaler_of_numbers
from scoregnn.baselines.features import (
    clear_feature_cache,
    column_names,
    feature_kinds_of,
    load_feature_cache,
    read_features_of,
    write_feature_cache,
)
from scoregnn.errors import InputError, RunFolderError
from scoregnn.estimators import ScoreRegressor
from scoregnn.molecules import FeaturizeOptions, MolBlock, featurize_one, morgan_counts

MOLECULES = ["CCO", "CC(=O)Oc1ccccc1C(=O)O", "CCCCCCCC", "[Na+].[Cl-]", "C", "c1ccc2ccccc2c1", "*C", "[H][H]"]


@pytest.fixture(autouse=True)
def _nothing_known():
    clear_feature_cache()
    yield
    clear_feature_cache()


@pytest.fixture
def no_reading(monkeypatch):
    """From here on nothing may be read by RDKit."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a molecule was read again")

    return lambda: monkeypatch.setattr(features, "Featurizer", refuse)


# --- values


def test_fingerprints_are_those_of_rdkit():
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    bits, counts = (read_features_of(MOLECULES, kind).values for kind in ("morgan-bits", "morgan-counts"))
    assert bits.shape == counts.shape == (8, 2048)
    for row, smiles in enumerate(MOLECULES):
        mol = Chem.MolFromSmiles(smiles)
        expected_bits, expected_counts = np.zeros(2048), np.zeros(2048)
        DataStructs.ConvertToNumpyArray(generator.GetFingerprint(mol), expected_bits)
        DataStructs.ConvertToNumpyArray(generator.GetCountFingerprint(mol), expected_counts)
        np.testing.assert_array_equal(bits[row], expected_bits)
        np.testing.assert_array_equal(counts[row], expected_counts)
    assert counts[2].max() == 6  # the CH2 of octane
    assert counts[5].max() == 8  # the CH of naphthalene


def test_counts_are_computed_only_when_asked_for_and_with_other_sizes():
    assert featurize_one("CCO").fingerprint_counts is None
    found = featurize_one("CCO", FeaturizeOptions(fingerprint_counts=True))
    assert found.fingerprint is None
    np.testing.assert_array_equal(found.fingerprint_counts, morgan_counts(Chem.MolFromSmiles("CCO")))
    assert (
        morgan_counts(Chem.MolFromSmiles("CCO"), radius=1, size=64).sum() == 6
    )  # 3 atoms, each alone and with its bonds
    assert morgan_counts(Chem.MolFromSmiles("CCO"), radius=1, size=64).shape == (64,)


def test_descriptors_are_those_of_rdkit():
    table = read_features_of(MOLECULES, "descriptors")
    for row, smiles in enumerate(MOLECULES[:6]):
        expected = Descriptors.CalcMolDescriptors(Chem.MolFromSmiles(smiles))
        assert dict(zip(column_names("descriptors"), table.values[row], strict=True)) == pytest.approx(
            expected, nan_ok=True
        )


def test_the_properties_of_delaney_are_those_of_rdkit():
    molecules = [*MOLECULES, "Cc1ccccc1", "CCCCc1ccccc1", "[2H]OC", "*c1ccccc1"]
    found = read_features_of(molecules, "delaney").values
    for row, smiles in enumerate(molecules):
        mol = Chem.MolFromSmiles(smiles)
        aromatic = sum(atom.GetIsAromatic() for atom in mol.GetAtoms())
        expected = (
            rdMolDescriptors.CalcCrippenDescriptors(mol)[0],
            Descriptors.MolWt(mol),
            rdMolDescriptors.CalcNumRotatableBonds(mol),
            aromatic / max(mol.GetNumHeavyAtoms(), 1),
        )
        assert found[row] == pytest.approx(expected), smiles


def test_kinds_are_joined_side_by_side_with_names():
    joint = read_features_of(MOLECULES, "morgan-counts+fast-descriptors")
    parts = [read_features_of(MOLECULES, kind).values for kind in ("morgan-counts", "fast-descriptors")]
    np.testing.assert_array_equal(joint.values, np.hstack(parts))
    names = column_names("morgan-counts+fast-descriptors")
    assert len(names) == joint.values.shape[1] == len(set(names))
    assert names[0] == "morgan_counts_0" and "CrippenClogP" in names
    assert column_names("none") == () and read_features_of(MOLECULES, "none").values.shape == (8, 0)


def test_refused_rows_stay_in_place_without_values():
    table = read_features_of(["CCO", "not_a_smiles", "", "OCC"], "morgan-bits")
    assert set(table.refused) == {1, 2}
    assert table.rows.tolist() == [0, 3]
    assert np.isnan(table.values[1:3]).all() and np.isfinite(table.values[[0, 3]]).all()
    assert table.keys[0] == table.keys[3] == "LFQSCWFLJHTTHZ-UHFFFAOYSA-N"
    assert table.keys[1] == ""


def test_unknown_kinds():
    for kind, message in (("morgan", "did you mean"), ("descriptors+", "unknown features"), (None, "unknown features")):
        with pytest.raises(InputError, match=message):
            read_features_of(["C"], kind)


# --- the memory


def test_a_molecule_is_read_once(no_reading):
    expected = read_features_of(MOLECULES, "descriptors+morgan-bits")
    no_reading()
    found = read_features_of(MOLECULES[::-1], "descriptors+morgan-bits")
    np.testing.assert_array_equal(found.values[::-1], expected.values)
    assert found.keys[::-1] == expected.keys
    np.testing.assert_array_equal(read_features_of(MOLECULES, "morgan-bits").values, expected.values[:, -2048:])
    for kind, options in (("morgan-counts", {}), ("morgan-bits", {"standardize": "parent"})):
        with pytest.raises(AssertionError, match="read again"):
            read_features_of(MOLECULES, kind, **options)


def test_cross_validation_reads_each_molecule_once(X, y, no_reading):
    from sklearn.model_selection import cross_val_score

    from scoregnn.estimators import MoleculeKFold

    model = build_baseline("ridge", feature_kind="fast-descriptors").fit(X, y)
    no_reading()
    assert len(cross_val_score(model, X, y, cv=MoleculeKFold(n_splits=4))) == 4


def test_a_text_and_a_record_of_the_same_letters_are_two():
    first = read_features_of(["C"], "morgan-bits")
    assert read_features_of([MolBlock("C")], "morgan-bits").refused
    assert read_features_of([b"C"], "morgan-bits").refused
    assert not first.refused


def test_the_memory_is_bounded(monkeypatch, no_reading):
    monkeypatch.setattr(features, "MOST_KEPT", 3)
    read_features_of(["C", "CC", "CCC"], "morgan-bits")
    read_features_of(["C"], "morgan-bits")  # used last but for the next
    read_features_of(["CCCC"], "morgan-bits")
    no_reading()
    assert len(read_features_of(["C", "CCC", "CCCC"], "morgan-bits").rows) == 3
    with pytest.raises(AssertionError, match="read again"):
        read_features_of(["CC"], "morgan-bits")


# --- the file


def test_a_file_gives_back_every_bit(tmp_path, no_reading):
    kinds = ["descriptors+morgan-bits", "morgan-counts", "delaney", "fast-descriptors"]
    items = [*MOLECULES, "not_a_smiles", "CCO"]
    write_feature_cache(tmp_path / "f.npz", items, kinds, standardize="parent")
    clear_feature_cache()
    expected = [read_features_of(MOLECULES, kind, standardize="parent") for kind in kinds]
    clear_feature_cache()
    assert load_feature_cache(tmp_path / "f.npz") == len(MOLECULES)
    no_reading()
    for kind, table in zip(kinds, expected, strict=True):
        found = read_features_of(MOLECULES, kind, standardize="parent")
        np.testing.assert_array_equal(found.values, table.values)
        assert found.keys == table.keys
    for items, policy in ((["CCO"], "as-drawn"), (["not_a_smiles"], "parent")):
        with pytest.raises(AssertionError, match="read again"):
            read_features_of(items, "morgan-bits", standardize=policy)


def test_damaged_and_foreign_files(tmp_path, monkeypatch):
    path = tmp_path / "f.npz"
    write_feature_cache(path, MOLECULES, ["morgan-bits"])
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)
    with pytest.raises(RunFolderError, match="does not exist"):
        load_feature_cache(tmp_path / "nothing.npz")
    for content in (b"", b"text", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(content)
        with pytest.raises(RunFolderError, match=r"f\.npz is damaged"):
            load_feature_cache(path)
    for change, message in (
        ({"morgan-bits": arrays["morgan-bits"][:-1]}, "do not fit together"),
        ({"morgan-bits": arrays["morgan-bits"].astype(float)}, "do not fit together"),
        ({"keys": arrays["keys"][:-1]}, "do not fit together"),
        ({"digests": arrays["digests"][:, :5]}, "do not fit together"),
        ({"surplus": arrays["keys"]}, "do not fit together"),
        ({"format": np.array("other")}, "no file of features"),
        ({"rdkit": np.array("1999.09.1")}, "made with RDKit 1999.09.1"),
    ):
        np.savez(path, **arrays | change)
        with pytest.raises(RunFolderError, match=message):
            load_feature_cache(path)
    np.savez(path, **arrays | {"keys": np.array([print] * len(MOLECULES), dtype=object)})  # a pickle inside
    with pytest.raises(RunFolderError, match="damaged"):
        load_feature_cache(path)
    clear_feature_cache()
    path.write_bytes(whole)
    assert load_feature_cache(path) == len(MOLECULES)


def test_kinds_that_models_need():
    models = [build_baseline(name) for name in ("xgboost", "gp", "knn", "delaney", "mean")]
    assert feature_kinds_of([*models, ScoreRegressor()]) == {"descriptors", "morgan-counts", "delaney"}
    assert feature_kinds_of([ScoreRegressor(), build_baseline("mean")]) == set()


# --- scaling


def test_a_scaler_by_hand():
    values = np.array([[1.0, 0, 10], [np.nan, 1, 20], [-(np.e - 1), 3, 30], [np.e - 1, 0, 40]])
    scaler = fit_scaler(values, np.array(["descriptor", "fingerprint", "feature"]))
    found = scaled(values, scaler)
    column = np.array([np.log(2), np.log(2), -1.0, 1.0])  # the median stands for NaN
    np.testing.assert_allclose(found[:, 0], (column - column.mean()) / column.std(), rtol=1e-6)
    np.testing.assert_allclose(found[:, 1], np.log1p(values[:, 1]), rtol=1e-6)
    np.testing.assert_allclose(found[:, 2], (values[:, 2] - 25) / np.sqrt(125), rtol=1e-6)
    outside = scaled(np.array([[1e30, 9, 1e3], [np.inf, 0, 25]]), scaler)
    assert outside[0, 0] == pytest.approx((1 - column.mean()) / column.std())  # no further than in training
    assert outside[0, 1] == pytest.approx(np.log(4)) and outside[0, 2] == pytest.approx(975 / np.sqrt(125))
    assert outside[1, 0] == pytest.approx(found[1, 0])


def test_a_rare_value_of_a_descriptor_is_limited():
    values = np.zeros((200, 2))
    values[7] = 1.0
    found = scaled(values, fit_scaler(values, np.array(["descriptor", "feature"])))
    assert found[7, 0] == 5.0 and found[7, 1] > 14
    assert (found[:7, 0] < 0).all() and (found[:7, 0] > -0.1).all()


def test_a_column_without_a_value_is_constant():
    found = scaled(np.full((3, 1), np.nan), fit_scaler(np.full((3, 1), np.nan), np.array(["descriptor"])))
    np.testing.assert_array_equal(found, np.zeros((3, 1)))


def test_numbers_of_a_scaler_survive_json():
    import json

    scaler = fit_scaler(np.random.default_rng(0).lognormal(0, 5, (20, 3)), np.array(["descriptor"] * 3))
    again = scaler_of_numbers(json.loads(json.dumps(scaler_numbers(scaler))))
    for name, tensor in scaler.tensors().items():
        assert torch.equal(tensor, again.tensors()[name])
    with pytest.raises(ValueError, match="not of one length"):
        scaler_of_numbers(scaler_numbers(scaler) | {"mean": [0.0]})


def test_what_trees_see():
    values = np.array([[1e300, 3.0], [-np.inf, 0.0], [np.nan, 1.0], [-(np.e - 1), 2.0]])
    found = compressed(values, np.array([True, False]))
    np.testing.assert_allclose(found[:, 0], [np.log(1e300), np.nan, np.nan, -1])
    np.testing.assert_array_equal(found[:, 1], values[:, 1])
