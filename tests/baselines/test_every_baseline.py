"""What holds for every baseline: inputs, rows, weights, gaps, scikit-learn, folders."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from rdkit import Chem
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags
from threadpoolctl import threadpool_info

from scoregnn.baselines import BASELINES, RidgeRegressor, build_baseline, load_baseline
from scoregnn.baselines.registry import FAMILIES
from scoregnn.errors import InputError
from scoregnn.estimators import MoleculeKFold

CLASSIFIERS = [name for name, family in FAMILIES.items() if family.classifier]
LEARNERS = [name for name in BASELINES if name not in ("mean", "delaney")]
"""Those whose answer depends on the molecule and on the labels."""

FAST: dict[str, dict[str, Any]] = {
    "xgboost": {"n_estimators": 60, "feature_kind": "fast-descriptors"},
    "lightgbm": {"n_estimators": 60, "feature_kind": "fast-descriptors"},
    "random-forest": {"n_estimators": 20, "feature_kind": "fast-descriptors"},
    "svm": {"feature_kind": "fast-descriptors"},
    "gp": {"feature_kind": "fast-descriptors"},
    "ridge": {"feature_kind": "fast-descriptors"},
}


def build(name: str, task: str = "regression", **settings: Any) -> Any:
    return build_baseline(name, task, **FAST.get(name, {}) | settings)


every_regressor = pytest.mark.parametrize("name", BASELINES)
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
every_learner = pytest.mark.parametrize("name", LEARNERS)


# --- names


def test_names_and_what_they_stand_for():
    expected = ("xgboost", "lightgbm", "random-forest", "svm", "gp", "ridge", "knn", "mean", "delaney")
    assert expected == BASELINES
    assert [name for name in expected if name not in ("gp", "delaney")] == CLASSIFIERS
    for name in BASELINES:
        assert is_regressor(build_baseline(name, "regression"))
    for name in CLASSIFIERS:
        assert is_classifier(build_baseline(name, "classification"))


@pytest.mark.parametrize(
    ("name", "task", "settings", "message"),
    [
        ("lightbgm", "regression", {}, "unknown baseline 'lightbgm'; did you mean 'lightgbm'"),
        ("zzz", "regression", {}, "known: xgboost, lightgbm"),
        ("ridge", "ranking", {}, "unknown task 'ranking'"),
        ("gp", "classification", {}, "gp does regression only; for classification there are xgboost"),
        ("delaney", "classification", {}, "delaney does regression only"),
        ("svm", "regression", {"epsilom": 1}, "svm has no parameter 'epsilom'; did you mean 'epsilon'"),
    ],
)
def test_an_unknown_name_is_refused_with_a_suggestion(name, task, settings, message):
    with pytest.raises(InputError, match=message):
        build_baseline(name, task, **settings)


def test_importing_the_room_loads_no_library_of_models():
    heavy = ("xgboost", "lightgbm", "sklearn", "skops", "torch", "rdkit")
    code = f"import sys, scoregnn.baselines as b; b.BASELINES; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- parameters


@every_regressor
def test_clone_and_parameters(name):
    model = build(name, random_state=3, on_invalid="nan")
    copy = clone(model)
    assert copy is not model and copy.get_params() == model.get_params()
    assert copy.get_params()["random_state"] == 3
    assert copy.set_params(time_limit=5.0).time_limit == 5.0 and model.time_limit == 20.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        copy.set_params(nonsense=1)
    assert get_tags(model).target_tags.multi_output and get_tags(model).input_tags.string


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ridge", {"feature_kind": "descriptor"}, "unknown features 'descriptor'; did you mean 'descriptors'"),
        ("ridge", {"feature_kind": "morgan-bits+morgan-bits"}, "twice"),
        ("ridge", {"feature_kind": "descriptors+fast-descriptors"}, "join one kind of descriptors"),
        ("ridge", {"alpha": 0}, "alpha must be above 0"),
        ("ridge", {"standardize": "nothing"}, "standardi"),
        ("ridge", {"on_invalid": "skip"}, "on_invalid must be"),
        ("ridge", {"n_jobs": 0}, "n_jobs must be"),
        ("svm", {"C": -1.0}, "C must be above 0"),
        ("svm", {"epsilon": -1.0}, "epsilon must be"),
        ("svm", {"gamma": 0.0}, "gamma must be"),
        ("gp", {"nu": 0.0}, "nu must be"),
        ("gp", {"max_rows": 10}, "a Gaussian process of 68 rows is more than max_rows=10"),
        ("knn", {"k": 0}, "k must be"),
        ("knn", {"power": -1}, "power must be"),
        ("knn", {"feature_kind": "descriptors"}, "morgan-bits or morgan-counts, not by 'descriptors'"),
        ("lightgbm", {"n_estimators": 0}, "n_estimators must be"),
        ("xgboost", {"early_stopping_rounds": 0}, "early_stopping_rounds must be"),
    ],
)
def test_a_wrong_parameter_is_refused_at_fit_not_before(name, settings, message, X, y):
    model = build(name, **settings)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)


# --- rows


@every_regressor
def test_predictions_do_not_depend_on_order_company_or_spelling(name, X, y, new):
    model = build(name).fit(X, y)
    expected = model.predict(new)
    assert expected.shape == (5,) and np.isfinite(expected).all()
    np.testing.assert_allclose(model.predict(new[::-1])[::-1], expected, rtol=1e-9)
    np.testing.assert_allclose([model.predict([smiles])[0] for smiles in new], expected, rtol=1e-9)
    np.testing.assert_allclose(model.predict([*new, *new])[5:], expected, rtol=1e-9)
    respelled = [Chem.MolToSmiles(Chem.MolFromSmiles(smiles), doRandom=True) for smiles in new]
    np.testing.assert_allclose(model.predict(respelled), expected, rtol=1e-5)
    assert model.predict([]).shape == (0,)


@every_learner
def test_it_learns(name, X, y):
    model = build(name, **({"n_estimators": 300} if name in ("xgboost", "lightgbm") else {})).fit(X[::2], y[::2])
    error = np.sqrt(np.mean((model.predict(X[1::2]) - y[1::2]) ** 2))
    assert error < 0.6 * y.std()


@every_regressor
def test_what_stands_in_held_out_rows_changes_nothing(name, X, y, new):
    # Rows with weight 0, without a label and with an unreadable molecule are no training rows.
    expected = build(name).fit(X, y).predict(new)
    huge = ["C" * 300, "[U]", "not_a_smiles", "[Pt+2].O=C(O)CCCCCCCCCCCCCCCCCCI"]
    model = build(name, on_invalid="nan")
    weights = [*np.ones(68), 0, 1, 1, 0]
    with pytest.warns(UserWarning, match=r"1 of 72 molecules cannot be used: X\[70\]: not a SMILES.*left out"):
        model.fit([*X, *huge], [*y, 1e9, np.nan, -1e9, 1e6], sample_weight=weights)
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-9)


@every_learner
def test_test_rows_are_scaled_by_what_the_training_rows_taught(name, X, y, new):
    model = build(name).fit(X, y)
    np.testing.assert_allclose(model.predict([*new, "C" * 400])[:5], model.predict(new), rtol=1e-9)


@every_regressor
def test_the_same_seed_gives_the_same_model(name, X, y, new):
    model = build(name)
    first = model.fit(X, y).predict(new)
    np.testing.assert_array_equal(build(name).fit(X, -y).fit(X, y).predict(new), first)
    states = [build(name, random_state=np.random.RandomState(5)).fit(X, y).predict(new) for _ in range(2)]
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "random-forest"])
def test_another_seed_gives_another_model(name, X, y, new):
    assert not np.array_equal(build(name).fit(X, y).predict(new), build(name, random_state=1).fit(X, y).predict(new))


@every_regressor
def test_two_threads_predict_the_same_as_one(name, X, y, new):
    one, two = (build(name, n_jobs=count).fit(X, y).predict(new) for count in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize("name", [*LEARNERS, "mean"])
def test_weights_count_and_only_their_ratios(name, X, y, new):
    weights = np.linspace(0.1, 3, len(X))
    plain, weighted, scaled = (
        build(name).fit(X, y, sample_weight=given).predict(new) for given in (None, weights, 8 * weights)
    )
    assert np.abs(weighted - plain).max() > 1e-4
    np.testing.assert_allclose(scaled, weighted, rtol=1e-9)


@pytest.mark.parametrize("name", ["ridge", "mean"])
def test_a_weight_of_two_is_as_good_as_two_rows(name, X, y, new):
    doubled = build(name, feature_kind="morgan-counts") if name == "ridge" else build(name)
    weighted = clone(doubled)
    # The penalty is relative to the mean weight: 69 rows of weight 1 against 68 of weight 69 / 68.
    expected = doubled.fit([*X, X[3]], [*y, y[3]]).predict(new)
    if name == "ridge":
        weighted.set_params(alpha=weighted.alpha * 68 / 69)
    weights = np.ones(68)
    weights[3] = 2
    np.testing.assert_allclose(weighted.fit(X, y, sample_weight=weights).predict(new), expected, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "knn"])
def test_features_are_joined_and_then_needed(name, X, y, new):
    features = np.arange(68.0).reshape(-1, 1) % 7
    model = build(name, **({"n_estimators": 200} if name in ("xgboost", "lightgbm") else {}))
    model.fit(X, y + 2 * features[:, 0], features=features)
    low, high = (model.predict(["CCO"], features=[[value]])[0] for value in (0.0, 6.0))
    assert high > low + 2
    assert model.column_names_[-1] == "feature_1"
    with pytest.raises(InputError, match="feature_1"):
        model.predict(["CCO"])
    with pytest.raises(InputError, match="2 columns"):
        model.predict(["CCO"], features=[[1.0, 2.0]])
    with pytest.raises(InputError, match="fitted without features"):
        build(name).fit(X, y).predict(["CCO"], features=[[1.0]])


def test_features_are_refused_by_neighbours_and_ignored_by_constants(X, y, new):
    with pytest.raises(InputError, match="KNNRegressor takes no features"):
        build("knn").fit(X, y, features=np.ones((68, 1)))
    model = build("mean").fit(X, y, features=np.ones((68, 1)))
    np.testing.assert_allclose(model.predict(new, features=np.zeros((5, 1))), y.mean())


@every_regressor
def test_several_targets_each_with_its_own_gaps(name, X, y, new):
    table = np.column_stack([y, 3 - 2 * y])
    table[::5, 1] = np.nan
    model = build(name).fit(X, table)
    found = model.predict(new)
    assert found.shape == (5, 2)
    known = np.isfinite(table[:, 1])
    np.testing.assert_array_equal(found[:, 0], build(name).fit(X, y).predict(new))
    alone = build(name).fit([s for s, keep in zip(X, known, strict=True) if keep], table[known, 1])
    np.testing.assert_allclose(found[:, 1], alone.predict(new), rtol=1e-9)
    assert build(name).fit(X, y.reshape(-1, 1)).predict(new).shape == (5, 1)


@every_regressor
def test_an_unreadable_molecule_raises_or_keeps_its_place(name, X, y, new):
    bad = [new[0], "not_a_smiles", None, new[1]]
    model = build(name).fit(X, y)
    with pytest.raises(InputError, match=r"2 of 4 molecules cannot be used: X\[1\]: not a SMILES.*; X\[2\]: empty"):
        model.predict(bad)
    model.set_params(on_invalid="nan")
    with pytest.warns(UserWarning, match="predicted as missing"):
        found = model.predict(bad)
    assert np.isnan(found).tolist() == [False, True, True, False]
    np.testing.assert_allclose(found[[0, 3]], model.predict(new)[:2], rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1.0, 2.0]}, "y has shape"),
        ({"y": ["high"] * 68}, "y must hold numbers"),
        ({"y": np.full(68, np.nan)}, "no valid molecule with a label"),
        ({"y": np.column_stack([np.ones(68), np.full(68, np.nan)])}, "target y2 has no valid molecule"),
        ({"sample_weight": np.ones(3)}, "sample_weight has shape"),
        ({"sample_weight": -np.ones(68)}, "must not be negative"),
        ({"sample_weight": np.zeros(68)}, "sample_weight"),
        ({"features": np.ones((3, 2))}, "features has shape"),
        ({"features": np.full((68, 1), np.nan)}, "not finite"),
    ],
)
def test_wrong_shapes_and_values(options, message, X, y):
    with pytest.raises(InputError, match=message):
        build("ridge").fit(X, **{"y": y} | options)


def test_molecules_in_any_container(X, y, new):
    model = build("ridge").fit(pd.Series(X), pl.Series(y))
    expected = build("ridge").fit(X, y).predict(new)
    mols = [Chem.MolFromSmiles(smiles) for smiles in new]
    for container in (tuple(new), np.array(new), pd.Series(new, index=[9, 7, 5, 3, 1]), pl.Series(new), mols):
        np.testing.assert_allclose(model.predict(container), expected, rtol=1e-9)
    with pytest.raises(InputError, match="put it into a list"):
        model.predict("CCO")


def test_a_salt_is_its_parent_when_asked_for(X, y):
    model = build("ridge", standardize="parent").fit(X, y)
    first, second = model.predict(["CCN", "CC[NH3+].[Cl-]"])
    assert first == pytest.approx(second)
    plain = build("ridge").fit(X, y)
    assert plain.predict(["CCN"])[0] != pytest.approx(plain.predict(["CC[NH3+].[Cl-]"])[0])


# --- classes


@every_classifier
def test_classes_come_back_as_they_were_given(name, X, kind, new):
    model = build(name, "classification").fit(X, kind)
    assert model.classes_.tolist() == ["apolar", "polar"]
    probability = model.predict_proba(new)
    assert probability.shape == (5, 2)
    np.testing.assert_allclose(probability.sum(1), 1, rtol=1e-6)
    assert (probability >= 0).all()
    found = model.predict(new)
    np.testing.assert_array_equal(found, model.classes_[probability.argmax(1)])
    numbers = build(name, "classification").fit(X, (kind == "polar").astype(int))
    np.testing.assert_array_equal(numbers.predict_proba(new), probability)
    assert numbers.predict(new).dtype.kind == "i"


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "mean"])
def test_classes_are_learnt(name, X, kind):
    model = build(name, "classification", **({"n_estimators": 200} if name in ("xgboost", "lightgbm") else {}))
    model.fit(X[::2], kind[::2])
    assert model.score(X[1::2], kind[1::2]) > 0.85


@every_classifier
def test_three_classes_gaps_and_several_targets(name, X, kind, new):
    ends = np.array(["ring" if "1" in s else "long" if len(s) > 6 else "short" for s in X], dtype=object)
    y = np.column_stack([kind.astype(object), ends])
    y[::6, 0] = None
    model = build(name, "classification").fit(X, y)
    assert [classes.tolist() for classes in model.classes_] == [["apolar", "polar"], ["long", "ring", "short"]]
    first, second = model.predict_proba(new)
    assert (first.shape, second.shape) == ((5, 2), (5, 3))
    np.testing.assert_allclose(second.sum(1), 1, rtol=1e-6)
    found = model.predict(new)
    np.testing.assert_array_equal(found[:, 1], model.classes_[1][second.argmax(1)])
    np.testing.assert_array_equal(build(name, "classification").fit(X, ends).predict_proba(new), second)


@every_classifier
def test_a_class_that_only_an_unusable_row_has_gets_no_probability(name, X, kind, new):
    model = build(name, "classification", on_invalid="nan")
    with pytest.warns(UserWarning, match="left out"):
        model.fit([*X, "not_a_smiles"], [*kind, "middling"])
    assert model.classes_.tolist() == ["apolar", "middling", "polar"]
    probability = model.predict_proba(new)
    assert (probability[:, 1] == 0).all()
    np.testing.assert_array_equal(probability[:, [0, 2]], build(name, "classification").fit(X, kind).predict_proba(new))
    with pytest.warns(UserWarning, match="predicted as missing"):
        found = model.predict(["CCO", "not_a_smiles"])
    assert found[0] in ("apolar", "polar") and found[1] is None
    with pytest.raises(InputError, match="one class only is left"), pytest.warns(UserWarning):
        model.fit(["CCO", "CC", "not_a_smiles"], ["a", "a", "b"])


# --- scikit-learn


@every_regressor
def test_cross_validation(name, X, y):
    scores = cross_val_score(build(name), X, y, cv=MoleculeKFold(n_splits=2), scoring="neg_root_mean_squared_error")
    assert scores.shape == (2,) and (scores < 0).all()


@pytest.mark.parametrize("name", ["ridge", "lightgbm", "knn"])
def test_cross_validation_in_two_threads_is_the_same_and_gives_the_threads_back(name, X, y):
    before = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
    one = cross_val_score(build(name), X, y, cv=MoleculeKFold(n_splits=4), n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        two = cross_val_score(build(name), X, y, cv=MoleculeKFold(n_splits=4), n_jobs=2)
    np.testing.assert_allclose(one, two)
    after = {(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()}
    assert set(before) <= after


def test_threads_are_limited_while_a_model_computes(X, y, monkeypatch):
    seen = []

    def noting(self, rows):
        seen.append({pool["num_threads"] for pool in threadpool_info()})
        return fit_target(self, rows)

    fit_target = RidgeRegressor._fit_target
    monkeypatch.setattr(RidgeRegressor, "_fit_target", noting)
    for jobs in (1, 2):
        build("ridge", n_jobs=jobs).fit(X, y)
    assert seen == [{1}, {2}]


def test_grid_search(X, y, new):
    grid = GridSearchCV(build("ridge"), {"alpha": [1e6, 1.0]}, cv=MoleculeKFold(n_splits=3), error_score="raise")
    assert grid.fit(X, y).best_params_ == {"alpha": 1.0}
    np.testing.assert_array_equal(grid.predict(new), build("ridge", alpha=1.0).fit(X, y).predict(new))


@every_regressor
def test_before_fit_there_is_nothing_to_predict_with_or_save(name, tmp_path):
    model = build(name)
    if name == "delaney":
        assert np.isfinite(model.predict(["CCO"])).all()
        return
    for action in (lambda: model.predict(["CCO"]), lambda: model.save(tmp_path / "m")):
        with pytest.raises(NotFittedError, match="call fit first"):
            action()
    assert not (tmp_path / "m").exists()


@every_regressor
def test_a_fit_that_fails_leaves_the_model_as_it_was(name, X, y, new):
    model = build(name).fit(X, y)
    before = model.predict(new)
    with pytest.raises(InputError):
        model.fit(["not_a_smiles"] * 3, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.predict(new), before)


@every_regressor
def test_a_single_molecule_and_a_constant_target_are_enough(name, new):
    model = build(name)
    assert np.isfinite(model.fit(["CCO", "CC"], [2.0, 2.0]).predict(new)).all()
    assert np.isfinite(model.fit(["CCO"], [2.0]).predict(new)).all()


# --- folders


@every_regressor
def test_a_saved_regressor_predicts_the_same_to_the_last_bit(name, X, y, new, tmp_path):
    table = np.column_stack([y, -y])
    table[::4, 0] = np.nan
    model = build(name, random_state=np.random.RandomState(3)).fit(X, table)
    model.save(tmp_path / "m")
    loaded = load_baseline(tmp_path / "m")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict([*X, *new]), model.predict([*X, *new]))
    assert loaded.get_params() | {"random_state": 0} == model.get_params() | {"random_state": 0}
    names = {path.name for path in (tmp_path / "m").iterdir()} - {".lock"}
    assert "baseline.json" in names and "model.json" not in names
    assert not any(path.suffix in (".pkl", ".joblib", ".ubj") for path in (tmp_path / "m").iterdir())
    loaded.save(tmp_path / "again")
    np.testing.assert_array_equal(load_baseline(tmp_path / "again").predict(new), model.predict(new))


@every_classifier
def test_a_saved_classifier_predicts_the_same_to_the_last_bit(name, X, kind, new, tmp_path):
    for number, labels in enumerate([kind, [3 if k == "polar" else 7 for k in kind], kind == "polar"]):
        model = build(name, "classification").fit(X, labels)
        model.save(tmp_path / str(number))
        loaded = load_baseline(tmp_path / str(number))
        np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
        assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
        np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


@every_regressor
def test_pickled_models_predict_the_same(name, X, y, new, tmp_path):
    model = build(name).fit(X, y)
    joblib.dump(model, tmp_path / "m")
    np.testing.assert_array_equal(joblib.load(tmp_path / "m").predict(new), model.predict(new))
