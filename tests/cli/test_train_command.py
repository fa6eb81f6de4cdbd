"""`scoregnn train`: what it prints, where it writes, what its options reach."""

from __future__ import annotations

import pytest
from toy import SMILES, TINY_OPTIONS, read_csv, read_object, toy_rows, toy_table, write_table


def test_it_says_what_it_understood_and_what_came_out(program, tmp_path):
    toy_table(tmp_path)
    done = program("train", "--data", "toy.csv", *TINY_OPTIONS, "--unit", "log", "--seed", 3)
    assert done.code == 0
    assert "SMILES are read from the column 'smiles'." in done.err
    assert "'logP'" in done.err
    assert "60 rows, target logP; gatv2 x 4 steps (shared, contractive, euler, dt 0.25), width 16" in done.err
    lines = done.out.splitlines()
    metrics = read_object(tmp_path / "runs" / "toy-gatv2" / "metrics.json")
    for part in ("train", "validation", "test"):
        (row,) = [line for line in lines if line.startswith(f"│ {part} ")]
        cells = [cell.strip() for cell in row.strip("│").split("│")]
        assert cells[1] == str(metrics[part]["n"])
        assert cells[2] == f"{metrics[part]['rmse']:.3f}"
    parameters = read_object(tmp_path / "runs" / "toy-gatv2" / "model.json")["num_parameters"]
    assert f"parameters  {parameters:,} a network" in lines
    assert "model       runs/toy-gatv2" in lines
    (command,) = [line.split(maxsplit=2)[2] for line in lines if line.startswith("predict ")]
    assert command == "predict CCO --model runs/toy-gatv2"
    assert read_csv(program(*command.split()).out)[0]["unit"] == "log"


def test_run_folders_are_named_after_the_data_and_numbered(program, tmp_path):
    toy_table(tmp_path, "my.data.csv")
    command = ["train", "--data", "my.data.csv", *TINY_OPTIONS]
    names = [f"my-gatv2{end}" for end in ("", "-2", "-3")]
    for _ in names:
        assert program(*command).code == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == names
    assert program(*command, "--block", "mpnn").code == 0
    assert (tmp_path / "runs" / "my-mpnn" / "model.json").exists()
    # A folder with something else in it is not taken for unused.
    (tmp_path / "runs" / "my-gat").mkdir()
    (tmp_path / "runs" / "my-gat" / "notes.txt").write_text("x")
    assert program(*command, "--block", "gat").code == 0
    assert (tmp_path / "runs" / "my-gat-2" / "model.json").exists()
    # Standard input has no name.
    text = (tmp_path / "my.data.csv").read_text()
    assert program("train", "--data", "-", *TINY_OPTIONS, stdin=text).code == 0
    assert (tmp_path / "runs" / "table-gatv2" / "model.json").exists()


def test_resume_without_a_folder_takes_the_last_run_of_the_name(program, tmp_path):
    toy_table(tmp_path)
    command = ["train", "--data", "toy.csv", *TINY_OPTIONS]
    first = program(*command, "--resume")
    assert "there is no run in runs/toy-gatv2 to resume; a new one begins" in first.err
    program(*command)
    again = program(*command, "--resume")
    assert "the run in runs/toy-gatv2-2 is finished; these are its results" in again.err
    assert again.out.splitlines()[:7] == first.out.splitlines()[:7]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["toy-gatv2", "toy-gatv2-2"]
    assert "config.seed: 0 then, 1 now" in program(*command, "--resume", "--seed", 1).error


def test_every_setting_arrives_in_the_configuration(program, tmp_path):
    toy_table(tmp_path)
    given = {
        **{"block": "mpnn", "steps": 2, "dt": 0.5, "integrator": "heun", "velocity": "additive", "share": False},
        **{"hidden": 12, "heads": 3, "dropout": 0.2, "readout": "mean", "head_layers": 1, "self_loops": True},
        **{"descriptors": "fast", "standardize": "parent", "ensemble": 2, "epochs": 2, "batch_size": 20},
        **{"learning_rate": 0.01, "weight_decay": 0.1, "warmup": 0.2, "clip_norm": 1.0, "patience": 1, "seed": 5},
    }
    options = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        options += [f"--{flag}" if value else f"--no-{flag}"] if isinstance(value, bool) else [f"--{flag}", value]
    assert program("train", "--data", "toy.csv", "-o", "run", *options).code == 0
    config = read_object(tmp_path / "run" / "model.json")["config"]
    assert {name: config[name] for name in given} == given


def test_columns_splits_and_bad_rows(program, tmp_path):
    rows = [dict(row, T=n, w=1 + n % 2, set="train" if n % 5 else "test") for n, row in enumerate(toy_rows())]
    rows[3]["logP"] = "about 2"
    write_table(tmp_path / "t.csv", rows)
    command = ["train", "--data", "t.csv", *TINY_OPTIONS, "-o", "run", "--target-column", "logP"]
    command += ["--feature-column", "T", "--weight-column", "w", "--split", "column", "--split-column", "set"]
    assert "row 4" in program(*command).error
    done = program(*command, "--skip-bad-rows")
    assert done.code == 0
    assert "1 of 60 rows are not used (row 4: " in done.err
    found = read_csv(tmp_path / "run" / "predictions.csv")
    assert [row["part"] for row in found] == ["" if n == 3 else rows[n]["set"] for n in range(60)]
    assert "'about 2'" in found[3]["status"]
    assert read_object(tmp_path / "run" / "model.json")["features"] == ["T"]


def test_the_splits_seed_is_that_of_the_model_or_its_own(program, tmp_path):
    toy_table(tmp_path)
    command = ["train", "--data", "toy.csv", *TINY_OPTIONS]
    program(*command, "-o", "a", "--seed", 4)
    program(*command, "-o", "b", "--split-seed", 4)
    program(*command, "-o", "c", "--split", "a/splits.json")
    parts = [{**read_object(tmp_path / name / "splits.json"), "kind": "", "seed": ""} for name in "abc"]
    assert parts[0] == parts[1] == parts[2]
    assert read_object(tmp_path / "b" / "model.json")["config"]["seed"] == 0


def test_fine_tuning_keeps_the_architecture_and_refuses_another(program, tmp_path, model):
    toy_table(tmp_path)
    options = ["--data", "toy.csv", "--epochs", 1, "--from", model, "--output", "run"]
    assert "has hidden 16, which cannot become 32" in program("train", *options, "--hidden", 32).error
    assert program("train", *options, "--freeze", "--hidden", 16).code == 0
    written = read_object(tmp_path / "run" / "model.json")
    assert (written["config"]["hidden"], written["config"]["heads"], written["config"]["head_layers"]) == (16, 2, 1)
    assert written["task"]["units"] == ["log mol/L"]
    assert written["data"]["start"] == str(model)


def test_names_with_brackets_are_no_markup(program, tmp_path):
    """`[mol/L]` is a style to rich, `:o:` an emoji, unless it is told otherwise."""
    names = ["log S [mol/L]", "[/red] :o:"]
    write_table(
        tmp_path / "b.csv", [{"smiles": s, names[0]: len(s) / 2, names[1]: n / 3} for n, s in enumerate(SMILES)]
    )
    options = ["--target-column", names[0], "--target-column", names[1]]
    done = program("train", "--data", "b.csv", *TINY_OPTIONS, "-o", "run", *options)
    assert done.code == 0
    assert all(name in done.out and name in done.err for name in names)
    (tmp_path / "c.csv").write_text("smiles,y\nc1:c:o:c:c:1:o:,2.5\n" + "".join(f"{s},{len(s)}.5\n" for s in SMILES))
    assert "c1:c:o:c:c:1:o:" in program("train", "--data", "c.csv", *TINY_OPTIONS, "-o", "c").err


def test_a_packaged_data_set_brings_its_unit_and_its_reference_split(program, tmp_path):
    command = ["train", "--dataset", "ESOL", "--hidden", 8, "--heads", 1, "--steps", 1, "--epochs", 1]
    done = program(*command, "--split", "reference", "--split-seed", 2)
    assert done.code == 0
    folder = tmp_path / "runs" / "esol-gatv2"
    assert read_object(folder / "model.json")["task"]["units"] == ["log mol/L"]
    from scoregnn.datasets.reference_splits import reference_split_file

    written, reference = read_object(folder / "splits.json"), read_object(reference_split_file("esol", 2))
    assert all(written[part] == reference[part] for part in ("train", "validation", "test"))
    assert program(*command, "-o", "two", "--split-seed", 2).code == 0
    assert all(read_object(tmp_path / "two" / "splits.json")[part] == reference[part] for part in ("train", "test"))


@pytest.mark.parametrize("text", ["1", "0.5", "high"])
def test_nothing_is_printed_on_stdout_before_the_result(program, tmp_path, text):
    (tmp_path / "x.csv").write_text(f"smiles,y\nC,{text}\n")
    assert program("train", "--data", "x.csv", *TINY_OPTIONS).out == ""
