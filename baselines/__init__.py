"""Models to compare with, scikit-learn style, SMILES in.

The classes are imported when first asked for: whoever needs the names only loads no library of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scoregnn.baselines.registry import BASELINES, HOMES, build_baseline

if TYPE_CHECKING:
    from scoregnn.baselines.delaney import DelaneyRegressor
    from scoregnn.baselines.gaussian_process import GPRegressor
    from scoregnn.baselines.knn import KNNClassifier, KNNRegressor
    from scoregnn.baselines.lightgbm_trees import LightGBMClassifier, LightGBMRegressor
    from scoregnn.baselines.linear import LogisticClassifier, RidgeRegressor
    from scoregnn.baselines.mean import MajorityClassifier, MeanRegressor
    from scoregnn.baselines.random_forest import RandomForestClassifier, RandomForestRegressor
    from scoregnn.baselines.saving import load_baseline
    from scoregnn.baselines.svm import SVMClassifier, SVMRegressor
    from scoregnn.baselines.xgboost_trees import XGBoostClassifier, XGBoostRegressor

__all__ = [
    "BASELINES",
    "DelaneyRegressor",
    "GPRegressor",
    "KNNClassifier",
    "KNNRegressor",
    "LightGBMClassifier",
    "LightGBMRegressor",
    "LogisticClassifier",
    "MajorityClassifier",
    "MeanRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RidgeRegressor",
    "SVMClassifier",
    "SVMRegressor",
    "XGBoostClassifier",
    "XGBoostRegressor",
    "build_baseline",
    "load_baseline",
]


def __getattr__(name: str) -> Any:
    home = (HOMES | {"load_baseline": "saving"}).get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value  # found at once from now on
    return value
