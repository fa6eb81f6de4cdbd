"""One worker process, seen from its parent: started, given items, read with a time limit, killed."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from scoregnn.errors import ScoreGNNError
from scoregnn.molecules._frames import read_messages, write_message
from scoregnn.molecules.featurize import FeaturizeOptions

START_LIMIT = 120.0
"""Seconds a worker may take to import RDKit; a slow network disk needs many."""

_BOOTSTRAP = """
import importlib.util, sys
init, *path = sys.argv[1:]
sys.path += [entry for entry in path if entry not in sys.path]
spec = importlib.util.spec_from_file_location("scoregnn", init)
sys.modules["scoregnn"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from scoregnn.molecules.worker import main
main()
"""
# The worker must import this very scoregnn, and nothing from the folder that the user happens to be in: hence -P
# and the explicit file instead of -m. The parent's search path follows behind, for an RDKit found only through it.

_PACKAGE = str(Path(__file__).resolve().parents[1] / "__init__.py")

_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


class WorkerStartError(ScoreGNNError):
    """A worker process did not start; the message carries the end of its error output."""


class WorkerProcess:
    """A started worker. `receive` gives results in the order in which the items were sent."""

    def __init__(self, options: FeaturizeOptions, time_limit: float) -> None:
        if not sys.executable:
            raise WorkerStartError("molecules are read in worker processes, but sys.executable is empty")
        path = [entry for entry in sys.path if entry]
        command = [sys.executable, "-P", "-c", _BOOTSTRAP, _PACKAGE, *path]
        with tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    bufsize=0,
                    env=os.environ | _ONE_THREAD,
                )
            except OSError as error:
                raise WorkerStartError(f"cannot start a worker process: {error}") from error
            self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
            threading.Thread(target=self._pump, name="scoregnn-worker-reader", daemon=True).start()
            try:
                ready = self.send((options, time_limit)) and self.receive(START_LIMIT) is not None
            except TimeoutError:
                ready = False
            except BaseException:
                self.kill()
                raise
            if not ready:
                self.kill()
                errors.seek(0)
                lines = errors.read().decode(errors="replace").strip().splitlines()
                detail = " | ".join(line.strip() for line in lines[-3:]) or self.how_it_ended()
                raise WorkerStartError(f"a worker process for molecules did not start: {detail}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: object) -> bool:
        """False when the worker is gone."""
        try:
            write_message(self._stream("stdin").fileno(), message)
        except (OSError, ValueError):
            return False
        return True

    def receive(self, time_limit: float) -> Any:
        """The next message, None when the worker is gone; `TimeoutError` after `time_limit` seconds."""
        try:
            return self._inbox.get(timeout=time_limit)
        except queue.Empty:
            raise TimeoutError from None

    def kill(self) -> None:
        """End the process at once and reap it. May be called twice and from any thread."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._stream("stdin").close()

    def how_it_ended(self) -> str:
        """ "signal 11" or "exit code 1", of a process that has ended."""
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def abandon(self) -> None:
        """In a forked child: let go of the pipes, which belong to the parent."""
        for name in ("stdin", "stdout"):
            with contextlib.suppress(OSError):
                self._stream(name).close()

    def _stream(self, name: str) -> Any:
        return getattr(self._process, name)

    def _pump(self) -> None:
        # A thread of its own, since a pipe cannot be read with a time limit on every system.
        stdout = self._stream("stdout")
        try:
            for message in read_messages(stdout.fileno()):
                self._inbox.put(message)
        except (OSError, ValueError):
            pass
        finally:
            self._inbox.put(None)
            stdout.close()
