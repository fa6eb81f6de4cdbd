"""Featurisation in worker processes: a molecule that hangs or crashes RDKit costs only itself."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from scoregnn.errors import InputError, ScoreGNNError
from scoregnn.molecules._process import WorkerProcess
from scoregnn.molecules.featurize import FeaturizeOptions, Molecule, Refusal
from scoregnn.molecules.inputs import MoleculeInput
from scoregnn.molecules.parsing import unreadable

MOST_WORKERS = 8
"""Most workers taken by default: each holds an RDKit of its own in memory."""

CHUNK = 256
"""Items given to a worker at a time."""

LOOK_AHEAD = 2
"""Chunks read ahead of the consumer, for each worker."""

_WAIT = 0.5  # seconds between two looks at whether a wait makes sense; Windows cannot interrupt a longer one

_CLOSED_IN_USE = "the featurizer was closed while it was in use"


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Featurizer:
    """Reads molecules in isolated worker processes.

    options: what to compute. workers: most processes, by default the usable cores, but not over `MOST_WORKERS`.
    time_limit: seconds a single molecule may take.

    Workers start with the first molecules, only as many as there is work for, and stay until `close`, garbage
    collection or the end of the program. They import RDKit and numpy only, need no `if __name__ == "__main__"`, and
    work from notebooks, threads and daemonic processes. After a fork the child starts workers of its own.
    A molecule over the time limit is refused; one on which a worker dies is tried once more in a fresh worker, so
    that a worker killed from outside costs nothing, and then refused.

    >>> with Featurizer(FeaturizeOptions(smiles=True), workers=1) as featurizer:
    ...     [m.smiles if isinstance(m, Molecule) else m.reason for m in featurizer.map(["OCC", ""])]
    ['CCO', 'empty']
    """

    def __init__(
        self, options: FeaturizeOptions | None = None, *, workers: int | None = None, time_limit: float = 20.0
    ) -> None:
        if workers is None:
            workers = min(MOST_WORKERS, usable_cores())
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise InputError(f"workers must be a whole number of at least 1, not {workers!r}")
        if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not 0 < time_limit <= 1e6:
            raise InputError(f"time_limit must be seconds, above 0 and at most a million, not {time_limit!r}")
        self.options = options or FeaturizeOptions()
        self.workers = workers
        self.time_limit = float(time_limit)
        self._pool = _Pool(self.options, workers, self.time_limit)
        # The threads hold the pool, never this object, so that dropping it ends them.
        self._finalizer = weakref.finalize(self, self._pool.close)

    def map(self, items: Iterable[MoleculeInput]) -> Iterator[Molecule | Refusal]:
        """One result for every item, in order, lazily.

        At most `LOOK_AHEAD` chunks of `CHUNK` items for each worker are read ahead. An exception raised by
        `items` comes out after the results of the items before it. Several threads may call this at once.
        Raises `WorkerStartError` when no worker can start, `ScoreGNNError` when the featurizer was closed.
        """
        return _results(self._pool, iter(items), self.workers * LOOK_AHEAD, self)

    def close(self) -> None:
        """End all workers at once; a `map` still running raises `ScoreGNNError`."""
        self._finalizer()

    def __enter__(self) -> Featurizer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Featurizer], tuple[Any, ...]]:
        return _rebuilt, (self.options, self.workers, self.time_limit)


def _rebuilt(options: FeaturizeOptions, workers: int, time_limit: float) -> Featurizer:
    return Featurizer(options, workers=workers, time_limit=time_limit)


class _Job:
    """A chunk of items and, once `done`, either their results or the error that prevented them."""

    def __init__(self, items: list[Any]) -> None:
        # Nothing but plain strings, bytes and SDF records travels: other objects may not survive a pickle.
        self.results: list[Molecule | Refusal | None] = []
        self.items: list[MoleculeInput] = []
        for item in items:
            reason = unreadable(item)
            self.results.append(Refusal(reason) if reason else None)
            if not reason:
                self.items.append(str(item) if isinstance(item, str) else item)
        self.places = [place for place, result in enumerate(self.results) if result is None]
        self.error: Exception | None = None
        self.cancelled = False
        self.done = threading.Event()
        if not self.items:
            self.done.set()


def _results(pool: _Pool, items: Iterator[Any], most_jobs: int, owner: Featurizer) -> Iterator[Molecule | Refusal]:
    """The generator behind `Featurizer.map`; `owner` is held so that the pool outlives every running map."""
    process = os.getpid()
    jobs: deque[_Job] = deque()
    failure: Exception | None = None
    exhausted = False
    try:
        while True:
            while not exhausted and len(jobs) < most_jobs:
                chunk: list[Any] = []
                try:
                    chunk.extend(islice(items, CHUNK))
                except Exception as error:
                    failure, exhausted = error, True
                exhausted = exhausted or len(chunk) < CHUNK
                if chunk:
                    job = _Job(chunk)
                    jobs.append(job)
                    if not job.done.is_set():
                        pool.submit(job)
            if not jobs:
                break
            job = jobs[0]
            while not job.done.wait(_WAIT):
                if os.getpid() != process:
                    raise ScoreGNNError("this map was begun before a fork; call map again in the child")
            if job.error is not None:
                raise job.error
            jobs.popleft()
            yield from job.results  # type: ignore[misc]
    finally:
        if os.getpid() == process:
            pool.cancel(jobs)
    if failure is not None:
        raise failure


class _Pool:
    """The threads, each with a worker process, that work off one queue of jobs."""

    def __init__(self, options: FeaturizeOptions, workers: int, time_limit: float) -> None:
        self._options = options
        self._most = workers
        self._time_limit = time_limit
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._threads = 0
        self._idle = 0
        self._running: dict[WorkerProcess, _Job | None] = {}
        self._closed = False

    def submit(self, job: _Job) -> None:
        with self._changed:
            if self._closed:
                raise ScoreGNNError("the featurizer is closed")
            self._queue.append(job)
            if len(self._queue) > self._idle and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name="scoregnn-molecules", daemon=True).start()
            self._changed.notify()

    def cancel(self, jobs: Iterable[_Job]) -> None:
        """Nobody waits for these jobs any more: drop those in the queue, stop the workers at the others."""
        unwanted = {id(job) for job in jobs if not job.done.is_set()}
        if not unwanted:
            return
        with self._changed:
            self._queue = deque(job for job in self._queue if id(job) not in unwanted)
            stopped = [worker for worker, job in self._running.items() if id(job) in unwanted]
            for worker in stopped:
                running = self._running[worker]
                assert running is not None
                running.cancelled = True
        for worker in stopped:
            worker.kill()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            waiting = [*self._queue, *(job for job in self._running.values() if job is not None)]
            self._queue.clear()
            workers = list(self._running)
            for job in waiting:
                job.error = ScoreGNNError(_CLOSED_IN_USE)
                job.done.set()
            self._changed.notify_all()
        for worker in workers:
            worker.kill()

    def abandon(self) -> None:
        """In a forked child: threads and workers are the parent's; begin afresh."""
        closed = self._closed
        for worker in list(self._running):
            worker.abandon()
        self._reset()
        self._closed = closed

    def _serve(self) -> None:
        worker: WorkerProcess | None = None
        while True:
            with self._changed:
                self._idle += 1
                while not self._queue and not self._closed:
                    self._changed.wait()
                self._idle -= 1
                if self._closed:
                    return
                job = self._queue.popleft()
                if worker is not None:
                    self._running[worker] = job
            try:
                worker = self._work_off(job, worker)
            except Exception as error:  # whatever it is, somebody waits for this job
                job.error, worker = job.error or error, None
            job.done.set()
            with self._changed:
                if worker is not None and worker in self._running:
                    self._running[worker] = None

    def _work_off(self, job: _Job, worker: WorkerProcess | None) -> WorkerProcess | None:
        """Fill `job.results`; gives back the worker that is alive afterwards."""
        at = 0
        crashes = 0
        while at < len(job.items) and not job.cancelled:
            if worker is None:
                worker = self._start(job)
            worker.send(job.items[at:])
            while at < len(job.items):
                try:
                    result = worker.receive(self._time_limit)
                except TimeoutError:
                    result = Refusal(f"took more than {self._time_limit:g} s to read")
                    self._retire(worker)
                    worker = None
                if result is None:
                    break
                job.results[job.places[at]] = result
                at += 1
                crashes = 0
                if worker is None:
                    break
            else:
                return worker
            if worker is not None:  # it died at item `at`
                ended = self._retire(worker)
                worker = None
                crashes += 1
                if crashes == 2:
                    job.results[job.places[at]] = Refusal(f"RDKit crashed ({ended})")
                    at += 1
                    crashes = 0
        return worker

    def _start(self, job: _Job) -> WorkerProcess:
        if self._closed:
            raise ScoreGNNError(_CLOSED_IN_USE)
        worker = WorkerProcess(self._options, self._time_limit)
        with self._changed:
            if not self._closed and not job.cancelled:
                self._running[worker] = job
                return worker
        worker.kill()
        raise ScoreGNNError(_CLOSED_IN_USE)

    def _retire(self, worker: WorkerProcess) -> str:
        worker.kill()
        with self._changed:
            self._running.pop(worker, None)
        return worker.how_it_ended()


_pools: weakref.WeakSet[_Pool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.abandon()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
