"""Models to compare with, scikit-learn style, SMILES in."""

from scoregnn.baselines.delaney import DelaneyRegressor

__all__ = ["DelaneyRegressor"]
