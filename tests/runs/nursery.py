"""Real processes that run `scoregnn`, to be killed; forked from one that has torch imported already.

Started as a script this is that parent: it reads one order a line and answers with the child's process id, then with
how the child ended. It computes nothing itself, so no thread is lost in a fork.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

IMPORTED = (
    *("scoregnn.cli.console", "scoregnn.training.run", "sklearn.metrics", "scipy.stats"),
    *("matplotlib.backends.backend_agg", "torch._dynamo"),  # the first optimiser imports the last
)


class Child:
    """A process that runs; `wait` gives its exit code, negative the signal that ended it."""

    def __init__(self, nursery: Nursery, pid: int, log: Path) -> None:
        self._nursery, self.pid, self._log = nursery, pid, log
        self._code: int | None = None

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        if self._code is None:
            self._code = int(self._nursery.answer())
        return self._code

    @property
    def log(self) -> str:
        return self._log.read_text()


class Nursery:
    """One child at a time."""

    def __init__(self) -> None:
        threads = str(min(2, os.cpu_count() or 1))  # as in the process of the tests
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": threads},
        )

    def start(self, folder: Path, *arguments: object, moment: tuple[str, str, int] | None = None) -> Child:
        """`scoregnn` with these arguments in `folder`.

        moment: (file, "before" or "after", n) kills it with SIGKILL around the n-th renaming of such a file to its
        final name ("*": of any).
        """
        log = folder / "child.log"
        order = {"folder": str(folder), "arguments": [*map(str, arguments)], "moment": moment, "log": str(log)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Child(self, int(self.answer()), log)

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        self._process.communicate(timeout=60)


def _die_around(moment: tuple[str, str, int]) -> None:
    name, when, left = moment
    rename = os.replace

    def replace(source: Any, target: Any) -> None:
        nonlocal left
        left -= name in ("*", Path(target).name)
        if left == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rename(source, target)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace  # type: ignore[assignment]


def _child(order: dict[str, Any]) -> None:
    from scoregnn.cli.main import main

    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(order["folder"])
    if order["moment"]:
        _die_around(order["moment"])
    sys.argv = ["scoregnn", *order["arguments"]]
    code = 1
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _child(json.loads(line))
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()
