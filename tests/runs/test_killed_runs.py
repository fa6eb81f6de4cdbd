"""`kill -9` at any moment, then `--resume`: the numbers of an unbroken run. One process a folder."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import assert_same_results, leftovers, mixed_rows, wait_until
from toy import TINY_OPTIONS, read_object, toy_table, write_table

CHECKPOINT = "checkpoints/evaluation/network-0.safetensors"
MIXED_OPTIONS = [
    *("--data", "t.csv", "--target-column", "logP", "--target-column", "charge", "--weight-column", "w"),
    *("--feature-column", "pH", "--ensemble", "2", "--epochs", "3", "--refit", "--patience", "2", "--seed", "3"),
]
COMMAND = ["train", *TINY_OPTIONS, *MIXED_OPTIONS]
"""A run with two stages of two networks: the longest way there is to the end."""

MOMENTS = [
    ("run.json", "before", 1),
    ("run.json", "after", 1),
    ("splits.json", "before", 1),
    ("network-0.safetensors", "before", 1),
    ("network-0.safetensors", "after", 1),
    ("network-1.safetensors", "before", 2),
    ("network-0.safetensors", "after", 4),  # within the refit: its folder has files of the same names
    ("metrics.json", "before", 1),
    ("model.safetensors", "after", 1),
    ("model.json", "before", 1),
    ("model.json", "after", 1),
]


@pytest.fixture(scope="module")
def unbroken(nursery, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    write_table(folder / "t.csv", mixed_rows())
    child = nursery.start(folder, *COMMAND, "-o", "run")
    assert child.wait() == 0, child.log
    return folder / "run"


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: "-".join(map(str, moment)))
def test_killed_at_a_moment_and_resumed_it_ends_as_if_nothing_had_been(nursery, unbroken, tmp_path, program, moment):
    write_table(tmp_path / "t.csv", mixed_rows())
    child = nursery.start(tmp_path, *COMMAND, "-o", "run", moment=moment)
    assert child.wait() == -signal.SIGKILL, child.log
    run = tmp_path / "run"
    name, when, _ = moment
    assert len(leftovers(run)) == (when == "before")  # the half-written file is really there
    if name != "model.json":
        assert not (run / "model.json").exists()
    done = program(*COMMAND, "-o", "run", "--resume")
    assert done.code == 0, done.err
    assert ("is finished; these are its results" in done.err) == (moment == ("model.json", "after", 1))
    assert ("there is no run in run to resume" in done.err) == (moment == ("run.json", "before", 1))
    assert_same_results(unbroken, run)
    assert leftovers(run) == []
    assert not (run / "checkpoints").exists()


def test_killed_again_and_again_it_still_ends_the_same(nursery, unbroken, tmp_path):
    write_table(tmp_path / "t.csv", mixed_rows())
    draw, kills, code = random.Random(7), 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        moment = (
            "*",
            draw.choice(["before", "after"]),
            draw.choice([1, 2, 3, 4]),
        )  # most come one or more files further
        child = nursery.start(tmp_path, *COMMAND, "-o", "run", "--resume", moment=moment if kills < 5 else None)
        code = child.wait()
        kills += code == -signal.SIGKILL
    assert code == 0, child.log
    assert kills >= 5
    assert_same_results(unbroken, tmp_path / "run")


def test_killed_from_outside_while_molecules_are_read(nursery, tmp_path, program, finished):
    """Its worker processes outlive it for a moment; they must hold neither the lock nor anything else."""
    toy_table(tmp_path)
    command = ["train", *TINY_OPTIONS, "--data", "toy.csv", "--unit", "log", "-o", "run"]
    child = nursery.start(tmp_path, *command)
    wait_until((tmp_path / "run" / ".lock").exists)
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, child.log
    assert not (tmp_path / "run" / "model.json").exists()
    assert program(*command, "--resume").code == 0
    assert_same_results(finished, tmp_path / "run")


def test_a_folder_in_use_is_refused_and_free_again_after_a_kill(nursery, tmp_path, program):
    toy_table(tmp_path)
    command = ["train", *TINY_OPTIONS, "--data", "toy.csv", "--epochs", 12, "-o", "run"]
    assert program(*command[:-1], "unbroken").code == 0
    child = nursery.start(tmp_path, *command)
    wait_until((tmp_path / "run" / CHECKPOINT).exists)
    child.signal(signal.SIGSTOP)  # it stays where it is, and holds the lock
    assert not (tmp_path / "run" / "model.json").exists()
    checkpoint = (tmp_path / "run" / CHECKPOINT).read_bytes()
    before = sorted(tmp_path.rglob("*"))
    for options in ([], ["--resume"], ["--resume", "--seed", "1"]):
        error = program(*command, *options).error
        assert error == "run is in use by another process; wait for it or choose another --output"
    assert "is not finished" in program("predict", "C", "--model", "run").error
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == checkpoint
    child.signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, child.log
    assert "already holds a run; go on with --resume" in program(*command).error
    assert program(*command, "--resume").code == 0
    assert_same_results(tmp_path / "unbroken", tmp_path / "run")


def test_two_processes_that_begin_at_once_make_one_run(nursery, tmp_path, program):
    toy_table(tmp_path)
    command = ["train", *TINY_OPTIONS, "--data", "toy.csv", "--epochs", 20, "-o", "run"]
    child = nursery.start(tmp_path, *command)
    wait_until((tmp_path / "run" / ".lock").exists)
    assert "run is in use by another process" in program(*command).error
    assert child.wait() == 0, child.log
    assert read_object(tmp_path / "run" / "model.json")["networks"][0]["epochs"] == 20


def test_the_real_program_is_killed_too(tmp_path, program):
    """No fork and no patch: a process of its own, and SIGKILL to it alone as soon as there is a checkpoint."""
    toy_table(tmp_path)
    command = ["train", *TINY_OPTIONS, "--data", "toy.csv", "--epochs", "20", "-o"]
    with (tmp_path / "log").open("w") as log:
        arguments = [sys.executable, "-m", "scoregnn", *command, "run"]
        process = subprocess.Popen(arguments, cwd=tmp_path, stdout=log, stderr=log)
    wait_until((tmp_path / "run" / CHECKPOINT).exists, lambda: process.poll() is None)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, (tmp_path / "log").read_text()
    assert not (tmp_path / "run" / "metrics.json").exists()
    assert program(*command, "run", "--resume").code == 0
    assert program(*command, "unbroken").code == 0
    assert_same_results(tmp_path / "unbroken", tmp_path / "run")
