"""scoregnn: molecular properties from SMILES with SCORE, one message-passing layer iterated as a contractive ODE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Config", "ContractiveRecurrence", "Predictor", "ScoreClassifier", "ScoreRegressor", "__version__"]

_HOMES = {
    "Config": "scoregnn.config",
    "ContractiveRecurrence": "scoregnn.nn",
    "Predictor": "scoregnn.prediction",
    "ScoreClassifier": "scoregnn.estimators",
    "ScoreRegressor": "scoregnn.estimators",
}

if TYPE_CHECKING:
    from scoregnn.config import Config
    from scoregnn.estimators import ScoreClassifier, ScoreRegressor
    from scoregnn.nn import ContractiveRecurrence
    from scoregnn.prediction import Predictor


def __getattr__(name: str) -> Any:
    """Imports torch and the rest only when one of the public classes is asked for (PEP 562)."""
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'scoregnn' has no attribute {name!r}")
