"""Saved models at work; needs torch and RDKit, neither PyG nor scikit-learn."""

from scoregnn.prediction.predictor import Prediction, Predictor

__all__ = ["Prediction", "Predictor"]
