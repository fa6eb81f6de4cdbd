"""Isolation: hangs, crashes, kills, forks, threads and hurried exits cost at most the molecule at hand."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import scoregnn.molecules._process as process_module
from scoregnn.errors import InputError, ScoreGNNError
from scoregnn.molecules import (
    FeaturizeOptions,
    Featurizer,
    MolBlock,
    Molecule,
    Refusal,
    WorkerStartError,
    featurize_one,
)
from scoregnn.molecules.isolation import CHUNK, LOOK_AHEAD

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and fork")
SMILES = FeaturizeOptions(smiles=True)
# A plain chain: RDKit's time grows with the square of its length, to far more than any limit used here.
ENDLESS = "C" * 99_999


def smiles_of(results: list[Molecule | Refusal]) -> list[str | None]:
    return [r.smiles if isinstance(r, Molecule) else r.reason for r in results]


def children(pid: int) -> list[int]:
    """Living child processes; of all threads, zombies left out."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def run(program: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        **options,  # type: ignore[call-overload]
    )


def test_same_as_in_this_process_and_in_order() -> None:
    options = FeaturizeOptions("parent", "fast", identity=True, scaffold=True, fingerprint=True, smiles=True)
    items = ["CCO", b"".join([featurize_bytes("c1ccccc1C")]), "[Na+].CC(=O)[O-]", "C"] * 200
    with Featurizer(options, workers=2) as featurizer:
        results = list(featurizer.map(items))
    assert len(results) == len(items)
    expected = {item: featurize_one(item, options) for item in set(items)}
    for item, result in zip(items, results, strict=True):
        assert isinstance(result, Molecule)
        for name, value in vars(expected[item]).items():
            np.testing.assert_array_equal(getattr(result, name), value)


def featurize_bytes(smiles: str) -> bytes:
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles).ToBinary()  # type: ignore[no-any-return]


def test_every_item_keeps_its_place() -> None:
    class Odd:
        def __reduce__(self) -> str:
            raise RuntimeError("cannot travel to another process")

    items = ["C", "", None, "not_a_smiles", float("nan"), Odd(), np.str_("OC"), MolBlock("x"), b"x", "\ud800", "N"]
    with Featurizer(SMILES, workers=1) as featurizer:
        found = smiles_of(list(featurizer.map(items)))  # type: ignore[arg-type]
    assert [found[0], found[6], found[10]] == ["C", "CO", "N"]
    assert found[1] == found[2] == found[4] == "empty"
    assert found[5] == "a Odd is not a SMILES"
    assert all("not a" in str(found[i]) for i in (3, 7, 8))


def test_empty_and_only_refused_input_start_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module.subprocess, "Popen", None)
    with Featurizer() as featurizer:
        assert list(featurizer.map([])) == []
        assert list(featurizer.map(["", None])) == [Refusal("empty")] * 2  # type: ignore[list-item]


def test_a_molecule_that_takes_too_long_costs_only_itself() -> None:
    with Featurizer(SMILES, workers=1, time_limit=1.0) as featurizer:
        found = smiles_of(list(featurizer.map(["CCO", ENDLESS, "CC", ENDLESS])))
    assert found == ["CCO", "took more than 1 s to read", "CC", "took more than 1 s to read"]


@posix
def test_a_molecule_that_crashes_rdkit_costs_only_itself() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_STACK)
    # RDKit writes a canonical SMILES by recursion; with little stack a long chain really ends in a segmentation fault.
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, before[1]))
    try:
        with Featurizer(SMILES, workers=1) as featurizer:
            found = smiles_of(list(featurizer.map(["CCO", "C" * 5000, "CC"])))
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)
    assert found == ["CCO", "RDKit crashed (signal 11)", "CC"]


@posix
def test_a_worker_killed_from_outside_costs_nothing() -> None:
    items = ["C" * (1 + i % 9) for i in range(8 * CHUNK)]
    with Featurizer(SMILES, workers=1) as featurizer:
        results = featurizer.map(items)
        found = [next(results)]
        for worker in children(os.getpid()):
            os.kill(worker, signal.SIGKILL)
        found += results
    assert smiles_of(found) == items


@posix
def test_an_idle_worker_killed_from_outside_is_replaced() -> None:
    with Featurizer(SMILES, workers=1) as featurizer:
        assert smiles_of(list(featurizer.map(["CC"]))) == ["CC"]
        (worker,) = children(os.getpid())
        os.kill(worker, signal.SIGKILL)
        assert smiles_of(list(featurizer.map(["CCC"]))) == ["CCC"]


def test_workers_start_as_needed_and_end_with_close() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    featurizer = Featurizer(SMILES, workers=2)
    assert children(os.getpid()) == []
    list(featurizer.map(["C"]))
    assert len(children(os.getpid())) == 1
    list(featurizer.map(["C"] * 6 * CHUNK))
    assert 1 <= len(children(os.getpid())) <= 2
    featurizer.close()
    featurizer.close()
    assert eventually(lambda: children(os.getpid()) == [])
    with pytest.raises(ScoreGNNError, match="closed"):
        list(featurizer.map(["C"]))
    dropped = Featurizer(SMILES, workers=1)
    list(dropped.map(["C"]))
    del dropped
    gc.collect()
    assert eventually(lambda: children(os.getpid()) == [])


def test_reads_no_further_ahead_than_stated() -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "C"

    with Featurizer(workers=1) as featurizer:
        results = featurizer.map(endless())
        assert taken == 0
        for _ in range(3 * CHUNK):
            next(results)
        assert taken <= (3 + LOOK_AHEAD) * CHUNK
        results.close()  # type: ignore[attr-defined]


def test_closing_early_neither_hangs_nor_harms() -> None:
    with Featurizer(SMILES, workers=1, time_limit=600) as featurizer:
        results = featurizer.map(["C"] * CHUNK + [ENDLESS] * CHUNK)
        assert isinstance(next(results), Molecule)
        results.close()  # type: ignore[attr-defined]
        assert smiles_of(list(featurizer.map(["CCO"]))) == ["CCO"]


def test_close_while_in_use_raises_in_the_user() -> None:
    featurizer = Featurizer(workers=1, time_limit=600)
    threading.Timer(0.5, featurizer.close).start()
    with pytest.raises(ScoreGNNError, match="closed while it was in use"):
        list(featurizer.map([ENDLESS]))


def test_an_exception_of_the_input_comes_after_the_results_before_it() -> None:
    def failing() -> Iterator[str]:
        yield from ["C"] * (CHUNK + 3)
        raise OSError("the file was cut off")

    found = []
    with Featurizer(workers=1) as featurizer, pytest.raises(OSError, match="cut off"):
        for result in featurizer.map(failing()):
            found.append(result)
    assert len(found) == CHUNK + 3


def test_several_threads_at_once() -> None:
    found: dict[int, list[str | None]] = {}
    with Featurizer(SMILES, workers=2) as featurizer:

        def use(length: int) -> None:
            found[length] = smiles_of(list(featurizer.map(["C" * length] * (CHUNK + length))))

        threads = [threading.Thread(target=use, args=(length,)) for length in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert found == {length: ["C" * length] * (CHUNK + length) for length in range(1, 7)}


@posix
def test_after_a_fork_parent_and_child_both_work() -> None:
    program = """
        import os, sys
        from scoregnn.molecules import Featurizer, FeaturizeOptions
        featurizer = Featurizer(FeaturizeOptions(smiles=True), workers=1)
        begun = featurizer.map(["C"] * 2000)
        next(begun)
        child = os.fork()
        name = "parent" if child else "child"
        ok = [m.smiles for m in featurizer.map(["OC", "N"])] == ["CO", "N"]
        if not child:
            os._exit(0 if ok else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ok and len(list(begun)) == 1999
        print("both")
    """
    result = run(program)
    assert result.stdout == "both\n", result.stderr


def test_script_without_main_guard_in_a_folder_of_misleading_names(tmp_path: Path) -> None:
    for name in ("rdkit", "numpy", "scoregnn", "struct", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "from scoregnn.molecules import Featurizer\nprint(len(list(Featurizer(workers=2).map(['C'] * 600))))\n"
    )
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.returncode) == ("600\n", 0), result.stderr


def test_workers_import_neither_torch_nor_pandas() -> None:
    program = """
        import sys
        import scoregnn.molecules.worker
        print(sorted({"torch", "pandas", "sklearn", "pyarrow"} & set(sys.modules)))
    """
    assert run(program).stdout == "[]\n"


def test_the_names_of_inputs_do_not_load_rdkit() -> None:
    program = """
        import sys
        from scoregnn.molecules.inputs import MolBlock
        print("rdkit" in sys.modules)
    """
    assert run(program).stdout == "False\n"


def test_a_worker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_BOOTSTRAP", "raise ImportError('no RDKit here')")
    with Featurizer() as featurizer, pytest.raises(WorkerStartError, match="no RDKit here"):
        list(featurizer.map(["C"]))
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Featurizer() as featurizer, pytest.raises(WorkerStartError, match="cannot start"):
        list(featurizer.map(["C"]))


@posix
@pytest.mark.parametrize(
    ("sent", "time_limit", "item"),
    [
        (signal.SIGKILL, 600, "CCO"),
        (signal.SIGINT, 600, "CCO"),
        (signal.SIGINT, 600, ENDLESS),
        (signal.SIGKILL, 1, ENDLESS),  # deaf to the end of its input, the worker ends by its own alarm
    ],
)
def test_no_orphan_and_no_delay_when_the_parent_is_stopped(sent: signal.Signals, time_limit: int, item: str) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    program = (
        "from scoregnn.molecules import Featurizer\n"
        f"f = Featurizer(workers=1, time_limit={time_limit})\n"
        "list(f.map(['C']))\n"
        "print('ready', flush=True)\n"
        f"list(f.map(x for x in iter(lambda: {item!r}, None)))\n"
    )
    command = [sys.executable, "-P", "-c", program.replace(repr(ENDLESS), "'C' * 99_999")]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parent.stdout is not None and parent.stderr is not None
    with parent.stdout, parent.stderr:
        assert parent.stdout.readline() == b"ready\n"
        (worker,) = children(parent.pid)
        time.sleep(0.3)
        parent.send_signal(sent)
        parent.wait(30)
        assert (b"KeyboardInterrupt" in parent.stderr.read()) == (sent == signal.SIGINT)

    def gone() -> bool:
        try:
            return Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    assert eventually(gone)


def test_settings_are_checked_and_survive_a_pickle() -> None:
    for bad in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="workers"):
            Featurizer(workers=bad)  # type: ignore[arg-type]
    for limit in (0, -1.0, float("nan"), float("inf"), "3"):
        with pytest.raises(InputError, match="time_limit"):
            Featurizer(time_limit=limit)  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(Featurizer(SMILES, workers=3, time_limit=7)))
    assert (copy.options, copy.workers, copy.time_limit) == (SMILES, 3, 7.0)
