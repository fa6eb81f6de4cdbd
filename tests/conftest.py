"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

# Before torch and numpy are imported: idle OpenMP threads must not spin, or two processes on two cores crawl.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
from hypothesis import settings

# No deadlines: a busy machine is no fault. In CI always the same examples, so that a failure repeats.
settings.register_profile("scoregnn", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("scoregnn")

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def _few_threads() -> None:
    """The networks of the tests are small: more than two threads only wait for each other."""
    import torch

    torch.set_num_threads(min(2, os.cpu_count() or 1))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the reference tables beside the repository; skips where it is absent, fails there in CI."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        message = f"the reference tables are not at {folder}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the source tree."""
    return REPOSITORY
