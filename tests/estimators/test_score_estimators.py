"""`ScoreRegressor` and `ScoreClassifier` as scikit-learn and its users expect estimators to be."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from rdkit import Chem
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted
from toy import SMILES, TINY, lipophilicity, read_csv, toy_table, write_table

from scoregnn import Predictor, ScoreClassifier, ScoreRegressor
from scoregnn.config import Config
from scoregnn.errors import InputError, RunFolderError
from scoregnn.estimators import MoleculeKFold
from scoregnn.training.run_folder import load_model

X = SMILES[:30]
Y = np.array([lipophilicity(smiles) for smiles in X])
KIND = np.array(["polar" if smiles[-1] in "ON" else "apolar" for smiles in X])
NEW = ["CCOC", "CC(C)O", "c1ccccc1", "[Na+].[Cl-]"]


def regressor(**settings: object) -> ScoreRegressor:
    return ScoreRegressor(**TINY | {"n_jobs": 1} | settings)


def classifier(**settings: object) -> ScoreClassifier:
    return ScoreClassifier(**TINY | {"n_jobs": 1} | settings)


@pytest.fixture(scope="module")
def fitted() -> ScoreRegressor:
    return regressor().fit(X, Y)


@pytest.fixture(scope="module")
def fitted_classifier() -> ScoreClassifier:
    return classifier().fit(X, KIND)


# --- parameters


@pytest.mark.parametrize("kind", [ScoreRegressor, ScoreClassifier])
def test_parameters_are_those_of_the_configuration_with_its_defaults(kind):
    parameters = kind().get_params()
    settings = Config().to_dict()
    seed = settings.pop("seed")
    assert parameters["random_state"] == seed
    assert {name: parameters[name] for name in settings} == settings


def test_clone_and_set_params():
    model = regressor(dt=0.5, random_state=3)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.set_params(hidden=8, on_invalid="nan").get_params()["hidden"] == 8
    assert model.hidden == TINY["hidden"]
    with pytest.raises(ValueError, match="Invalid parameter"):
        copy.set_params(width=3)


def test_a_wrong_parameter_is_refused_at_fit_not_before():
    for settings, match in (
        ({"dt": -1.0}, "dt must be"),
        ({"block": "gatv3"}, "unknown block 'gatv3'"),
        ({"on_invalid": "skip"}, "on_invalid must be 'raise' or 'nan'"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"random_state": -1}, "seed must be"),
        ({"n_jobs": 0}, "workers must be"),
        ({"device": "abacus"}, "cannot compute on the device"),
    ):
        model = regressor(**settings)
        with pytest.raises(InputError, match=match):
            model.fit(X, Y)


def test_numbers_of_numpy_are_as_good():
    model = regressor(hidden=np.int64(16), dt=np.float32(0.25), random_state=np.int64(0)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW), regressor().fit(X, Y).predict(NEW))


def test_tags():
    tags = get_tags(ScoreRegressor())
    assert tags.estimator_type == "regressor"
    assert tags.input_tags.string and tags.input_tags.one_d_array and not tags.input_tags.two_d_array
    assert tags.target_tags.required and tags.target_tags.multi_output
    assert is_regressor(ScoreRegressor()) and is_classifier(ScoreClassifier())


# --- fitting and predicting


def test_before_fit_there_is_nothing_to_predict_with(tmp_path):
    for model, attribute in ((regressor(), "model_"), (classifier(), "classes_")):
        with pytest.raises(NotFittedError, match="call fit first"):
            model.predict(NEW)
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model")
        assert not hasattr(model, attribute)
    with pytest.raises(NotFittedError):
        classifier().predict_proba(NEW)


def test_fit_twice_gives_the_same_model_and_another_seed_another(fitted):
    again = regressor().fit(X, -Y).fit(X, Y)
    np.testing.assert_array_equal(again.predict(NEW), fitted.predict(NEW))
    assert np.abs(regressor(random_state=1).fit(X, Y).predict(NEW) - fitted.predict(NEW)).max() > 1e-3
    check_is_fitted(fitted)
    assert fitted.score(X, Y) == pytest.approx(r2_score(Y, fitted.predict(X)))


def test_a_random_state_is_drawn_from():
    first, second = (regressor(random_state=np.random.RandomState(7)).fit(X, Y).predict(NEW) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_fit_that_fails_leaves_the_model_as_it_was(fitted_classifier):
    model = joblib.load(dumped(fitted_classifier))
    before = model.predict_proba(NEW)
    with pytest.raises(InputError):
        model.fit(["not_a_smiles"] * 6, ["a", "b", "c"] * 2)
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    assert model.classes_.tolist() == ["apolar", "polar"]


def test_it_can_learn():
    model = regressor(epochs=60, learning_rate=0.01, validation_fraction=0).fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_a_few_molecules_and_one():
    assert np.isfinite(regressor().fit(X[:3], Y[:3]).predict(NEW)).all()
    assert regressor().fit(["CCO"], [1.5]).predict(["CCO"]).shape == (1,)


def test_molecules_in_any_container_give_the_same_predictions(fitted):
    expected = fitted.predict(NEW)
    mols = [Chem.MolFromSmiles(smiles) for smiles in NEW]
    containers = {
        "tuple": tuple(NEW),
        "numpy": np.array(NEW),
        "objects": np.array(NEW, dtype=object),
        "column": np.array(NEW).reshape(-1, 1),
        "pandas": pd.Series(NEW, index=[9, 7, 5, 3]),
        "data frame": pd.DataFrame({"smiles": NEW}),
        "polars": pl.Series(NEW),
        "rdkit": mols,
        "rdkit in pandas": pd.Series(mols),
        "spelled otherwise": [Chem.MolToSmiles(mol, doRandom=True) for mol in mols],
    }
    for name, container in containers.items():
        np.testing.assert_allclose(fitted.predict(container), expected, rtol=1e-5, atol=1e-6, err_msg=name)
    trained = regressor().fit(pd.Series(X), pd.Series(Y))
    np.testing.assert_array_equal(trained.predict(NEW), expected)
    trained = regressor().fit(pl.Series(X), pl.Series(Y))
    np.testing.assert_array_equal(trained.predict(NEW), expected)
    assert fitted.predict([]).shape == (0,)


@pytest.mark.parametrize("wrong", ["CCO", {"a": "CCO"}, 3, np.array([["C", "CC"]]), [3.5]])
def test_what_holds_no_molecules_is_refused(fitted, wrong):
    with pytest.raises(InputError):
        fitted.predict(wrong)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"y": Y[:5]}, "y has shape"),
        ({"y": 3.0}, "y has shape"),
        ({"y": np.zeros((30, 2, 2))}, "y has shape"),
        ({"y": np.zeros((30, 0))}, "y has shape"),
        ({"y": ["high"] * 30}, "y must hold numbers"),
        ({"y": np.full(30, np.inf)}, "infinite"),
        ({"y": np.full(30, np.nan)}, "no valid molecule with a label"),
        ({"sample_weight": np.ones(29)}, "sample_weight has shape"),
        ({"sample_weight": -np.ones(30)}, "must not be negative"),
        ({"sample_weight": np.full(30, np.nan)}, "not finite"),
        ({"sample_weight": np.zeros(30)}, "all sample weights"),
        ({"sample_weight": ["a"] * 30}, "must be numbers"),
        ({"features": np.ones(30)}, "features has shape"),
        ({"features": np.ones((29, 2))}, "features has shape"),
        ({"features": np.full((30, 1), np.nan)}, "not finite"),
        ({"features": [["acid"]] * 30}, "must be numbers"),
    ],
)
def test_wrong_shapes_and_values(options, match):
    with pytest.raises(InputError, match=match):
        regressor().fit(X, **{"y": Y} | options)


def test_an_unreadable_molecule_raises_or_keeps_its_place(fitted):
    bad = [*NEW[:2], "not_a_smiles", None, NEW[3]]
    with pytest.raises(InputError, match=r"2 of 5 molecules cannot be used: X\[2\]: not a SMILES.*; X\[3\]: empty"):
        fitted.predict(bad)
    with pytest.raises(InputError, match=r"X\[30\]"):
        regressor().fit([*X, "not_a_smiles"], [*Y, 1.0])
    lenient = regressor(on_invalid="nan")
    with pytest.warns(UserWarning, match=r"1 of 31 molecules cannot be used: X\[30\]: .*left out"):
        lenient.fit([*X, "not_a_smiles"], [*Y, 100.0])
    np.testing.assert_array_equal(lenient.predict(NEW), fitted.predict(NEW))
    with pytest.warns(UserWarning, match="predicted as missing"):
        found = lenient.predict(bad)
    assert np.isnan(found).tolist() == [False, False, True, True, False]
    np.testing.assert_allclose(found[[0, 1, 4]], fitted.predict(NEW)[[0, 1, 3]], rtol=1e-5)


def test_weights_count_and_a_zero_hides_a_row():
    y = Y.copy()
    y[0] = 50.0
    weights = np.ones(30)
    weights[0] = 0.0
    options = {"validation_fraction": 0.0}
    hidden = regressor(**options).fit(X, y, sample_weight=weights)
    seen = regressor(**options).fit(X, y, sample_weight=np.ones(30))
    np.testing.assert_array_equal(seen.predict(X), regressor(**options).fit(X, y).predict(X))
    assert not np.array_equal(hidden.predict(X), seen.predict(X))
    doubled = regressor(**options).fit(X, y, sample_weight=4 * weights)
    np.testing.assert_array_equal(doubled.predict(X), hidden.predict(X))


def test_features_are_joined_and_then_needed():
    features = np.arange(30.0).reshape(-1, 1) % 7
    model = regressor(epochs=10).fit(X, Y + features[:, 0], features=features)
    low, high = (model.predict(["CCO"], features=[[value]])[0] for value in (0.0, 6.0))
    assert low != high
    with pytest.raises(InputError, match="feature_1"):
        model.predict(["CCO"])
    with pytest.raises(InputError, match="feature_1"):
        model.predict(["CCO"], features=[[1.0, 2.0]])
    with pytest.raises(InputError, match="fitted without features"):
        regressor().fit(X, Y).predict(["CCO"], features=[[1.0]])


def test_several_targets_with_gaps():
    y = np.column_stack([Y, 10 * Y])
    y[::3, 1] = np.nan
    y[1] = np.nan
    model = regressor(epochs=5).fit(X, y)
    assert model.predict(NEW).shape == (4, 2)
    assert np.isfinite(model.predict(NEW)).all()
    frame = pd.DataFrame({"a": Y, "b": y[:, 1]})
    assert regressor().fit(X, frame).predict(NEW).shape == (4, 2)
    assert regressor().fit(X, Y.reshape(-1, 1)).predict(NEW).shape == (4, 1)


# --- classification


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (KIND, "U"),
        (KIND.astype(object), "U"),
        (KIND.tolist(), "U"),
        ((KIND == "polar").astype(int), "i"),
        (2 * (KIND == "polar") - 5.0, "f"),
        (KIND == "polar", "b"),
        (pd.Series(KIND), "U"),
        (pd.Series(KIND).astype("category"), "U"),
        (pl.Series(KIND.tolist()), "U"),
    ],
)
def test_labels_of_any_type_come_back_in_it(labels, kind, fitted_classifier):
    model = classifier().fit(X, labels)
    assert model.classes_.dtype.kind == kind
    assert model.classes_.shape == (2,)
    found = model.predict(NEW)
    assert found.dtype == model.classes_.dtype
    probability = model.predict_proba(NEW)
    np.testing.assert_array_equal(probability, fitted_classifier.predict_proba(NEW))
    np.testing.assert_array_equal(found, model.classes_[probability.argmax(1)])


def test_probabilities_of_three_classes_sum_to_one():
    labels = [smiles[-1] for smiles in X]
    model = classifier(epochs=5).fit(X, labels)
    assert model.classes_.tolist() == ["C", "F", "N", "O", "l"]
    probability = model.predict_proba(NEW)
    assert probability.shape == (4, 5)
    np.testing.assert_allclose(probability.sum(1), 1, rtol=1e-12)
    assert (probability >= 0).all()
    assert model.score(X, labels) == pytest.approx(accuracy_score(labels, model.predict(X)))


def test_gaps_among_the_labels_are_no_class():
    for missing in (None, np.nan, pd.NA):
        texts = [missing if row == 2 else label for row, label in enumerate(KIND.tolist())]
        model = classifier().fit(X, texts)
        assert model.classes_.tolist() == ["apolar", "polar"]
        assert classifier().fit(X, pd.Series(texts, dtype=object)).classes_.tolist() == ["apolar", "polar"]
    numbers = np.where(KIND == "polar", 1.0, 0.0)
    numbers[4] = np.nan
    model = classifier().fit(X, numbers)
    assert model.classes_.tolist() == [0.0, 1.0]
    assert model.model_.task.classes == (("0", "1"),)  # as a table holds them


def test_several_targets_of_classes():
    y = np.column_stack([KIND, ["long" if len(s) > 4 else "short" for s in X]]).astype(object)
    y[0, 0] = y[1, 1] = None
    model = classifier().fit(X, y)
    assert [classes.tolist() for classes in model.classes_] == [["apolar", "polar"], ["long", "short"]]
    found, (first, second) = model.predict(NEW), model.predict_proba(NEW)
    assert found.shape == (4, 2)
    np.testing.assert_array_equal(found[:, 0], model.classes_[0][first.argmax(1)])
    np.testing.assert_array_equal(found[:, 1], model.classes_[1][second.argmax(1)])
    np.testing.assert_allclose(second.sum(1), 1)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (["a"] * 30, "one class only"),
        ([None] * 30, "one class only|labels"),
        (np.linspace(0, 1, 30), "fractions"),
        (["a", 1] * 15, "one of these kinds only"),
        ([["a"], ["b", "c"]] * 15, "y"),
        (KIND[:7], "y has shape"),
    ],
)
def test_labels_that_are_no_classes(labels, match):
    with pytest.raises(InputError, match=match):
        classifier().fit(X, labels)


def test_a_refused_molecule_is_predicted_as_missing():
    bad = ["CCO", "not_a_smiles"]
    for labels, missing in ((KIND, None), ((KIND == "polar").astype(int), np.nan)):
        model = classifier(on_invalid="nan").fit(X, labels)
        with pytest.warns(UserWarning, match="predicted as missing"):
            found = model.predict(bad)
        assert found[0] in model.classes_
        assert found[1] is None if missing is None else np.isnan(found[1])
        with pytest.warns(UserWarning):
            probability = model.predict_proba(bad)
        assert np.isnan(probability[1]).all() and np.isfinite(probability[0]).all()


# --- with the tools of scikit-learn


def test_cross_validation_by_molecules_in_two_processes():
    molecules = [*X, *(smiles[::-1] for smiles in X if not smiles.endswith("Cl"))]
    y = np.array([*Y, *(value for value, smiles in zip(Y, X, strict=True) if not smiles.endswith("Cl"))])
    folds = MoleculeKFold(n_splits=2)
    one = cross_val_score(regressor(), molecules, y, cv=folds, scoring="neg_root_mean_squared_error", n_jobs=1)
    two = cross_val_score(regressor(), molecules, y, cv=folds, scoring="neg_root_mean_squared_error", n_jobs=2)
    assert one.shape == (2,)
    np.testing.assert_allclose(one, two, rtol=1e-6)
    assert (one < 0).all()


def test_grid_search_and_pipeline():
    strip = FunctionTransformer(lambda molecules: [text.strip() for text in molecules])
    pipeline = Pipeline([("strip", strip), ("model", regressor())])
    search = GridSearchCV(pipeline, {"model__dt": [0.0, 0.5]}, cv=MoleculeKFold(n_splits=2), error_score="raise")
    search.fit([f" {smiles}" for smiles in X], Y)
    assert search.best_params_["model__dt"] in (0.0, 0.5)
    assert search.cv_results_["mean_test_score"].shape == (2,)
    assert search.predict(NEW).shape == (4,)


def dumped(model: object) -> object:
    """The pickle of a model, as a file to load from."""
    import io

    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return buffer


def test_pickled_models_predict_the_same(fitted, fitted_classifier):
    np.testing.assert_array_equal(joblib.load(dumped(fitted)).predict(NEW), fitted.predict(NEW))
    again = joblib.load(dumped(fitted_classifier))
    np.testing.assert_array_equal(again.predict(NEW), fitted_classifier.predict(NEW))
    assert clone(again).get_params() == fitted_classifier.get_params()


# --- with the command line


def test_saved_models_predict_the_same_everywhere(fitted, fitted_classifier, tmp_path, program):
    fitted.save(tmp_path / "numbers")
    found = Predictor.load(tmp_path / "numbers").predict(NEW)
    np.testing.assert_allclose([float(p.values[0]) for p in found], fitted.predict(NEW), rtol=0, atol=0)
    rows = read_csv(program("predict", *NEW, "--model", "numbers").out)
    assert [row["prediction"] for row in rows] == [f"{value:.6g}" for value in fitted.predict(NEW)]
    fitted_classifier.save(tmp_path / "classes")
    rows = read_csv(program("predict", *NEW, "--model", "classes").out)
    assert [row["prediction"] for row in rows] == fitted_classifier.predict(NEW).tolist()
    expected = fitted_classifier.predict_proba(NEW).max(1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(expected, rel=1e-5)


def test_saving_again_replaces_and_the_folder_of_a_run_is_spared(fitted, fitted_classifier, tmp_path, model_of_a_run):
    fitted_classifier.save(tmp_path / "m")
    fitted.save(tmp_path / "m")
    assert load_model(tmp_path / "m").task.kind == "regression"
    before = (model_of_a_run / "model.json").read_bytes()
    with pytest.raises(RunFolderError, match="holds a run"):
        fitted.save(model_of_a_run)
    assert (model_of_a_run / "model.json").read_bytes() == before


@pytest.fixture
def model_of_a_run(tmp_path, program):
    toy_table(tmp_path)
    options = [part for name, value in TINY.items() for part in (f"--{name.replace('_', '-')}", value)]
    command = ["train", "--data", "toy.csv", "-o", "run", *options, "--fractions", 0.9, 0.1, 0, "--seed", 4]
    assert program(*command).code == 0
    return tmp_path / "run"


def test_the_same_rows_split_and_seed_give_the_same_model_as_the_command_line(model_of_a_run):
    y = [lipophilicity(smiles) for smiles in SMILES]
    model = regressor(random_state=4, validation_fraction=0.1).fit(SMILES, y)
    run = load_model(model_of_a_run)
    ours = model.model_.networks[0].state_dict()
    for name, value in run.networks[0].state_dict().items():
        assert value.equal(ours[name]), name
    assert run.training_keys.equal(model.model_.training_keys)
    rows = read_csv(model_of_a_run / "predictions.csv")
    assert [float(row["prediction"]) for row in rows] == pytest.approx(model.predict(SMILES), rel=1e-6)


def test_a_saved_classifier_is_evaluated_on_a_table(tmp_path, program):
    numbers = np.where(KIND == "polar", 1.0, 0.0)
    numbers[4] = np.nan
    classifier().fit(X, numbers).save(tmp_path / "m")
    write_table(tmp_path / "t.csv", [{"smiles": s, "y": int(k == "polar")} for s, k in zip(X, KIND, strict=True)])
    done = program("evaluate", "--model", "m", "--data", "t.csv")
    assert done.code == 0
    assert "accuracy" in done.out
