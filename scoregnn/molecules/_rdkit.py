"""One setting of RDKit's global switches for every call made by this room, restored afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rdkit import Chem, rdBase

_lock = threading.RLock()
_depth = 0
_blocked: Any = None
_legacy_before = True


@contextmanager
def rdkit_settings() -> Iterator[None]:
    """No log lines, and the stereo perception whose labels do not depend on the spelling (see `features`).

    Both are global in RDKit: the first of all nested and concurrent users sets them, the last one restores them.
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
