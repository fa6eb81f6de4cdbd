"""The program of a worker process: inputs in, molecules out, one message for each as soon as it is done.

Started by `scoregnn.molecules._process`. It talks in pickles over its standard input and output, so it is of use to
its parent only, and ends when its parent does (end of its input).
"""

from __future__ import annotations

import math
import os
import signal
import sys

from rdkit import Chem, RDLogger

from scoregnn.errors import InvalidMoleculeError
from scoregnn.molecules._frames import read_messages, write_message
from scoregnn.molecules.featurize import FeaturizeOptions, Molecule, Refusal, featurize_one
from scoregnn.molecules.inputs import MoleculeInput

READY = "ready"
MEMORY_LIMIT = 4 << 30
"""Address space of a worker, in bytes, where the system can limit it: a molecule that needs more is refused."""

_ALARM_MARGIN = 5.0


def main() -> None:
    """Serve the parent until it closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    results = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)  # a stray print of a library must not end up among the messages
    _limit_memory()
    RDLogger.DisableLog("rdApp.*")
    Chem.SetUseLegacyStereoPerception(True)
    messages = read_messages(0)
    options, time_limit = next(messages)
    write_message(results, READY)
    os.dup2(nowhere, 2)  # after a good start nobody reads the error stream
    try:
        for items in messages:
            for item in items:
                _arm(time_limit)
                write_message(results, result_of(item, options))
            _arm(None)
    except OSError:
        os._exit(0)  # the parent is gone


def result_of(item: MoleculeInput, options: FeaturizeOptions) -> Molecule | Refusal:
    """What `featurize_one` gives, with every failure as a refusal."""
    try:
        return featurize_one(item, options)
    except InvalidMoleculeError as error:
        return Refusal(str(error))
    except MemoryError:
        return Refusal("RDKit ran out of memory")
    except Exception as error:
        detail = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        return Refusal(f"RDKit failed: {type(error).__name__} {detail[:120]}".strip())


def _arm(time_limit: float | None) -> None:
    """A worker whose parent was killed ends itself: its input tells only once RDKit gives control back."""
    if hasattr(signal, "alarm"):
        signal.alarm(0 if time_limit is None else math.ceil(time_limit + _ALARM_MARGIN))


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = min(limit for limit in (soft, hard, MEMORY_LIMIT) if limit != resource.RLIM_INFINITY)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (OSError, ValueError):
        return  # macOS refuses


if __name__ == "__main__":
    main()
