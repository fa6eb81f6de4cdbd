"""Folders of baselines that are damaged, foreign, or hold what they should not."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import Lasso
from sklearn.preprocessing import FunctionTransformer
from toy import TINY, read_object

from scoregnn.baselines import build_baseline, load_baseline
from scoregnn.errors import RunFolderError
from scoregnn.estimators import ScoreRegressor


def fitted(name, X, y, **settings):
    if name in ("xgboost", "lightgbm"):
        settings |= {"n_estimators": 10}
    return build_baseline(name, feature_kind="fast-descriptors", **settings).fit(X, y)


@pytest.fixture
def folder(X, y, tmp_path):
    fitted("ridge", X, y).save(tmp_path / "m")
    return tmp_path / "m"


def replace(folder, name, content):
    """Puts other content into a file of the models, its checksum with it."""
    (folder / name).write_bytes(content)
    description = read_object(folder / "baseline.json")
    description["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "baseline.json").write_text(json.dumps(description))


def test_what_is_in_the_description(folder):
    content = read_object(folder / "baseline.json")
    assert content["class"] == "RidgeRegressor"
    assert content["parameters"]["alpha"] == 30.0
    assert content["feature_kind"] == "fast-descriptors" and "CrippenClogP" in content["columns"]
    assert content["files"].keys() == {"model.skops"}
    assert {"rdkit", "scikit-learn", "lightgbm", "skops", "python"} <= content["versions"].keys()
    assert len(content["targets"][0]["scaler"]["mean"]) == len(content["columns"])


def test_own_text_formats_of_the_boosting_libraries(X, y, tmp_path):
    fitted("xgboost", X, y).save(tmp_path / "x")
    assert "learner" in read_object(tmp_path / "x" / "xgboost-1.json")
    fitted("lightgbm", X, y).save(tmp_path / "l")
    assert (tmp_path / "l" / "lightgbm-1.txt").read_text().startswith("tree\n")


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "ridge"])
def test_a_file_that_is_cut_off_or_changed(name, X, y, tmp_path):
    fitted(name, X, y).save(tmp_path / "m")
    (file,) = read_object(tmp_path / "m" / "baseline.json")["files"]
    path = tmp_path / "m" / file
    whole = path.read_bytes()
    for content in (whole[:-10], b"", whole + b" "):
        path.write_bytes(content)
        with pytest.raises(RunFolderError, match="its checksum is not the one"):
            load_baseline(tmp_path / "m")
    for content in (whole[: len(whole) // 2], b"", b"{}", b"no model"):
        replace(tmp_path / "m", file, content)
        with pytest.raises(RunFolderError, match=r"the baseline in .* (is damaged|cannot be used)"):
            load_baseline(tmp_path / "m")
    path.unlink()
    with pytest.raises(RunFolderError, match=f"{file} cannot be read"):
        load_baseline(tmp_path / "m")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "scoregnn-model"}, "no baseline of this program"),
        ({"format_version": 99}, "has format 99, newer"),
        ({"class": "os.system"}, "unknown class 'os.system'"),
        ({"class": "MeanRegressor"}, "is damaged"),
        ({"class": "LogisticClassifier"}, "is damaged: its task does not fit its class"),
        ({"parameters": {"alpha": -1.0}}, "alpha must be above 0"),
        ({"parameters": {"nonsense": 1}}, "is damaged"),
        ({"parameters": None}, "is damaged"),
        ({"columns": ["MolWt"]}, "needs the descriptors of RDKit .*fit anew"),
        ({"targets": []}, "lists 0 models for 1 targets"),
        ({"targets": [{"codes": [], "scaler": {"mean": [0.0]}}]}, "is damaged"),
        ({"num_features": 3}, "its scaler has"),
        ({"task": {}}, "'kind' is missing"),
        ({"files": {}}, "'model.skops' is missing"),
        ({"files": {"../m/model.skops": ""}}, "no name of a file"),
        ({"files": None}, "is damaged"),
    ],
)
def test_a_description_that_is_wrong(change, message, folder):
    content = read_object(folder / "baseline.json")
    (folder / "baseline.json").write_text(json.dumps(content | change))
    with pytest.raises(RunFolderError, match=message):
        load_baseline(folder)


def test_a_description_in_which_anything_is_missing(folder):
    content = read_object(folder / "baseline.json")
    for name in content.keys() - {"seed", "format_version", "versions", "feature_kind"}:
        (folder / "baseline.json").write_text(json.dumps({key: content[key] for key in content if key != name}))
        with pytest.raises(RunFolderError):
            load_baseline(folder)
    for text in ("", "[]", "{", "\x00"):
        (folder / "baseline.json").write_text(text)
        with pytest.raises(RunFolderError, match=r"baseline\.json is damaged"):
            load_baseline(folder)


def test_foreign_types_are_refused_unread(folder):
    replace(folder, "model.skops", skops.io.dumps([FunctionTransformer(func=print)]))
    with pytest.raises(RunFolderError, match=r"holds types that are no part of such a model: .*print"):
        load_baseline(folder)


def test_another_kind_of_model_is_refused(folder):
    other = Lasso().fit(np.eye(3), [1.0, 2.0, 3.0])
    for content in ([other], other, [other, other], {"a": 1}):
        replace(folder, "model.skops", skops.io.dumps(content))
        with pytest.raises(RunFolderError, match=r"is damaged: model\.skops"):
            load_baseline(folder)


def test_folders_without_a_baseline(X, y, tmp_path):
    with pytest.raises(RunFolderError, match="no folder"):
        load_baseline(tmp_path / "nothing")
    with pytest.raises(RunFolderError, match=r"no baseline\.json"):
        load_baseline(tmp_path)
    ScoreRegressor(**TINY, n_jobs=1).fit(X[:12], y[:12]).save(tmp_path / "network")
    before = (tmp_path / "network" / "model.json").read_bytes()
    with pytest.raises(RunFolderError, match=r"it holds a network"):
        load_baseline(tmp_path / "network")
    with pytest.raises(RunFolderError, match="holds a network; save the baseline elsewhere"):
        fitted("ridge", X, y).save(tmp_path / "network")
    assert (tmp_path / "network" / "model.json").read_bytes() == before
    assert not (tmp_path / "network" / "baseline.json").exists()


def test_saving_again_replaces_and_leaves_nothing_behind(folder, X, y, new):
    model = fitted("lightgbm", X, np.column_stack([y, -y]))
    model.save(folder)
    np.testing.assert_array_equal(load_baseline(folder).predict(new), model.predict(new))
    names = {path.name for path in folder.iterdir()} - {".lock"}
    assert names == {"baseline.json", "lightgbm-1.txt", "lightgbm-2.txt"}
    model = fitted("xgboost", X, y)
    model.save(folder)
    assert {path.name for path in folder.iterdir()} - {".lock"} == {"baseline.json", "xgboost-1.json"}


def test_user_features_are_needed_by_a_loaded_model_too(X, y, tmp_path):
    features = np.arange(68.0)[:, None]
    model = build_baseline("ridge", feature_kind="fast-descriptors").fit(X, y, features=features)
    model.save(tmp_path / "m")
    loaded = load_baseline(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X, features=features), model.predict(X, features=features))
    with pytest.raises(ValueError, match="feature_1"):
        loaded.predict(X)
