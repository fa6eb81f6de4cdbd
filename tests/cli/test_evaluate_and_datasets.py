"""`scoregnn evaluate` against a calculation by hand; `scoregnn datasets` against the tables it describes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from toy import SMILES, lipophilicity, read_csv, read_object, toy_rows, write_table

from scoregnn.prediction import Predictor

NEW = ["CCOCC", "CC(C)O", "c1ccccc1", "CC(=O)C", "OCCO", "CNC", "C1CCCCC1"]


def figures(out: str) -> dict[str, str]:
    """The cells of the last row of a printed table by their headings."""
    rows = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in out.splitlines() if re.match("[│┃]", line)
    ]
    return dict(zip(rows[0], rows[-1], strict=True))


def test_metrics_are_those_of_the_predictions(program, model, tmp_path):
    measured = [float(n) / 3 for n in range(len(NEW))]
    write_table(tmp_path / "new.csv", [{"smiles": s, "logP": y} for s, y in zip(NEW, measured, strict=True)])
    done = program("evaluate", "--model", model, "--data", "new.csv")
    predicted = np.array([p.values[0] for p in Predictor.load(model).predict(NEW)])
    error = predicted - np.array(measured)
    found = figures(done.out)
    assert found["n"] == str(len(NEW))
    assert found["RMSE"] == f"{np.sqrt((error**2).mean()):.3f}"
    assert found["MAE"] == f"{np.abs(error).mean():.3f}"
    assert "warning" not in done.err


def test_molecules_of_the_training_are_pointed_out(program, model, tmp_path):
    trained = [row["smiles"] for row in read_csv(model / "predictions.csv") if row["part"] == "train"]
    first, second, third = [smiles for smiles in trained if not smiles.endswith("Cl")][-3:]
    table = [{"smiles": s, "logP": n / 2} for n, s in enumerate([first, second, third[::-1], *NEW])]
    write_table(tmp_path / "mixed.csv", table)
    err = program("evaluate", "--model", model, "--data", "mixed.csv").err
    assert f"warning: 3 of {len(table)} rows hold molecules that the model was trained on" in err
    test_rows = [row for row in read_csv(model / "predictions.csv") if row["part"] == "test"]
    write_table(tmp_path / "test.csv", [{"smiles": r["smiles"], "logP": r["measured"]} for r in test_rows])
    done = program("evaluate", "--model", model, "--data", "test.csv")
    assert "warning" not in done.err
    assert figures(done.out)["RMSE"] == f"{read_object(model / 'metrics.json')['test']['rmse']:.3f}"


def test_rows_without_label_or_molecule_are_left_out_and_said(program, model, tmp_path):
    rows = [{"smiles": s, "logP": n / 2} for n, s in enumerate(NEW)]
    rows[1]["logP"], rows[2]["smiles"] = "", "not_a_smiles"
    write_table(tmp_path / "new.csv", rows)
    done = program("evaluate", "--model", model, "--data", "new.csv")
    assert figures(done.out)["n"] == str(len(NEW) - 2)
    assert "2 of 7 rows are not used" in done.err
    rows[3]["logP"] = ">4"
    write_table(tmp_path / "new.csv", rows)
    assert "'>4'" in program("evaluate", "--model", model, "--data", "new.csv").error
    done = program("evaluate", "--model", model, "--data", "new.csv", "--censored")
    assert figures(done.out)["n"] == str(len(NEW) - 3)


def test_another_column_name_and_standard_input(program, model):
    text = "smiles,value,other\n" + "".join(f"{s},{n / 2},{n}\n" for n, s in enumerate(NEW))
    done = program("evaluate", "--model", model, "--data", "-", "--target-column", "value", stdin=text)
    assert figures(done.out)["n"] == str(len(NEW))
    named = program("evaluate", "--model", model, "--data", "-", stdin=text.replace("value", "logP"))
    assert figures(named.out) == figures(done.out)


def test_several_targets_and_feature_columns(program, two_targets, with_feature, tmp_path):
    rows = [dict(row, mass=20.0, pH=7) for row in toy_rows()[:20]]
    write_table(tmp_path / "t.csv", rows)
    done = program("evaluate", "--model", two_targets, "--data", "t.csv")
    assert "logP" in done.out and "mass" in done.out
    assert figures(program("evaluate", "--model", with_feature, "--data", "t.csv").out)["n"] == "20"


def test_class_labels_are_matched_by_name_not_by_place(program, classes, tmp_path):
    kinds = {"O": "alcohol", "N": "amine"}
    rows = [{"smiles": s, "kind": kinds.get(s[-1], "other")} for s in SMILES]
    # Without alcohols the codes of the table are others than those of the model.
    rows = [row for row in rows if row["kind"] != "alcohol"]
    write_table(tmp_path / "k.csv", rows)
    found = Predictor.load(classes).predict([str(row["smiles"]) for row in rows])
    labels = ("alcohol", "amine", "other")
    right = [labels[p.values[0].argmax()] == row["kind"] for p, row in zip(found, rows, strict=True)]
    done = program("evaluate", "--model", classes, "--data", "k.csv")
    assert figures(done.out)["accuracy"] == f"{np.mean(right):.3f}"
    rows[0]["kind"] = "thiol"
    write_table(tmp_path / "k.csv", rows)
    assert (
        "holds the class 'thiol'; the model knows alcohol, amine, other"
        in program("evaluate", "--model", classes, "--data", "k.csv").error
    )


def test_the_list_of_data_sets(program):
    out = program("datasets").out
    for name, rows, unit in (
        ("esol", "1,128", "log mol/L"),
        ("freesolv", "642", "kcal/mol"),
        ("lipophilicity", "4,200", "log"),
    ):
        (line,) = [line for line in out.splitlines() if f"│ {name} " in line]
        assert rows in line and unit in line


def test_the_card_of_a_data_set_holds_counts_of_its_table(program, repository):
    out = program("datasets", "show", "esol").out
    table = read_csv(repository / "datasets" / "data" / "esol.csv")
    assert f"rows           {len(table):,}, " in out
    for heading in ("Known faults", "Fair split", "Cite", "Source", "Licence", "sha256 "):
        assert heading in out
    assert "never a feature" in out
    assert program("datasets", "show", "ESOL").out == out


def test_the_toy_values_are_what_they_say():
    assert [lipophilicity(s) for s in ("C", "CCO", "CCl", "CN", "CF")] == pytest.approx([0.5, -0.5, 1.1, -0.6, 0.7])
