"""One setting of RDKit's global switches for every call made by this room, restored afterwards."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rdkit import Chem, rdBase

_lock = threading.RLock()
_depth = 0
_blocked: Any = None
_legacy_before = True


def _after_fork() -> None:
    """The lock may be held by a thread that does not exist in the child."""
    global _lock, _depth
    _lock, _depth = threading.RLock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def rdkit_settings() -> Iterator[None]:
    """No log lines, and the stereo perception whose labels do not depend on the spelling (see `features`).

    Both are global in RDKit: the first of all nested and concurrent users sets them, the last restores them.
    """
    global _depth, _blocked, _legacy_before
    with _lock:
        if _depth == 0:
            _blocked = rdBase.BlockLogs()
            _legacy_before = Chem.GetUseLegacyStereoPerception()
            if not _legacy_before:
                Chem.SetUseLegacyStereoPerception(True)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _blocked = None
                if not _legacy_before:
                    Chem.SetUseLegacyStereoPerception(False)
