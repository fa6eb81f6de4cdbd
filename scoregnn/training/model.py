"""A trained model: networks, scalers and what they predict; fitted on rows, applied to a store of molecules."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scoregnn.config import NETWORKS, Config
from scoregnn.errors import InputError
from scoregnn.graphs.store import ATOM_SIZES, BOND_SIZES, MoleculeStore
from scoregnn.molecules import descriptor_names
from scoregnn.nn.network import MoleculeNetwork, ScoreNetwork
from scoregnn.training.checkpoint import Checkpoint, EpochRecord, Progress
from scoregnn.training.data import ScaledData, TrainingData, ordered_batches
from scoregnn.training.loop import EVALUATION_BATCH, train_network
from scoregnn.training.scaling import ColumnScaler, TargetScaler
from scoregnn.training.task import Task

EpochCallback = Callable[[int, EpochRecord], None]


@dataclass
class Model:
    """Everything needed to predict from molecules.

    features: names of the user's columns joined after the readout. descriptor_scaler: columns of
    `descriptor_names(config.descriptors)`. training_keys: int64 [n], hashes of the identity keys of the molecules
    the weights were fitted on. progress: for each network how its training went. tolerance: where a molecule's
    iterations end at prediction; None lets all run.
    """

    config: Config
    task: Task
    features: tuple[str, ...]
    target_scaler: TargetScaler
    descriptor_scaler: ColumnScaler
    feature_scaler: ColumnScaler
    networks: list[MoleculeNetwork]
    training_keys: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.int64))
    progress: list[Progress] = field(default_factory=list)
    tolerance: float | None = None

    def to(self, device: torch.device | str) -> Model:
        """Moves the networks to `device`; `InputError` when it is not there."""
        for network in self.networks:
            network.to(usable_device(device))
        return self

    def settle_within(self, tolerance: float) -> None:
        """Ends a molecule's iterations at prediction once no component of its state moves by `tolerance`."""
        if not tolerance > 0:
            raise InputError(f"the tolerance must be above 0, not {tolerance}")
        if not self.config.share:
            raise InputError("only a shared block can settle; this network has one of its own for each step")
        self.tolerance = tolerance

    @property
    def num_parameters(self) -> int:
        """Trainable numbers of one network (of all networks of the ensemble: times their number)."""
        return sum(parameter.numel() for parameter in self.networks[0].parameters())

    def joined(self, store: MoleculeStore, features: Tensor) -> Tensor:
        """What is joined after the readout: float32 [n, num_descriptors + num_features], standardised."""
        return torch.cat(
            [self.descriptor_scaler.transform(store.descriptors), self.feature_scaler.transform(features)], 1
        )

    @torch.no_grad()
    def predict(self, store: MoleculeStore, features: Tensor | None = None) -> list[np.ndarray]:
        """Mean over the networks, one array a target: values [n] in the target's unit, or probabilities [n, classes].

        features: float64 [n, num_features], needed when the model was trained with feature columns.
        """
        if features is None:
            features = torch.empty(len(store), 0, dtype=torch.float64)
        if features.shape != (len(store), len(self.features)):
            raise InputError(f"the model needs the feature columns {', '.join(self.features)} for every molecule")
        joined = self.joined(store, features)
        device = next(self.networks[0].parameters()).device
        total = torch.zeros(len(store), self._num_columns, dtype=torch.float64)
        for network in self.networks:
            network.eval()
            for rows, batch in ordered_batches(store, torch.arange(len(store)), EVALUATION_BATCH):
                inputs = batch.to(device), joined[rows].to(device)
                if self.tolerance is None:
                    outputs = network(*inputs)
                else:
                    outputs, _ = network.settled(*inputs, tolerance=self.tolerance)
                outputs = outputs.double().cpu()
                total[rows] += self._to_target_space(outputs)
        mean = total / len(self.networks)
        if self.task.kind == "regression":
            return [column.numpy() for column in self.target_scaler.inverse(mean).unbind(1)]
        return [part.numpy() for part in mean.split([len(labels) for labels in self.task.classes], dim=1)]

    @property
    def _num_columns(self) -> int:
        return len(self.task.targets) if self.task.kind == "regression" else sum(map(len, self.task.classes))

    def _to_target_space(self, outputs: Tensor) -> Tensor:
        if self.task.kind == "regression":
            return outputs
        columns = []
        for logits in outputs.split(self.task.widths, dim=1):
            if logits.shape[1] == 1:
                columns.append(torch.cat([(-logits).sigmoid(), logits.sigmoid()], dim=1))
            else:
                columns.append(logits.softmax(dim=1))
        return torch.cat(columns, dim=1)


def usable_device(name: torch.device | str) -> torch.device:
    """The device called `name`; `InputError` when torch does not know it or cannot compute on it here."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise InputError(f"torch cannot compute on the device {str(name)!r} here; use --device cpu") from None
    return device


def build_network(config: Config, task: Task, num_features: int) -> MoleculeNetwork:
    """A network with fresh weights for this task, from torch's global generator."""
    module, name = NETWORKS[config.network].split(":")
    network: type[ScoreNetwork] = getattr(importlib.import_module(module), name)
    return network(
        config,
        atom_sizes=ATOM_SIZES,
        bond_sizes=BOND_SIZES,
        num_outputs=task.num_outputs,
        num_globals=len(descriptor_names(config.descriptors)) + num_features,
    )


def fit_model(
    data: TrainingData,
    train: np.ndarray,
    validation: np.ndarray,
    config: Config,
    task: Task,
    *,
    feature_names: tuple[str, ...] = (),
    start: Model | None = None,
    freeze: bool = False,
    stop_epochs: list[int] | None = None,
    checkpoints: Path | None = None,
    on_epoch: EpochCallback | None = None,
    device: torch.device | str = "cpu",
) -> Model:
    """Fits scalers and networks on the rows `train`, choosing each network's epoch on the rows `validation`.

    Nothing else of `data` is looked at. start: a model of the same architecture to go on from (fine-tuning): its
    weights, and where the head serves (see `keeps_head`) its scalers. freeze: train only the readout and the head.
    stop_epochs: epochs of the schedule to run for each network (for a refit without a validation part).
    checkpoints: folder for the state of unfinished networks. The global random state is left as it was.
    """
    device = usable_device(device)
    rows = torch.from_numpy(np.asarray(train, dtype=np.int64))
    held_out = torch.from_numpy(np.asarray(validation, dtype=np.int64))
    check_training_rows(data, rows)
    model = Model(
        config=config,
        task=task,
        features=feature_names,
        target_scaler=_target_scaler(data, rows, task),
        descriptor_scaler=ColumnScaler.fit(data.store.descriptors[rows], compress=True),
        feature_scaler=ColumnScaler.fit(data.features[rows], compress=False),
        networks=[],
    )
    head_kept = start is not None and keeps_head(start, task, feature_names)
    if start is not None and head_kept:
        model.descriptor_scaler, model.feature_scaler = start.descriptor_scaler, start.feature_scaler
        # Another quantity, or the same in another unit, has its own mean and spread.
        if start.task.units == task.units and (start.task.targets == task.targets or all(task.units)):
            model.target_scaler = start.target_scaler
    with torch.random.fork_rng(devices=[]):
        for member in range(config.ensemble):
            torch.manual_seed(config.seed * 1_000 + member)
            network = build_network(config, task, len(feature_names))
            if start is not None:
                given = start.networks[member % len(start.networks)].state_dict()
                kept = {name: value for name, value in given.items() if head_kept or not name.startswith("head.")}
                network.load_state_dict(network.state_dict() | kept)
            if freeze:
                for part in network.body:
                    part.requires_grad_(False)
            model.networks.append(network)
        scaled = ScaledData(
            store=data.store,
            targets=_scaled_targets(data, model),
            bounds=data.bounds,
            weights=_training_weights(data.weights, rows),
            joined=model.joined(data.store, data.features),
        )
        for member, network in enumerate(model.networks):
            model.progress.append(
                train_network(
                    network,
                    scaled,
                    task,
                    rows,
                    held_out,
                    config,
                    seed=config.seed * 1_000 + member,
                    stop_epoch=stop_epochs[member] if stop_epochs else None,
                    checkpoint=Checkpoint(checkpoints / f"network-{member}.safetensors") if checkpoints else None,
                    on_epoch=(lambda record, m=member: on_epoch(m, record)) if on_epoch else None,  # type: ignore[misc]
                    device=device,
                )
            )
    return model


def check_training_rows(data: TrainingData, rows: Tensor) -> None:
    """Raises `InputError` when there is nothing to learn from in the rows [n]."""
    if not len(rows):
        raise InputError("the training part is empty")
    if not torch.isfinite(data.targets[rows]).any():
        raise InputError("the training part has no label at all; choose another split or seed")
    if not data.weights[rows].mean() > 0:
        raise InputError("all sample weights of the training part are zero")


def keeps_head(start: Model, task: Task, feature_names: tuple[str, ...]) -> bool:
    """Whether the head of a model to fine-tune has the inputs and outputs that are needed."""
    return start.features == feature_names and start.task.widths == task.widths


def _target_scaler(data: TrainingData, rows: Tensor, task: Task) -> TargetScaler:
    if task.kind == "classification":
        return TargetScaler.identity(len(task.targets))
    return TargetScaler.fit(data.targets[rows], data.bounds[rows])


def _scaled_targets(data: TrainingData, model: Model) -> Tensor:
    return model.target_scaler.transform(data.targets).float()


def _training_weights(weights: Tensor, rows: Tensor) -> Tensor:
    # Mean 1 over the training part, so that the learning rate means the same with and without weights.
    return (weights / weights[rows].mean()).float()
