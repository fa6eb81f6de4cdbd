"""Every default of the package, in one typed place: the command line, the estimators and a saved model share it."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scoregnn.errors import InputError

# Name and home of each block; written as text so that naming one imports no torch.
BLOCKS = {
    "gat": "scoregnn.nn.blocks.gat:GATBlock",
    "gatv2": "scoregnn.nn.blocks.gatv2:GATv2Block",
    "gcn": "scoregnn.nn.blocks.gcn:GCNBlock",
    "gine": "scoregnn.nn.blocks.gine:GINEBlock",
    "mpnn": "scoregnn.nn.blocks.mpnn:MPNNBlock",
    "mpnn-additive": "scoregnn.nn.blocks.mpnn:AdditiveMPNNBlock",
    "mpnn-edge": "scoregnn.nn.blocks.mpnn_edge:EdgeMPNNBlock",
    "dmpnn": "scoregnn.nn.blocks.dmpnn:DMPNNBlock",
    "attentivefp": "scoregnn.nn.blocks.attentivefp:AttentiveFPBlock",
    "transformer": "scoregnn.nn.blocks.transformer:TransformerBlock",
}
NETWORKS = {
    "score": "scoregnn.nn.network:ScoreNetwork",
    "attentivefp": "scoregnn.nn.attentivefp:AttentiveFPNetwork",
}
HEADED_BLOCKS = ("gat", "gatv2", "transformer")
# Blocks in which an atom (or bond) always sees its own state: self-loops would have nothing to add.
LOOPLESS_BLOCKS = ("gine", "mpnn-edge", "dmpnn", "attentivefp", "transformer")
FIXED_STEP = ("euler", "midpoint", "heun", "rk4")
ADAPTIVE = "dopri5"
INTEGRATORS = (*FIXED_STEP, ADAPTIVE)
VELOCITIES = ("contractive", "additive", "initial-residual")
LEARN_DT = ("no", "one", "each")
NORMS = ("none", "before", "after")
HEADS = ("mlp", "mlp-score")
ACTIVATIONS = ("inside", "after")
READOUTS = ("sum", "mean", "max", "attention", "molattfp", "set2set")
DESCRIPTORS = ("none", "fast", "full")
STANDARDIZATIONS = ("as-drawn", "parent")


def _setting(default: Any, text: str) -> Any:
    """A field of `Config` and what it is, for the reader and for the help of the command line."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Config:
    """What a model is and how it is trained. The defaults are the preset `fast`: one network, no descriptors.

    The text beside each field is its documentation; the command line shows it. Values are checked on creation, and
    combinations that make no sense are refused with a sentence.
    """

    # Network
    network: str = _setting("score", "score, or for comparison attentivefp, PyG's model with that many steps as layers")
    block: str = _setting("gatv2", f"message-passing layer F: {', '.join(BLOCKS)}")
    steps: int = _setting(4, "iterations, at least 1")
    dt: float = _setting(0.25, "step size, at least 0; up to 1 Euler's contractive update is a convex blend")
    learn_dt: str = _setting("no", "learn dt within (0, 1), starting at dt: no, one (for all steps), each")
    integrator: str = _setting("euler", "scheme: euler, midpoint, heun, rk4, or dopri5, adaptive (extra ode)")
    rtol: float = _setting(1e-4, "relative tolerance of dopri5")
    atol: float = _setting(1e-4, "absolute tolerance of dopri5")
    adjoint: bool = _setting(False, "with dopri5: gradients by the adjoint equation")
    velocity: str = _setting(
        "contractive",
        "dh/dt: contractive F(h) - h, additive F(h), initial-residual (1 - a) F(h) + a h[0] - h",
    )
    initial_weight: float = _setting(0.1, "a of the velocity initial-residual, in [0, 1]")
    adaptive_initial: bool = _setting(False, "learn an a for each atom, starting at initial-weight")
    share: bool = _setting(True, "one block for all iterations (SCORE), or one for each (a stack)")
    self_loops: bool | None = _setting(None, "messages from an atom to itself; by default in a plain stack, and in gcn")
    norm: str = _setting("none", "LayerNorm: none, before F, after each step; shared as the blocks are")
    activation: str = _setting("inside", "activation inside F, or after the step as in the author's stacks")
    recompute: bool = _setting(False, "compute each step twice in training, for less memory")
    hidden: int = _setting(128, "width of an atom's state")
    heads: int = _setting(4, "attention heads, a divisor of hidden")
    dropout: float = _setting(0.1, "share of units dropped after each block evaluation and in the head")
    readout: str = _setting("sum", f"how atoms become a molecule: {', '.join(READOUTS)}")
    head: str = _setting("mlp", "mlp, or mlp-score: one shared layer iterated head-layers times with dt")
    head_layers: int = _setting(2, "hidden layers of the head, or its iterations")
    # Molecules
    standardize: str = _setting("as-drawn", "as-drawn, or parent: largest fragment, neutralised")
    descriptors: str = _setting("none", "descriptors joined after the readout: none, fast, full")
    # Training
    epochs: int = _setting(60, "at most this many passes over the training part")
    batch_size: int = _setting(64, "molecules in a batch")
    learning_rate: float = _setting(4e-3, "of AdamW, at the peak of the schedule")
    weight_decay: float = _setting(1e-2, "of AdamW")
    warmup: float = _setting(0.05, "share of all steps spent warming up")
    clip_norm: float = _setting(5.0, "largest norm of the gradient")
    patience: int | None = _setting(None, "stop after this many epochs without gain; by default never")
    deep_supervision: float = _setting(0.0, "weight of the mean loss of the earlier iterations' readouts")
    ensemble: int = _setting(1, "networks, averaged")
    seed: int = _setting(0, "of initial weights, batches and dropout")

    def __post_init__(self) -> None:
        _one_of("network", self.network, tuple(NETWORKS))
        _one_of("block", self.block, tuple(BLOCKS))
        _one_of("integrator", self.integrator, INTEGRATORS)
        _one_of("velocity", self.velocity, VELOCITIES)
        _one_of("readout", self.readout, READOUTS)
        _one_of("standardize", self.standardize, STANDARDIZATIONS)
        _one_of("descriptors", self.descriptors, DESCRIPTORS)
        for name in ("steps", "hidden", "heads", "epochs", "batch_size", "ensemble"):
            _whole(name, getattr(self, name), 1)
        for name in ("head_layers", "seed"):
            _whole(name, getattr(self, name), 0)
        if self.patience is not None:
            _whole("patience", self.patience, 1)
        if self.self_loops is not None and not isinstance(self.self_loops, bool):
            raise InputError(f"self_loops must be true, false or none, not {self.self_loops!r}")
        for name in ("share", "adjoint", "adaptive_initial", "recompute"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be true or false, not {getattr(self, name)!r}")
        _one_of("learn_dt", self.learn_dt, LEARN_DT)
        _one_of("norm", self.norm, NORMS)
        _one_of("head", self.head, HEADS)
        _one_of("activation", self.activation, ACTIVATIONS)
        _between("rtol", self.rtol, 0.0, 1.0, open_start=True)
        _between("atol", self.atol, 0.0, 1.0, open_start=True)
        _between("initial_weight", self.initial_weight, 0.0, 1.0)
        _between("deep_supervision", self.deep_supervision, 0.0, math.inf)
        _between("dt", self.dt, 0.0, math.inf)
        _between("dropout", self.dropout, 0.0, 1.0, open_end=True)
        _between("learning_rate", self.learning_rate, 0.0, math.inf)
        _between("weight_decay", self.weight_decay, 0.0, math.inf)
        _between("warmup", self.warmup, 0.0, 1.0)
        _between("clip_norm", self.clip_norm, 0.0, math.inf, open_start=True, allow_infinity=True)
        if self.seed >= 2**32:
            raise InputError(f"seed must be below 2**32, not {self.seed}")
        if self.block in HEADED_BLOCKS and self.hidden % self.heads:
            raise InputError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        self._check_combinations()

    architecture: ClassVar[tuple[str, ...]] = (
        *(
            "network",
            "block",
            "steps",
            "dt",
            "integrator",
            "velocity",
            "share",
            "self_loops",
            "hidden",
            "heads",
            "readout",
        ),
        *("head", "head_layers", "standardize", "descriptors", "learn_dt", "norm", "activation"),
        *("initial_weight", "adaptive_initial"),
    )
    """Settings that decide which weights there are and what they mean; a model that is fine-tuned keeps them."""

    def _check_combinations(self) -> None:
        """Refuses what makes no sense together, in a sentence."""
        if self.network != "score":
            for name in _OF_THE_RECURRENCE:
                if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                    raise InputError(f"the network {self.network} knows no {name}: it has layers of its own")
        adaptive = self.integrator == ADAPTIVE
        faults = {
            f"the block {self.block} sees an atom's own state anyway: it has no self-loops": bool(self.self_loops)
            and self.block in LOOPLESS_BLOCKS,
            "learn_dt needs a dt between 0 and 1 to start from": self.learn_dt != "no" and not 0 < self.dt < 1,
            "dopri5 solves one equation: it needs one shared block": adaptive and not self.share,
            "dopri5 takes its own steps: there is no dt to learn": adaptive and self.learn_dt != "no",
            "dopri5 solves a smooth equation: nothing can come after a step": adaptive
            and (self.norm == "after" or self.activation == "after"),
            "dopri5 has no steps to recompute; use the adjoint": adaptive and self.recompute,
            "the adjoint is for the integrator dopri5": self.adjoint and not adaptive,
            "adaptive_initial is for the velocity initial-residual": self.adaptive_initial
            and self.velocity != "initial-residual",
        }
        for reason, broken in faults.items():
            if broken:
                raise InputError(reason)

    @property
    def is_plain_stack(self) -> bool:
        """Unshared blocks applied one after the other: the state is replaced, not blended."""
        return not self.share and self.velocity == "contractive" and self.dt == 1 and self.integrator == "euler"

    @property
    def uses_self_loops(self) -> bool:
        """Whether blocks send messages from an atom to itself: without them a plain stack forgets a lone atom."""
        return self.is_plain_stack if self.self_loops is None else self.self_loops

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """Inverse of `to_dict`; an unknown key raises `InputError` with a suggestion."""
        names = [field.name for field in dataclasses.fields(cls)]
        for key in values:
            if key not in names:
                raise InputError(f"unknown setting {key!r}{suggestion(key, names)}")
        return cls(**values)

    def digest(self) -> str:
        """Short hash of all settings, to stamp a result with what made it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:12]


_OF_THE_RECURRENCE = (
    *("block", "dt", "learn_dt", "integrator", "velocity", "share", "self_loops", "norm", "activation", "recompute"),
    *("readout", "head", "deep_supervision"),
)


def suggestion(word: str, known: Iterable[str]) -> str:
    """ "; did you mean 'x'?" where a known word is close, otherwise the known words."""
    known = list(known)
    close = difflib.get_close_matches(str(word).lower(), known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"unknown {name} {value!r}{suggestion(str(value), known)}")


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _between(
    name: str,
    value: object,
    low: float,
    high: float,
    *,
    open_start: bool = False,
    open_end: bool = False,
    allow_infinity: bool = False,
) -> None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if good and ((open_start and value == low) or (open_end and value == high)):
        good = False
    if good and math.isinf(float(value)) and not allow_infinity:  # type: ignore[arg-type]
        good = False
    if not good:
        start, end = ("above" if open_start else "at least"), ("below" if open_end else "at most")
        limit = "" if math.isinf(high) else f" and {end} {high:g}"
        raise InputError(f"{name} must be a number {start} {low:g}{limit}, not {value!r}")


PRESETS: dict[str, Config] = {"fast": Config()}

DEPTHS: dict[str, dict[str, Any]] = {
    "score": {"share": True, "velocity": "contractive"},
    "skip05": {"share": False, "velocity": "contractive", "dt": 0.5, "activation": "after"},
    "stack": {"share": False, "velocity": "contractive", "dt": 1.0},
    "residual": {"share": False, "velocity": "additive", "dt": 1.0, "norm": "after", "activation": "after"},
    "shared-residual": {"share": True, "velocity": "additive", "dt": 1.0},
    "initial-residual": {"share": True, "velocity": "initial-residual"},
}
"""Names for the ways to go deep that must be compared: points in sharing x velocity x dt x place of the activation."""
