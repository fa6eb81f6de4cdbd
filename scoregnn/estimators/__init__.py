"""Scikit-learn estimators on sequences of molecules, and splitters that keep rows of one molecule together."""

from scoregnn.estimators.classifier import ScoreClassifier
from scoregnn.estimators.mlp_score import MLPScoreClassifier, MLPScoreRegressor
from scoregnn.estimators.regressor import ScoreRegressor
from scoregnn.estimators.splitters import MoleculeKFold, MoleculeShuffleSplit

__all__ = [
    "MLPScoreClassifier",
    "MLPScoreRegressor",
    "MoleculeKFold",
    "MoleculeShuffleSplit",
    "ScoreClassifier",
    "ScoreRegressor",
]
