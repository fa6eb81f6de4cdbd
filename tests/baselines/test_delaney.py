"""Delaney's equation: by hand, against the values he printed, and as an estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from toy import read_csv

from scoregnn.baselines import DelaneyRegressor
from scoregnn.baselines.delaney import delaney_equation
from scoregnn.baselines.features import read_features_of
from scoregnn.errors import InputError


def delaney_properties(smiles):
    """Crippen logP, weight, rotatable bonds, aromatic share, as the estimator reads them."""
    return tuple(read_features_of([smiles], "delaney").values[0])


def test_benzene_by_hand():
    # 0.16 - 0.63 * 1.6866 - 0.0062 * 78.114 + 0.066 * 0 - 0.74 * 1 = -2.12686
    assert delaney_properties("c1ccccc1") == pytest.approx((1.6866, 78.114, 0.0, 1.0))
    assert DelaneyRegressor().predict(["c1ccccc1"]) == pytest.approx([-2.1268648], abs=1e-6)


def test_each_property_with_its_coefficient():
    assert delaney_equation(0, 0, 0, 0) == 0.16
    assert delaney_equation(1, 0, 0, 0) == pytest.approx(0.16 - 0.63)
    assert delaney_equation(0, 100, 0, 0) == pytest.approx(0.16 - 0.62)
    assert delaney_equation(0, 0, 2, 0) == pytest.approx(0.16 + 0.132)
    assert delaney_equation(0, 0, 0, 0.5) == pytest.approx(0.16 - 0.37)


def test_rotatable_bonds_and_the_aromatic_share():
    # Toluene: 6 of 7 heavy atoms; butylbenzene: CH2-CH2, CH2-CH2 and the bond to the ring turn.
    _, _, rotatable, aromatic = delaney_properties("Cc1ccccc1")
    assert (rotatable, aromatic) == (0.0, pytest.approx(6 / 7))
    assert delaney_properties("CCCCc1ccccc1")[2] == 3.0
    assert delaney_properties("CCO")[3] == 0.0


def test_against_the_predictions_that_delaney_printed(repository):
    rows = read_csv(repository / "datasets" / "data" / "esol.csv")
    printed = np.array([float(row["delaney_prediction"]) for row in rows])
    measured = np.array([float(row["log_solubility"]) for row in rows])
    ours = DelaneyRegressor().predict([row["smiles"] for row in rows])
    # Crippen's logP stands for ClogP, the equation is the same.
    assert np.corrcoef(ours, printed)[0, 1] > 0.95
    assert np.sqrt(((ours - printed) ** 2).mean()) < 0.6
    assert 0.8 < np.sqrt(((ours - measured) ** 2).mean()) < 1.1


def test_it_is_an_estimator_that_learns_nothing():
    model = clone(DelaneyRegressor())
    assert is_regressor(model)
    before = model.predict(["CCO", "C"])
    assert model.fit(["CCO", "C"], [5.0, 5.0]) is model
    np.testing.assert_array_equal(model.predict(["CCO", "C"]), before)
    np.testing.assert_array_equal(model.predict(pd.Series(["CCO", "C"], index=[4, 2])), before)
    assert model.predict([]).shape == (0,)


def test_what_cannot_be_read_is_named():
    with pytest.raises(InputError, match=r"X\[1\]: not a SMILES"):
        DelaneyRegressor().predict(["CCO", "not_a_smiles"])
    with pytest.raises(InputError, match="put it into a list"):
        DelaneyRegressor().predict("CCO")
