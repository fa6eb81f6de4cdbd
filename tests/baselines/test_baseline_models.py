"""Each model against an independent computation of the same thing."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import xgboost
from rdkit import Chem, DataStructs
from rdkit.Chem import Descriptors, rdFingerprintGenerator
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

from scoregnn.baselines import build_baseline
from scoregnn.baselines.boosting import FEW_ROWS_TREES
from scoregnn.baselines.features import read_features_of
from scoregnn.baselines.knn import tanimoto
from scoregnn.graphs.splits import random_split


def descriptors(molecules):
    """RDKit's descriptors, without any code of the package."""
    return np.array([list(Descriptors.CalcMolDescriptors(Chem.MolFromSmiles(smiles)).values()) for smiles in molecules])


class Clip:
    """To the range seen in training."""

    def fit(self, values, y=None):
        self.low, self.high = values.min(0), values.max(0)
        return self

    def transform(self, values):
        return values.clip(self.low, self.high)


def pipeline(model):
    """Signed logarithm, median, training range, standardisation, five deviations, model."""
    return make_pipeline(
        FunctionTransformer(lambda values: np.sign(values) * np.log1p(np.abs(values))),
        SimpleImputer(strategy="median", keep_empty_features=True),
        Clip(),
        StandardScaler(),
        FunctionTransformer(lambda values: values.clip(-5, 5)),
        model,
    )


@pytest.fixture(scope="module")
def X(X):
    """An odd number of molecules, so that no median lies between two of them."""
    return X[:-1]


@pytest.fixture(scope="module")
def y(y):
    return y[:-1]


@pytest.fixture(scope="module")
def kind(kind):
    return kind[:-1]


@pytest.fixture(scope="module")
def weights(X):
    return np.random.default_rng(1).uniform(0.2, 2, len(X))


def test_ridge_is_that_of_a_scikit_learn_pipeline(X, y, new, weights):
    ours = build_baseline("ridge", alpha=3.0).fit(X, y, sample_weight=weights).predict(new)
    oracle = pipeline(Ridge(alpha=3.0)).fit(descriptors(X), y, ridge__sample_weight=weights / weights.mean())
    np.testing.assert_allclose(ours, oracle.predict(descriptors(new)), rtol=1e-4)


def test_svm_is_that_of_a_scikit_learn_pipeline(X, y, new):
    ours = build_baseline("svm", C=5.0, epsilon=0.02, gamma=0.4).fit(X, y).predict(new)
    columns = descriptors(X)
    machine = pipeline(SVR(C=5.0, epsilon=0.02, gamma=0.4 / columns.shape[1], tol=1e-6))
    oracle = machine.fit(columns, (y - y.mean()) / y.std()).predict(descriptors(new)) * y.std() + y.mean()
    np.testing.assert_allclose(ours, oracle, atol=5e-3)
    assert np.abs(ours - build_baseline("svm", C=0.1).fit(X, y).predict(new)).max() > 0.05


def test_logistic_regression_is_that_of_a_scikit_learn_pipeline(X, kind, new):
    ours = build_baseline("ridge", "classification", alpha=2.0).fit(X, kind).predict_proba(new)
    oracle = pipeline(LogisticRegression(C=0.5, max_iter=5000)).fit(descriptors(X), kind)
    np.testing.assert_allclose(ours, oracle.predict_proba(descriptors(new)), atol=2e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gaussian_process_is_that_of_a_scikit_learn_pipeline(X, y, new):
    model = build_baseline("gp", nu=2.5).fit(X, y)
    width = descriptors(X).shape[1]
    kernel = (
        ConstantKernel(1.0, (1e-3, 1e3)) * Matern(width**0.5, (0.1 * width**0.5, 100 * width**0.5), nu=2.5)
        + ConstantKernel(0.1 / width, (1e-8, 1e2)) * DotProduct(1.0, "fixed")
        + WhiteKernel(0.1, (1e-4, 1e1))
    )
    oracle = pipeline(GaussianProcessRegressor(kernel, normalize_y=True)).fit(descriptors(X), y)
    np.testing.assert_allclose(model.predict(new), oracle.predict(descriptors(new)), atol=2e-2)
    np.testing.assert_allclose(model.predict(X), oracle.predict(descriptors(X)), atol=2e-2)


def test_noise_of_a_gaussian_process_goes_with_the_weight(X, y):
    # A row of high weight is met more closely than one of low weight.
    off = y.copy()
    off[10] += 3
    errors = []
    for weight in (0.01, 1.0, 100.0):
        weights = np.ones(len(X))
        weights[10] = weight
        found = build_baseline("gp", feature_kind="fast-descriptors").fit(X, off, sample_weight=weights)
        errors.append(abs(found.predict([X[10]])[0] - off[10]))
    assert errors[0] > errors[1] > errors[2]


def test_a_gaussian_process_of_many_rows_searches_on_some_and_predicts_with_all(X, y, new):
    few = build_baseline("gp", likelihood_rows=30, feature_kind="fast-descriptors").fit(X, y)
    everything = build_baseline("gp", feature_kind="fast-descriptors").fit(X, y)
    (model,) = few._models
    assert len(model.core.X_train_) == len(X)
    assert not np.array_equal(few.predict(new), everything.predict(new))
    assert np.abs(few.predict(X) - y).mean() < 0.5 * y.std()


def test_xgboost_is_what_the_library_predicts_on_the_same_matrix(X, y, new):
    settings = {"early_stopping_rounds": None, "n_estimators": 40, "subsample": 1.0, "colsample_bytree": 1.0}
    ours = build_baseline("xgboost", feature_kind="morgan-counts", max_depth=3, **settings).fit(X, y)
    matrix, unseen = (read_features_of(molecules, "morgan-counts").values for molecules in (X, new))
    oracle = xgboost.XGBRegressor(
        n_estimators=40, max_depth=3, learning_rate=0.03, min_child_weight=3.0, tree_method="hist"
    ).fit(matrix, y)
    np.testing.assert_allclose(ours.predict(new), oracle.predict(unseen), rtol=1e-5)


def test_lightgbm_is_what_the_library_predicts_on_the_same_matrix(X, y, new):
    settings = {"early_stopping_rounds": None, "n_estimators": 40, "subsample": 1.0, "colsample_bytree": 1.0}
    ours = build_baseline("lightgbm", feature_kind="morgan-counts", num_leaves=7, **settings).fit(X, y)
    matrix, unseen = (read_features_of(molecules, "morgan-counts").values for molecules in (X, new))
    oracle = lightgbm.LGBMRegressor(
        n_estimators=40, num_leaves=7, learning_rate=0.03, min_child_samples=5, reg_lambda=1.0, verbosity=-1
    ).fit(matrix, y)
    np.testing.assert_allclose(ours.predict(new), oracle.predict(unseen), rtol=1e-5)


def test_random_forest_is_what_scikit_learn_predicts_on_the_same_matrix(X, y, new):
    ours = build_baseline("random-forest", feature_kind="morgan-bits", n_estimators=30, random_state=4).fit(X, y)
    matrix, unseen = (read_features_of(molecules, "morgan-bits").values for molecules in (X, new))
    oracle = RandomForestRegressor(n_estimators=30, max_features=0.33, random_state=4)
    oracle.fit(matrix, y, sample_weight=np.ones(len(X)))
    np.testing.assert_allclose(ours.predict(new), oracle.predict(unseen), rtol=1e-9)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "random-forest"])
def test_trees_take_a_missing_descriptor_as_missing(name, X, y):
    # [U] has no BCUT descriptors; where training has NaN as well, trees may learn from it.
    model = build_baseline(name, n_estimators=20).fit([*X, "[U]", "[Pu]", "[U+2]"], [*y, 9.0, 9.0, 9.0])
    assert np.isnan(read_features_of(["[U]"], "descriptors").values).any()
    assert np.isfinite(model.predict(["[U]", "[Am]"])).all()


# --- neighbours


def slow_neighbours(molecules, y, new, k, power, weights, counts):
    """By RDKit's own similarity, one pair at a time."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    make = generator.GetCountFingerprint if counts else generator.GetFingerprint
    known = [make(Chem.MolFromSmiles(smiles)) for smiles in molecules]
    found = []
    for smiles in new:
        fingerprint = make(Chem.MolFromSmiles(smiles))
        similar = np.array([DataStructs.TanimotoSimilarity(fingerprint, other) for other in known])
        nearest = sorted(range(len(known)), key=lambda row: (-similar[row], row))[:k]
        shares = np.array([similar[row] ** power * weights[row] for row in nearest])
        if shares.sum() == 0:
            found.append(np.average(y, weights=weights))
        else:
            found.append(sum(share * y[row] for share, row in zip(shares, nearest, strict=True)) / shares.sum())
    return found


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(("k", "power"), [(1, 1.0), (5, 3.0), (200, 0.5)])
def test_neighbours_are_those_of_a_slow_loop(counts, k, power, X, y, new, weights):
    molecules = [*new, "[Hg]", "CC(=O)Oc1ccccc1C(=O)O"]
    model = build_baseline("knn", feature_kind="morgan-counts" if counts else "morgan-bits", k=k, power=power)
    found = model.fit(X, y, sample_weight=weights).predict(molecules)
    np.testing.assert_allclose(found, slow_neighbours(X, y, molecules, k, power, weights, counts), rtol=1e-9)
    assert found[5] == pytest.approx(np.average(y, weights=weights))  # mercury has nothing in common with any


def test_shares_of_classes_among_neighbours(X, kind, new):
    model = build_baseline("knn", "classification", k=4, power=2.0).fit(X, kind)
    codes = (kind == "polar").astype(float)
    expected = slow_neighbours(X, codes, new, 4, 2.0, np.ones(len(X)), True)
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], expected, rtol=1e-9, atol=1e-12)


def test_tanimoto_of_random_counts_and_of_empty_rows():
    generator = np.random.default_rng(0)
    left, right = (generator.poisson(0.7, (rows, 12)) for rows in (9, 7))
    left[3] = right[2] = right[5] = 0
    expected = np.empty((9, 7))
    for a in range(9):
        for b in range(7):
            union = np.maximum(left[a], right[b]).sum()
            expected[a, b] = np.minimum(left[a], right[b]).sum() / union if union else 1.0
    np.testing.assert_allclose(tanimoto(sparse.csr_matrix(left), sparse.csr_matrix(right)), expected, rtol=1e-12)
    empty = sparse.csr_matrix((2, 12))
    np.testing.assert_array_equal(tanimoto(empty, empty), np.ones((2, 2)))


# --- constants


def test_the_mean_and_the_shares_are_weighted(X, y, kind, weights):
    found = build_baseline("mean").fit(X, y, sample_weight=weights).predict(["C", "CCO"])
    np.testing.assert_allclose(found, np.average(y, weights=weights))
    shares = build_baseline("mean", "classification").fit(X, kind, sample_weight=weights).predict_proba(["C"])
    assert shares[0, 1] == pytest.approx(weights[kind == "polar"].sum() / weights.sum())


# --- probabilities of the support vector machine


def test_probabilities_of_a_machine_come_from_rows_it_has_not_seen(X):
    # Labels at random: a machine that remembers its rows would be sure of them.
    labels = np.random.default_rng(0).integers(0, 2, len(X))
    model = build_baseline("svm", "classification", C=1000.0, feature_kind="fast-descriptors").fit(X, labels)
    machine = model._models[0].core["machine"]
    assert np.abs(machine.dual_coef_).max() > 1
    probability = model.predict_proba(X)[np.arange(len(X)), labels]
    assert probability.mean() < 0.75
    few = build_baseline("svm", "classification").fit(X[:6], [0, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(few.predict_proba(X).sum(1), 1)


# --- the number of trees


def trees_of(model):
    core = model._models[0].core
    return core.num_boosted_rounds() if isinstance(core, xgboost.Booster) else core.num_trees()


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_the_number_of_trees_is_chosen_on_an_inner_part_and_the_model_fitted_on_all_rows(name, X, y, new):
    model = build_baseline(name, feature_kind="fast-descriptors", learning_rate=0.3, random_state=2).fit(X, y)
    chosen = trees_of(model)
    assert 1 <= chosen < 2000
    keys = read_features_of(X, "none").keys
    split = random_split(keys, fractions=(0.9, 0.1, 0.0), seed=2)
    assert len(split.validation) == 7

    def inner_error(trees):
        fixed = build_baseline(
            name,
            feature_kind="fast-descriptors",
            learning_rate=0.3,
            random_state=2,
            n_estimators=trees,
            early_stopping_rounds=None,
        ).fit([X[row] for row in split.train], y[split.train])
        return np.mean((fixed.predict([X[row] for row in split.validation]) - y[split.validation]) ** 2)

    best = inner_error(chosen)
    assert all(best <= inner_error(trees) * (1 + 1e-6) for trees in {1, max(1, chosen - 3), chosen + 5, chosen + 40})
    again = build_baseline(
        name,
        feature_kind="fast-descriptors",
        learning_rate=0.3,
        random_state=2,
        n_estimators=chosen,
        early_stopping_rounds=None,
    )
    np.testing.assert_array_equal(again.fit(X, y).predict(new), model.predict(new))


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_few_molecules_get_a_fixed_number_of_trees(name, X, y):
    # 60 rows, but 30 molecules.
    rows = [*X[:30], *X[:30]]
    model = build_baseline(name, feature_kind="fast-descriptors").fit(rows, [*y[:30], *y[:30]])
    assert trees_of(model) == FEW_ROWS_TREES
    assert trees_of(model.set_params(n_estimators=17).fit(rows, [*y[:30], *y[:30]])) == 17


def test_one_molecule_is_on_one_side_of_the_inner_split(X, y, monkeypatch):
    from scoregnn.baselines.lightgbm_trees import LightGBMRegressor

    seen = []
    whole = LightGBMRegressor._num_trees

    def noting(self, rows, best):
        def noted(train, inner):
            seen.append(({rows.keys[row] for row in train}, {rows.keys[row] for row in inner}))
            return best(train, inner)

        return whole(self, rows, noted)

    monkeypatch.setattr(LightGBMRegressor, "_num_trees", noting)
    spelled = [Chem.MolToSmiles(Chem.MolFromSmiles(smiles), doRandom=True) for smiles in X]
    build_baseline("lightgbm", feature_kind="fast-descriptors").fit([*X, *spelled], [*y, *y])
    ((train, inner),) = seen
    assert train and inner and not train & inner
