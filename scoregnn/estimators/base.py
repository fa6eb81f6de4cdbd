"""What both estimators share: parameters, checks, fitting, saving."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from scoregnn.config import Config
from scoregnn.errors import InputError, RunFolderError
from scoregnn.graphs.splits import random_split
from scoregnn.graphs.store import MoleculeStore
from scoregnn.molecules import FeaturizeOptions, Featurizer, Molecule, Refusal
from scoregnn.molecules.containers import as_molecule_inputs, check_on_invalid, report_refused
from scoregnn.prediction.predictor import Prediction, Predictor
from scoregnn.training.data import TrainingData
from scoregnn.training.labels import Targets, read_features, read_weights, seed_of
from scoregnn.training.model import Model, fit_model
from scoregnn.training.record import RECORD
from scoregnn.training.run_folder import hash_keys, locked, save_model

_DEFAULT = Config()
_FEWEST_FOR_VALIDATION = 10


class ScoreEstimator(BaseEstimator):
    """Base of `ScoreRegressor` and `ScoreClassifier`; see there for the parameters."""

    def __init__(
        self,
        *,
        network: str = _DEFAULT.network,
        block: str = _DEFAULT.block,
        steps: int = _DEFAULT.steps,
        dt: float = _DEFAULT.dt,
        learn_dt: str = _DEFAULT.learn_dt,
        integrator: str = _DEFAULT.integrator,
        rtol: float = _DEFAULT.rtol,
        atol: float = _DEFAULT.atol,
        adjoint: bool = _DEFAULT.adjoint,
        velocity: str = _DEFAULT.velocity,
        initial_weight: float = _DEFAULT.initial_weight,
        adaptive_initial: bool = _DEFAULT.adaptive_initial,
        share: bool = _DEFAULT.share,
        self_loops: bool | None = _DEFAULT.self_loops,
        norm: str = _DEFAULT.norm,
        activation: str = _DEFAULT.activation,
        recompute: bool = _DEFAULT.recompute,
        hidden: int = _DEFAULT.hidden,
        heads: int = _DEFAULT.heads,
        dropout: float = _DEFAULT.dropout,
        readout: str = _DEFAULT.readout,
        head: str = _DEFAULT.head,
        head_layers: int = _DEFAULT.head_layers,
        standardize: str = _DEFAULT.standardize,
        descriptors: str = _DEFAULT.descriptors,
        epochs: int = _DEFAULT.epochs,
        batch_size: int = _DEFAULT.batch_size,
        learning_rate: float = _DEFAULT.learning_rate,
        weight_decay: float = _DEFAULT.weight_decay,
        warmup: float = _DEFAULT.warmup,
        clip_norm: float = _DEFAULT.clip_norm,
        patience: int | None = _DEFAULT.patience,
        deep_supervision: float = _DEFAULT.deep_supervision,
        ensemble: int = _DEFAULT.ensemble,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = 0,
        on_invalid: str = "raise",
        time_limit: float = 20.0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.network = network
        self.block = block
        self.steps = steps
        self.dt = dt
        self.learn_dt = learn_dt
        self.integrator = integrator
        self.rtol = rtol
        self.atol = atol
        self.adjoint = adjoint
        self.velocity = velocity
        self.initial_weight = initial_weight
        self.adaptive_initial = adaptive_initial
        self.share = share
        self.self_loops = self_loops
        self.norm = norm
        self.activation = activation
        self.recompute = recompute
        self.hidden = hidden
        self.heads = heads
        self.dropout = dropout
        self.readout = readout
        self.head = head
        self.head_layers = head_layers
        self.standardize = standardize
        self.descriptors = descriptors
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.warmup = warmup
        self.clip_norm = clip_norm
        self.patience = patience
        self.deep_supervision = deep_supervision
        self.ensemble = ensemble
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any, sample_weight: Any = None, features: Any = None) -> Self:
        """Trains on molecules and their labels.

        X: n molecules: SMILES or RDKit molecules, in a list, an array, a pandas or polars column.
        y: [n] or [n, num_targets]; NaN where a label is missing. sample_weight: [n], at least 0.
        features: [n, num_features] numbers joined to each molecule after the readout; `predict` then needs them too.
        Raises `InputError` (a `ValueError`) for molecules that cannot be read, unless on_invalid="nan": then such
        molecules are left out, with a warning.
        """
        config = self._config()
        items = as_molecule_inputs(X)
        labels, targets = self._read_labels(y, len(items))
        weights = read_weights(sample_weight, len(items))
        joined = read_features(features, len(items))
        molecules, kept = self._featurize(items, config)
        kept = kept[np.isfinite(labels[kept]).any(axis=1)]
        if not len(kept):
            raise InputError("no valid molecule with a label to train on")
        chosen = [molecules[row] for row in kept]
        data = TrainingData(
            store=MoleculeStore.from_molecules(chosen),
            targets=torch.from_numpy(labels[kept]),
            bounds=torch.zeros(labels[kept].shape, dtype=torch.int8),
            weights=torch.from_numpy(weights[kept]),
            features=torch.from_numpy(joined[kept]),
        )
        keys = [molecule.key or "" for molecule in chosen]
        train, validation = self._hold_out(keys, config.seed)
        model = fit_model(
            data,
            train,
            validation,
            config,
            targets.task,
            feature_names=tuple(f"feature_{number + 1}" for number in range(joined.shape[1])),
            device=self.device,
        )
        model.training_keys = hash_keys([keys[row] for row in train])
        self.predictor_ = Predictor(model, time_limit=self.time_limit, workers=self._workers)
        self._targets = targets
        return self

    def save(self, folder: Path | str) -> None:
        """Writes the fitted model as a folder that `Predictor.load` and `scoregnn predict --model` take.

        A model saved there before is replaced. Raises `RunFolderError` for the folder of a run.
        """
        model, folder = self._fitted().model, Path(folder)
        with locked(folder):
            if (folder / RECORD).exists():
                raise RunFolderError(f"{folder} holds a run of `scoregnn train`; save the model elsewhere")
            save_model(folder, model, data={"source": {"fit": type(self).__name__}})

    @property
    def model_(self) -> Model:
        """The fitted networks and scalers."""
        return self._fitted().model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "predictor_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.multi_output = True
        tags.no_validation = True
        return tags

    def _read_labels(self, y: Any, num_rows: int) -> tuple[np.ndarray, Targets]:
        raise NotImplementedError

    @property
    def _workers(self) -> int | None:
        return None if self.n_jobs == -1 else self.n_jobs

    def _fitted(self) -> Predictor:
        if not hasattr(self, "predictor_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.predictor_

    def _config(self) -> Config:
        check_on_invalid(self.on_invalid)
        own = self.get_params(deep=False)
        settings = {name: own[name] for name in Config().to_dict() if name in own}
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
        return Config(**plain, seed=seed_of(self.random_state))

    def _featurize(self, items: Sequence[Any], config: Config) -> tuple[list[Any], np.ndarray]:
        options = FeaturizeOptions(standardize=config.standardize, descriptors=config.descriptors, identity=True)
        with Featurizer(options, time_limit=self.time_limit, workers=self._workers) as featurizer:
            molecules = list(featurizer.map(items))
        refused = {row: m.reason for row, m in enumerate(molecules) if isinstance(m, Refusal)}
        self._refuse(refused, len(items), "left out")
        kept = [row for row, molecule in enumerate(molecules) if isinstance(molecule, Molecule)]
        return molecules, np.array(kept, dtype=np.int64)

    def _predictions(self, X: Any, features: Any) -> list[Prediction]:
        predictor = self._fitted()
        items = as_molecule_inputs(X)
        if not predictor.model.features:
            if features is not None:
                raise InputError("this model was fitted without features; predict without them")
            found = predictor.predict(items)
        else:
            found = predictor.predict(items, read_features(features, len(items)))
        self._refuse({row: p.reason for row, p in enumerate(found) if p.reason}, len(items), "predicted as missing")
        return found

    def _refuse(self, refused: dict[int, str], total: int, consequence: str) -> None:
        report_refused(refused, total, on_invalid=self.on_invalid, consequence=consequence)

    def _hold_out(self, keys: list[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Training and validation rows; a handful of molecules is too few to keep some aside."""
        share = self.validation_fraction
        if not 0 <= share < 1:
            raise InputError(f"validation_fraction must be at least 0 and below 1, not {share}")
        if share == 0 or len(set(keys)) < _FEWEST_FOR_VALIDATION:
            return np.arange(len(keys)), np.empty(0, dtype=np.int64)
        split = random_split(keys, fractions=(1 - share, share, 0.0), seed=seed)
        return split.train, split.validation
