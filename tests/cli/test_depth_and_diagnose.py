"""`--depth`, `--steps`, `--tolerance` and `scoregnn diagnose` on the command line; every setting is an option."""

import dataclasses
import inspect
import json
import sys

import pytest

from scoregnn.cli.main import main
from scoregnn.config import DEPTHS, Config
from scoregnn.estimators import ScoreClassifier, ScoreRegressor
from scoregnn.training.run_folder import load_model

SMILES = ["C" * n + tail for n in range(1, 8) for tail in ("", "O", "N", "Cl")]
TINY = ["--hidden", "8", "--heads", "2", "--epochs", "2"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text("smiles,y\n" + "".join(f"{text},{len(text)}\n" for text in SMILES))
    return path


def run(monkeypatch, capsys, *words):
    """Exit code, standard output and standard error of the program."""
    monkeypatch.setattr(sys, "argv", ["scoregnn", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


@pytest.mark.parametrize("depth", DEPTHS)
def test_depth_names_settings_that_single_options_change(depth, table, tmp_path, monkeypatch, capsys):
    words = ("train", "--data", table, "--depth", depth, "--steps", 2, *TINY, "--output", tmp_path / "run")
    code, _, error = run(monkeypatch, capsys, *words)
    assert code == 0, error
    config = load_model(tmp_path / "run").config
    assert DEPTHS[depth].items() <= config.to_dict().items()
    assert config.steps == 2


def test_unknown_depth_is_one_line(table, monkeypatch, capsys):
    code, _, error = run(monkeypatch, capsys, "train", "--data", table, "--depth", "stak")
    assert code == 2
    assert error.splitlines()[-1].startswith("error: unknown depth 'stak'; did you mean 'stack'?")


def test_steps_tolerance_and_diagnosis_of_a_shared_network(table, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    code, _, error = run(monkeypatch, capsys, "train", "--data", table, *TINY, "--output", folder)
    assert code == 0, error

    def predicted(*words):
        code, out, error = run(monkeypatch, capsys, "predict", "CCCO", "--model", folder, *words)
        assert code == 0, error
        return float(out.splitlines()[1].split(",")[1])

    assert predicted("--steps", 4) == predicted()
    assert predicted("--steps", 9) != predicted()
    assert predicted("--steps", 4, "--tolerance", 1e-9) == predicted()
    assert predicted("--tolerance", 1e9) == predicted("--steps", 1)

    code, _, error = run(monkeypatch, capsys, "diagnose", "--model", folder)
    assert code == 0, error
    found = json.loads((folder / "diagnosis.json").read_text())
    assert [entry["iteration"] for entry in found["iterations"]] == [1, 2, 3, 4]
    assert found["error_by_steps"]["4"] == pytest.approx(
        json.loads((folder / "metrics.json").read_text())["test"]["rmse"], rel=1e-4
    )
    assert (folder / "diagnosis.png").read_bytes().startswith(b"\x89PNG")
    code, _, error = run(monkeypatch, capsys, "diagnose", "--model", folder, "--data", table, "--output", tmp_path)
    assert code == 0, error
    assert json.loads((tmp_path / "diagnosis.json").read_text())["molecules"] == len(SMILES)


@pytest.mark.parametrize(
    ("words", "message"),
    [(("--steps", 3), "parts of its own"), (("--tolerance", 0.1), "only a shared block can settle")],
)
def test_an_unshared_network_refuses_other_steps(words, message, table, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    run(monkeypatch, capsys, "train", "--data", table, "--depth", "stack", *TINY, "--output", folder)
    code, _, error = run(monkeypatch, capsys, "predict", "CCCO", "--model", folder, *words)
    assert code == 2
    assert message in error.splitlines()[-1]


@pytest.mark.parametrize("estimator", [ScoreRegressor, ScoreClassifier])
def test_estimators_have_every_setting_with_its_default(estimator):
    parameters = inspect.signature(estimator).parameters
    for field in dataclasses.fields(Config):
        if field.name != "seed":
            assert parameters[field.name].default == field.default, field.name
