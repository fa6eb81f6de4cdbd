"""The program starts without the heavy packages, and stops quietly when it is told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toy import TINY_OPTIONS, toy_table

import scoregnn

WATCHED = """
import sys
sys.argv = ["scoregnn", *sys.argv[1:]]
from scoregnn.cli.main import main
try:
    main()
except SystemExit as stop:
    heavy = {"torch", "rdkit", "numpy", "sklearn", "scipy", "torch_geometric", "matplotlib"} & set(sys.modules)
    print(stop.code or 0, sorted(heavy), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["train", "--help"], ["predict", "--help"]])
def test_help_and_version_import_nothing_heavy(arguments):
    command = [sys.executable, "-c", WATCHED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "0 []\n"
    if arguments == ["--version"]:
        assert done.stdout == f"scoregnn {scoregnn.__version__}\n"
    else:
        assert done.stdout.startswith("Usage: ")


def test_help_names_every_verb_and_the_defaults_of_the_preset(program):
    text = program("--help").out
    assert all(verb in text for verb in ("train", "predict", "evaluate", "datasets"))
    assert "[default: gatv2]" in " ".join(program("train", "--help").out.split())


def start(folder: Path, *arguments: object, **pipes: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "scoregnn", *map(str, arguments)]
    return subprocess.Popen(command, cwd=folder, text=True, start_new_session=True, **pipes)


def test_control_c_ends_training_with_130_and_says_how_to_go_on(tmp_path, program):
    toy_table(tmp_path)
    options = [*TINY_OPTIONS, "--data", "toy.csv", "--output", "run", "--epochs", "2000"]
    process = start(tmp_path, "train", *options, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "checkpoints" / "evaluation" / "network-0.safetensors").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == "stopped; the same command with --resume --output run goes on from the last epoch"
    assert "Traceback" not in err
    # Another process may have the folder at once.
    assert "2000 then, 2 now" in program("train", *TINY_OPTIONS, "--data", "toy.csv", "-o", "run", "--resume").error


def test_control_c_ends_a_prediction_silently_and_leaves_no_file(tmp_path, model):
    (tmp_path / "many.smi").write_text("CCO\n" * 2_000_000)
    process = start(tmp_path, "predict", "-i", "many.smi", "-m", model, "-o", "out.csv", stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob(".out.csv.*.part")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["many.smi"]


def test_a_reader_that_leaves_is_no_error(tmp_path, model):
    (tmp_path / "many.smi").write_text("CCO\n" * 20_000)
    process = start(tmp_path, "predict", "-i", "many.smi", "-m", model, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "smiles,name,prediction,unit,status\n"
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.wait(timeout=60)
    assert "Traceback" not in err
    assert "Error" not in err
    assert not [line for line in err.splitlines() if line.startswith("error")]
