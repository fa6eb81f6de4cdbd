"""State of an unfinished training run in one file of tensors; no pickle."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from scoregnn.errors import RunFolderError
from scoregnn.files import write_atomically


@dataclass(frozen=True)
class EpochRecord:
    """One line of the history. Losses are in standardised units; validation_loss is None without such a part."""

    epoch: int
    train_loss: float
    validation_loss: float | None
    learning_rate: float
    seconds: float


@dataclass
class Progress:
    """Where a run stands after `epoch` epochs, the best one so far, and whether nothing is left to do."""

    epoch: int = 0
    best_epoch: int = 0
    best_loss: float | None = None
    finished: bool = False
    history: list[EpochRecord] = field(default_factory=list)


class Checkpoint:
    """The file of one network in training: weights, best weights, optimiser state, progress.

    Batches and dropout are drawn from generators seeded by (seed, epoch), so there is no generator state to keep.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, network: nn.Module, best: dict[str, Tensor], optimizer: Optimizer, progress: Progress) -> None:
        tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in best.items()}
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{key}": value for key, value in state.items()}
        tensors = {name: value.detach().contiguous().cpu() for name, value in tensors.items()}
        text = json.dumps(dataclasses.asdict(progress))
        write_atomically(self.path, save(tensors, metadata={"progress": text, "sha256": _checksum(tensors, text)}))

    def load(self, network: nn.Module, optimizer: Optimizer) -> tuple[dict[str, Tensor], Progress] | None:
        """Fills `network` and `optimizer`; returns the best weights and the progress, or None if there is no file."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                metadata = file.metadata()
            if _checksum(tensors, metadata["progress"]) != metadata["sha256"]:
                raise ValueError("its checksum is not the one it names")
            progress = json.loads(metadata["progress"])
            groups: dict[str, dict[str, Tensor]] = {"network": {}, "best": {}, "optimizer": {}}
            for name, value in tensors.items():
                group, rest = name.split(".", 1)
                groups[group][rest] = value
            network.load_state_dict(groups["network"])
            state: dict[int, dict[str, Tensor]] = {}
            for name, value in groups["optimizer"].items():
                index, key = name.split(".", 1)
                state.setdefault(int(index), {})[key] = value
            optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
            history = [EpochRecord(**record) for record in progress.pop("history")]
            return groups["best"], Progress(**progress, history=history)
        except (SafetensorError, OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise RunFolderError(
                f"checkpoint {self.path} cannot be read ({type(error).__name__}: {str(error).partition(chr(10))[0]}); "
                "delete it to start this network anew"
            ) from None


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """SHA-256 of named tensors and a text."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()
