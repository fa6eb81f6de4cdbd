"""The training loop of one network."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from scoregnn.config import Config
from scoregnn.errors import ScoreGNNError
from scoregnn.training.checkpoint import Checkpoint, EpochRecord, Progress
from scoregnn.training.data import NetworkData, num_batches, shuffled_batches
from scoregnn.training.losses import elementwise_loss, mean_loss
from scoregnn.training.task import Task

EVALUATION_BATCH = 256
_SEED_STRIDE = 1_000_003


class DivergedError(ScoreGNNError):
    """The loss is no longer a number."""


def train_network(
    network: nn.Module,
    data: NetworkData,
    task: Task,
    train: Tensor,
    validation: Tensor,
    config: Config,
    *,
    seed: int,
    stop_epoch: int | None = None,
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[EpochRecord], None] | None = None,
    device: torch.device | str = "cpu",
) -> Progress:
    """Trains `network` in place and leaves the weights of its best epoch in it.

    AdamW under a linear warm-up and a cosine decay over `config.epochs` epochs. The best epoch is the one of the
    lowest validation loss; without a validation part it is the last one.

    network: of the inputs that `data` gives; deep supervision also asks for its `every_step`.
    train, validation: rows of `data` (int64). seed: of batches and dropout. stop_epoch: end after this many epochs
    of the schedule. checkpoint: written after every epoch and gone on from where it exists; the result is the same
    as that of an unbroken run. on_epoch: called after every epoch.
    Seeds torch's global generator. Raises `DivergedError` when the loss becomes infinite or not a number.
    """
    network.to(device)
    optimizer = torch.optim.AdamW(_parameter_groups(network, config), lr=config.learning_rate, fused=True)
    steps_per_epoch = num_batches(len(train), config.batch_size)
    last_epoch = min(config.epochs, stop_epoch or config.epochs)
    progress = Progress()
    best = {name: value.clone() for name, value in network.state_dict().items()}
    if checkpoint is not None and (found := checkpoint.load(network, optimizer)) is not None:
        best, progress = found

    while progress.epoch < last_epoch and not progress.finished:
        started = time.perf_counter()
        epoch = progress.epoch
        # Seeded by epoch, so that a run that is taken up again draws the same batches and dropout.
        epoch_seed = seed * _SEED_STRIDE + epoch
        torch.manual_seed(epoch_seed)
        batches = shuffled_batches(train, config.batch_size, torch.Generator().manual_seed(epoch_seed))
        network.train()
        total, rate = 0.0, 0.0
        for step, rows in enumerate(batches):
            rate = config.learning_rate * schedule(epoch * steps_per_epoch + step, steps_per_epoch, config)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = _batch_loss(network, data, task, rows, config.deep_supervision, device)
            if not math.isfinite(value := loss.item()):
                raise DivergedError(
                    f"the training loss became {value} in epoch {epoch + 1}, batch {step + 1}, at learning rate "
                    f"{rate:.2g}; try a lower learning rate, a smaller dt or the contractive velocity"
                )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), config.clip_norm)
            optimizer.step()
            total += value * len(rows)

        held_out = validation_loss(network, data, task, validation, device) if len(validation) else None
        progress.epoch = epoch + 1
        if held_out is None or progress.best_loss is None or held_out < progress.best_loss:
            progress.best_loss, progress.best_epoch = held_out, progress.epoch
            best = {name: value.clone() for name, value in network.state_dict().items()}
        waited = progress.epoch - progress.best_epoch
        progress.finished = progress.epoch == last_epoch or (config.patience is not None and waited >= config.patience)
        record = EpochRecord(progress.epoch, total / len(train), held_out, rate, time.perf_counter() - started)
        progress.history.append(record)
        if checkpoint is not None:
            checkpoint.save(network, best, optimizer, progress)
        if on_epoch is not None:
            on_epoch(record)

    network.load_state_dict(best)
    network.eval()
    return progress


def schedule(step: int, steps_per_epoch: int, config: Config) -> float:
    """Share of the peak learning rate at `step`: linear warm-up, then half a cosine down to 0."""
    total = config.epochs * steps_per_epoch
    warm = math.ceil(config.warmup * total)
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(total - warm, 1)))


@torch.no_grad()
def validation_loss(
    network: nn.Module, data: NetworkData, task: Task, rows: Tensor, device: torch.device | str = "cpu"
) -> float | None:
    """Weighted mean loss over the known labels of `rows`; None if they have none."""
    network.eval()
    total = weight = 0.0
    for part in rows.split(EVALUATION_BATCH):
        outputs = network(*data.inputs(part, device))
        losses, known = elementwise_loss(task, outputs, data.targets[part].to(device), data.bounds[part].to(device))
        weights = data.weights[part].to(device).unsqueeze(1)
        total += float((losses * weights).sum())
        weight += float((known * weights).sum())
    return total / weight if weight else None


def _batch_loss(
    network: nn.Module,
    data: NetworkData,
    task: Task,
    rows: Tensor,
    deep_supervision: float,
    device: torch.device | str,
) -> Tensor:
    """Loss of the last readout; with deep supervision plus that weight times the mean loss of the earlier ones."""
    inputs = data.inputs(rows, device)
    labels = tuple(values[rows].to(device) for values in (data.targets, data.bounds, data.weights))
    if not deep_supervision:
        return mean_loss(task, network(*inputs), *labels)
    every_step: Callable[..., list[Tensor]] = network.every_step  # type: ignore[assignment]
    *earlier, last = (mean_loss(task, outputs, *labels) for outputs in every_step(*inputs))
    return last + deep_supervision * torch.stack(earlier).mean() if earlier else last


def _parameter_groups(network: nn.Module, config: Config) -> list[dict[str, object]]:
    """Weight decay on matrices, not on biases, attention vectors of one row or embeddings."""
    embeddings = {id(module.weight) for module in network.modules() if isinstance(module, nn.Embedding)}
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    decayed = [p for p in trained if p.dim() > 1 and id(p) not in embeddings]
    others = [p for p in trained if p.dim() <= 1 or id(p) in embeddings]
    return [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
