"""Every mistake a user can make is one line on stderr that begins with `error:`, and exit code 2."""

from __future__ import annotations

import pytest
from toy import SMILES, TINY_OPTIONS, toy_rows, toy_table, write_table

TRAIN = ["train", "--data", "toy.csv", *TINY_OPTIONS, "--output", "run"]


@pytest.fixture(autouse=True)
def _tables(tmp_path):
    toy_table(tmp_path)
    write_table(tmp_path / "few.csv", toy_rows()[:2])
    write_table(tmp_path / "bad.csv", [{"smiles": "not_a_smiles", "y": 1.5}, {"smiles": "((", "y": 2.5}])
    write_table(tmp_path / "one_class.csv", [{"smiles": smiles, "y": 1} for smiles in SMILES[:20]])
    write_table(tmp_path / "text.csv", [{"smiles": smiles, "y": "high"} for smiles in SMILES[:20]])
    write_table(tmp_path / "bound.csv", [{"smiles": smiles, "y": f"{n}.5"} for n, smiles in enumerate(SMILES)])
    write_table(tmp_path / "some_bound.csv", [{"smiles": "C", "y": 1.5}, {"smiles": "CC", "y": ">3"}])
    write_table(tmp_path / "zero.csv", [dict(row, w=0) for row in toy_rows()])
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("smiles,y\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.docx").write_text("x")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        # the command line itself
        (["trian"], "No such command 'trian'"),
        (["train", "--datset", "esol"], "No such option: --datset"),
        (["train", "--dt", "abc"], "'--dt'"),
        (["train", "--steps", "1.5"], "'--steps'"),
        (["train", "--dt"], "'--dt' requires an argument"),
        (["train", "--fractions", "0.8", "0.2"], "requires 3 arguments"),
        (["train", "extra"], "extra"),
        (["evaluate"], "--data"),
        (["predict", "C", "--time-limit", "0"], "--time-limit"),
        # what to train on
        (["train"], "give either --dataset NAME or --data FILE"),
        (["train", "--dataset", "esol", "--data", "toy.csv"], "give either --dataset NAME or --data FILE"),
        (["train", "--dataset", "esoll"], "unknown data set 'esoll'; did you mean 'esol'?"),
        (["train", "--data", "toyy.csv"], "toyy.csv: no such file; did you mean 'toy.csv'?"),
        (["train", "--data", "folder"], "folder is a folder"),
        (["train", "--data", "empty.csv"], "empty.csv is empty"),
        (["train", "--data", "header.csv"], "header.csv holds a header but no rows"),
        ([*TRAIN, "--smiles-column", "smi"], "there is no column 'smi'"),
        ([*TRAIN, "--target-column", "logS"], "there is no column 'logS'; did you mean 'logP'?"),
        ([*TRAIN, "--feature-column", "pH"], "there is no column 'pH'"),
        ([*TRAIN, "--weight-column", "w"], "there is no column 'w'"),
        ([*TRAIN, "--target-column", "smiles"], "named as both SMILES and target"),
        ([*TRAIN, "--data", "text.csv", "--target-column", "y"], "'high'"),
        ([*TRAIN, "--data", "some_bound.csv"], "'>3'"),
        ([*TRAIN, "--data", "bad.csv"], "no valid row; row 1: not a SMILES"),
        ([*TRAIN, "--data", "few.csv"], "too few"),
        ([*TRAIN, "--data", "one_class.csv", "--task", "classification"], "class"),
        ([*TRAIN, "--data", "zero.csv", "--weight-column", "w", "--target-column", "logP"], "all weights are 0"),
        ([*TRAIN, "--task", "ranking"], "unknown task 'ranking'"),
        ([*TRAIN, "--unit", "a", "--unit", "b"], "2 units do not fit 1 targets"),
        (["train", "--dataset", "esol", "--smiles-column", "smiles"], "--smiles-column is for --data"),
        # settings
        ([*TRAIN, "--dt", "-0.1"], "dt must be a number at least 0, not -0.1"),
        ([*TRAIN, "--dt", "nan"], "dt must be a number"),
        ([*TRAIN, "--block", "gat2"], "unknown block 'gat2'; did you mean 'gat"),
        ([*TRAIN, "--integrator", "leapfrog"], "unknown integrator 'leapfrog'"),
        ([*TRAIN, "--velocity", "fast"], "unknown velocity 'fast'"),
        ([*TRAIN, "--readout", "median"], "unknown readout 'median'"),
        ([*TRAIN, "--descriptors", "all"], "unknown descriptors 'all'"),
        ([*TRAIN, "--standardize", "yes"], "unknown standardize 'yes'"),
        ([*TRAIN, "--preset", "slow"], "unknown preset 'slow'"),
        ([*TRAIN, "--hidden", "16", "--heads", "3"], "hidden (16) must be a multiple of heads (3)"),
        ([*TRAIN, "--steps", "0"], "steps must be a whole number of at least 1, not 0"),
        ([*TRAIN, "--epochs", "0"], "epochs must be a whole number of at least 1"),
        ([*TRAIN, "--ensemble", "0"], "ensemble must be"),
        ([*TRAIN, "--dropout", "1"], "dropout must be a number at least 0 and below 1"),
        ([*TRAIN, "--seed", "-1"], "seed must be"),
        ([*TRAIN, "--split-seed", "-1"], "seed"),
        ([*TRAIN, "--device", "cuda:99"], "cannot compute on the device 'cuda:99'"),
        ([*TRAIN, "--device", "abacus"], "cannot compute on the device 'abacus'"),
        # splits
        ([*TRAIN, "--split", "scafold"], "unknown split 'scafold'; did you mean 'scaffold'?"),
        ([*TRAIN, "--split", "absent.json"], "cannot read the split absent.json"),
        ([*TRAIN, "--split", "toy.csv"], "toy.csv"),
        ([*TRAIN, "--split", "time"], "needs --split-column"),
        ([*TRAIN, "--split-column", "logP"], "--split-column is for --split time or column"),
        ([*TRAIN, "--split", "column", "--split-column", "set"], "there is no column 'set'"),
        ([*TRAIN, "--split", "reference"], "--split reference is for --dataset"),
        (["train", "--dataset", "freesolv", "--split", "reference"], "has no reference split 0"),
        ([*TRAIN, "--fractions", "0.5", "0.5", "0.5"], "fractions"),
        ([*TRAIN, "--fractions", "0", "0.5", "0.5"], "train"),
        ([*TRAIN, "--fractions", "-0.1", "0.6", "0.5"], "fractions"),
        # folders
        (["train", "--data", "toy.csv", *TINY_OPTIONS, "--output", "full"], "full is not empty and holds no run"),
        (["train", "--data", "toy.csv", *TINY_OPTIONS, "--output", "toy.csv"], "cannot write to the folder toy.csv"),
        ([*TRAIN, "--from", "absent"], "no model folder absent"),
        ([*TRAIN, "--from", "full"], "full holds no model"),
        ([*TRAIN, "--freeze"], "--freeze needs --from"),
        # the other verbs
        (["predict"], "give either SMILES or --input FILE"),
        (["predict", "C", "--input", "toy.csv"], "give either SMILES or --input FILE"),
        (["predict", "C"], "no model: name one with --model"),
        (["predict", "C", "--model", "absent"], "no model folder absent"),
        (["predict", "C", "--model", "folder"], "folder holds no model"),
        (["evaluate", "--data", "toy.csv", "--model", "absent"], "no model folder absent"),
        (["datasets", "show", "esoll"], "unknown data set 'esoll'"),
        (["datasets", "list"], "No such command 'list'"),
    ],
)
def test_one_line_and_exit_code_2(program, tmp_path, arguments, named):
    done = program(*arguments)
    assert named in done.error
    assert done.out == ""
    assert not (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--input", "absent.csv"], "absent.csv: no such file"),
        (["--input", "empty.csv"], "empty.csv is empty"),
        (["--input", "toy.csv", "--smiles-column", "smi"], "there is no column 'smi'"),
        (
            ["--input", "toy.csv", "--output", "absent/out.csv"],
            "cannot write absent/out.csv: No such file or directory",
        ),
        (["--input", "toy.csv", "--output", "folder"], "cannot write folder: Is a directory"),
        (["--input", "toy.csv", "--output", "out.parquet"], "cannot write out.parquet: predictions are written as CSV"),
        (["C", "--device", "abacus"], "cannot compute on the device 'abacus'"),
    ],
)
def test_mistakes_with_a_model(program, tmp_path, model, arguments, named):
    before = sorted(tmp_path.iterdir())
    assert named in program("predict", "--model", model, *arguments).error
    assert sorted(tmp_path.iterdir()) == before


def test_evaluating_what_does_not_fit(program, model, classes, two_targets, with_feature):
    assert "classification" in program("evaluate", "--model", classes, "--data", "toy.csv").error.lower()
    assert "the model predicts logP, mass" in program("evaluate", "--model", two_targets, "--data", "toy.csv").error
    options = ("--data", "toy.csv", "--target-column", "logP")
    assert "predicts 2 targets" in program("evaluate", "--model", two_targets, *options).error
    assert "'pH'" in program("evaluate", "--model", with_feature, "--data", "toy.csv").error
    assert (
        "no column 'logS'"
        in program("evaluate", "--model", model, "--data", "toy.csv", "--target-column", "logS").error
    )


def test_a_column_name_of_two_lines_stays_on_one(program, tmp_path):
    (tmp_path / "lines.csv").write_text('smiles,"log\nP"\nC,x\nCC,2\n')
    done = program("train", "--data", "lines.csv", "--target-column", "log\nP")
    assert "'x'" in done.error


def test_no_arguments_show_the_help(program):
    done = program()
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: ")


def test_an_error_of_the_system_is_one_line(program, model, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "/somewhere/file")

    monkeypatch.setattr("scoregnn.prediction.tables.predict_table", full)
    assert program("predict", "C", "--model", model).error == "/somewhere/file: No space left on device"

    def huge(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("scoregnn.prediction.tables.predict_table", huge)
    assert program("predict", "C", "--model", model).error.startswith("not enough memory")
