"""How many threads linear algebra may take while a baseline computes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_depth = 0
_limits: Any = None


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Limits BLAS and OpenMP to so many threads; None sets no limit.

    The limit is one for the whole process: the first of several users at the same time sets it, the last restores
    what was there before.
    """
    global _depth, _limits
    if count is None:
        yield
        return
    with _lock:
        if _depth == 0:
            _limits = threadpool_limits(count)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limits.restore_original_limits()
                _limits = None
