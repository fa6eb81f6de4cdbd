"""Names of the baselines, and the classes they stand for, imported when first asked for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoregnn.config import suggestion
from scoregnn.errors import InputError

if TYPE_CHECKING:
    from scoregnn.baselines.base import Baseline


@dataclass(frozen=True)
class _Family:
    """module: in this package. classifier: "" where the family only does regression."""

    module: str
    regressor: str
    classifier: str = ""


FAMILIES = {
    "xgboost": _Family("xgboost_trees", "XGBoostRegressor", "XGBoostClassifier"),
    "lightgbm": _Family("lightgbm_trees", "LightGBMRegressor", "LightGBMClassifier"),
    "random-forest": _Family("random_forest", "RandomForestRegressor", "RandomForestClassifier"),
    "svm": _Family("svm", "SVMRegressor", "SVMClassifier"),
    "gp": _Family("gaussian_process", "GPRegressor"),
    "ridge": _Family("linear", "RidgeRegressor", "LogisticClassifier"),
    "knn": _Family("knn", "KNNRegressor", "KNNClassifier"),
    "mean": _Family("mean", "MeanRegressor", "MajorityClassifier"),
    "delaney": _Family("delaney", "DelaneyRegressor"),
}

BASELINES = tuple(FAMILIES)
"""All names, best known first."""

HOMES = {name: family.module for family in FAMILIES.values() for name in (family.regressor, family.classifier) if name}
"""The module of each class."""


def baseline_class(name: str, task: str) -> type[Baseline]:
    """The class of a baseline; raises `InputError` for an unknown name or task, and for one it cannot do."""
    if name not in FAMILIES:
        raise InputError(f"unknown baseline {name!r}{suggestion(name, BASELINES)}")
    if task not in ("regression", "classification"):
        raise InputError(f"unknown task {task!r}; known: regression, classification")
    family = FAMILIES[name]
    found = family.regressor if task == "regression" else family.classifier
    if not found:
        able = [other for other, described in FAMILIES.items() if described.classifier]
        raise InputError(f"{name} does regression only; for classification there are {', '.join(able)}")
    return class_named(found)


def build_baseline(name: str, task: str = "regression", **settings: Any) -> Baseline:
    """An unfitted model with its preset parameters but for `settings`.

    Raises `InputError` as `baseline_class`, and for a parameter that the model does not have.
    """
    kind = baseline_class(name, task)
    known = kind._get_param_names()
    for setting in settings:
        if setting not in known:
            raise InputError(f"{name} has no parameter {setting!r}{suggestion(setting, known)}")
    return kind(**settings)


def class_named(name: str) -> type[Baseline]:
    """A class by its own name, such as "GPRegressor"; raises `KeyError` for any other."""
    found: type[Baseline] = getattr(importlib.import_module(f"scoregnn.baselines.{HOMES[name]}"), name)
    return found
