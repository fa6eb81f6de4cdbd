"""Settings and fixtures of all tests."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Before torch and numpy are imported: idle OpenMP threads must not spin, or two processes on two cores crawl.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("MPLBACKEND", "Agg")
# Before scipy is imported: scikit-learn's checks of array inputs are skipped without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

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


@dataclass(frozen=True)
class Outcome:
    """How the program ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of a mistake of the user; anything else fails."""
        lines = self.err.splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        assert len(errors) == 1 and lines[-1] == errors[0], f"not one line of error at the end: {self.err}"
        assert self.code == 2, self.code
        assert "Traceback" not in self.err + self.out
        return errors[0].removeprefix("error: ")


@pytest.fixture
def program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Outcome]:
    """Runs `scoregnn` with these arguments in this process, in an empty folder; `stdin` is what it reads there."""
    from scoregnn.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: str | bytes = b"") -> Outcome:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["scoregnn", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), captured.out, captured.err)

    return run
