"""MLP-SCORE passes scikit-learn's own checks and learns what it should."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoregnn.errors import InputError
from scoregnn.estimators import MLPScoreClassifier, MLPScoreRegressor


@parametrize_with_checks([MLPScoreRegressor(hidden=16, epochs=40), MLPScoreClassifier(hidden=16, epochs=40)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_it_learns_a_product_that_no_linear_model_can():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X[:, 0] * X[:, 1]
    found = cross_val_predict(MLPScoreRegressor(epochs=80), X, y, cv=3)
    assert r2_score(y, found) > 0.8
    assert r2_score(y, cross_val_predict(RidgeCV(), X, y, cv=3)) < 0.1


def test_scales_of_columns_and_target_do_not_matter():
    X, y = load_diabetes(return_X_y=True)
    base = MLPScoreRegressor(epochs=5).fit(X, y).predict(X)
    scaled = MLPScoreRegressor(epochs=5).fit(1e3 * X - 7, 1e-3 * y + 2).predict(1e3 * X - 7)
    np.testing.assert_allclose((scaled - 2) * 1e3, base, rtol=1e-4)


def test_several_targets_are_those_of_one_network():
    X, y = load_diabetes(return_X_y=True)
    both = MLPScoreRegressor(epochs=20).fit(X, np.stack([y, -y], axis=1)).predict(X)
    assert both.shape == (len(X), 2)
    assert np.corrcoef(both[:, 0], -both[:, 1])[0, 1] > 0.95


def test_unshared_with_dt_one_is_an_ordinary_perceptron():
    X, y = load_diabetes(return_X_y=True)
    network = MLPScoreRegressor(epochs=2, share=False, dt=1.0, steps=3, dropout=0.0).fit(X, y).network_
    x = torch.randn(5, X.shape[1], dtype=torch.float64)
    h = network.into(x)
    for layer in network.recurrence.blocks:
        h = torch.nn.functional.leaky_relu(layer[0](h))
    torch.testing.assert_close(network(x), network.out(h))
    shared = MLPScoreRegressor(epochs=2, steps=9).fit(X, y).network_
    assert sum(p.numel() for p in shared.parameters()) == 10 * 128 + 128 + 128 * 128 + 128 + 129


def test_classifier_separates_and_its_probabilities_fit_its_labels():
    X, y = load_breast_cancer(return_X_y=True)
    model = MLPScoreClassifier(epochs=30).fit(X[::2], y[::2])
    probability = model.predict_proba(X[1::2])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (model.predict(X[1::2]) == probability.argmax(axis=1)).all()
    assert (model.predict(X[1::2]) == y[1::2]).mean() > 0.94


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": -1}, "dt must be"),
        ({"steps": 0}, "steps must be"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
    ],
)
def test_impossible_parameters_are_refused(arguments, message):
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InputError, match=message):
        MLPScoreRegressor(**arguments).fit(X, y)
