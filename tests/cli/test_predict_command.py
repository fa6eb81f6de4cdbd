"""`scoregnn predict`: one row for every row, in order, whatever comes in."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator

import pytest
from rdkit import Chem
from toy import SMILES, read_csv, write_table

from scoregnn.graphs.tables import Table
from scoregnn.prediction import Predictor
from scoregnn.prediction.tables import predict_table


def numbers(smiles: list[str], model) -> list[float]:
    return [float(p.values[0]) for p in Predictor.load(model).predict(smiles)]


def test_five_rows_of_which_two_are_refused(program, model):
    done = program("predict", "--input", "-", "--model", model, stdin="CCO\nnot_a_smiles\n\n[Na+].[Cl-]\nC\n")
    assert done.code == 0
    rows = read_csv(done.out)
    assert list(rows[0]) == ["smiles", "prediction", "unit", "status"]
    assert [row["smiles"] for row in rows] == ["CCO", "not_a_smiles", "", "[Na+].[Cl-]", "C"]
    assert [bool(row["prediction"]) for row in rows] == [True, False, False, True, True]
    assert [row["status"] for row in rows] == [
        *("", "not a SMILES that RDKit can read: 'not_a_smiles'", "empty", "", "")
    ]
    assert {row["unit"] for row in rows} == {"log mol/L"}
    for row, value in zip([rows[0], rows[3], rows[4]], numbers(["CCO", "[Na+].[Cl-]", "C"], model), strict=True):
        assert float(row["prediction"]) == pytest.approx(value, rel=1e-5)
    assert done.err.splitlines()[-1] == "3 predicted, 2 refused"


def test_smiles_on_the_command_line(program, model):
    done = program("predict", "CCO", " c1ccccc1 ", "", "C(", "-m", model)
    rows = read_csv(done.out)
    assert [row["smiles"] for row in rows] == ["CCO", " c1ccccc1 ", "", "C("]
    assert [bool(row["status"]) for row in rows] == [False, False, True, True]
    assert "2 predicted, 2 refused" in done.err


def test_the_newest_model_of_the_runs_folder_is_taken_and_named(program, model, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(model)
    done = program("predict", "CCO")
    assert done.err.splitlines()[0] == "model: runs/mine"
    assert done.out == program("predict", "CCO", "--model", model).out


def test_the_columns_of_the_input_are_kept_and_those_that_collide_renamed(program, model, tmp_path):
    names = ["id", "prediction", "smiles", "unit", "status", "input.prediction", "note, with comma"]
    row = dict(zip(names, ["7", "p", "CCO", "u", "s", "ip", 'a "quoted", text'], strict=True))
    write_table(tmp_path / "in.csv", [row])
    (found,) = read_csv(program("predict", "-i", "in.csv", "-m", model).out)
    assert list(found) == [
        *("id", "input.input.prediction", "smiles", "input.unit", "input.status", "input.prediction"),
        *("note, with comma", "prediction", "unit", "status"),
    ]
    assert found["input.input.prediction"] == "p"
    assert found["input.prediction"] == "ip"
    assert found["input.unit"] == "u"
    assert found["input.status"] == "s"
    assert found["note, with comma"] == 'a "quoted", text'
    assert found["unit"] == "log mol/L"
    assert float(found["prediction"]) == pytest.approx(numbers(["CCO"], model)[0], rel=1e-5)


def test_several_targets_have_columns_of_their_own(program, two_targets, tmp_path):
    write_table(tmp_path / "in.csv", [{"smiles": "CCO", "mass.unit": "kg", "prediction": "x"}, {"smiles": "?"}])
    rows = read_csv(program("predict", "-i", "in.csv", "-m", two_targets).out)
    assert list(rows[0]) == [
        *("smiles", "input.mass.unit", "prediction"),
        *("logP.prediction", "logP.unit", "mass.prediction", "mass.unit", "status"),
    ]
    assert (rows[0]["logP.unit"], rows[0]["mass.unit"], rows[0]["input.mass.unit"]) == ("", "g/mol", "kg")
    assert rows[0]["logP.prediction"] and rows[0]["mass.prediction"]
    assert (rows[1]["logP.prediction"], rows[1]["mass.prediction"]) == ("", "")
    assert rows[1]["status"]


def test_classes_come_as_label_and_probability(program, classes):
    rows = read_csv(program("predict", "CCO", "CCN", "not_a_smiles", "-m", classes).out)
    assert list(rows[0]) == ["smiles", "prediction", "probability", "unit", "status"]
    found = Predictor.load(classes).predict(["CCO", "CCN"])
    labels = ("alcohol", "amine", "other")
    for row, prediction in zip(rows, found, strict=False):
        (values,) = prediction.values
        assert values.sum() == pytest.approx(1)
        assert row["prediction"] == labels[values.argmax()]
        assert float(row["probability"]) == pytest.approx(values.max(), rel=1e-5)
    assert (rows[2]["prediction"], rows[2]["probability"]) == ("", "")


def test_sdf_in_and_gzip_out(program, model, tmp_path):
    with Chem.SDWriter(str(tmp_path / "in.sdf")) as writer:
        for name, smiles in (("ethanol", "CCO"), ("benzene", "c1ccccc1")):
            mol = Chem.MolFromSmiles(smiles)
            mol.SetProp("_Name", name)
            mol.SetProp("batch", "B1")
            writer.write(mol)
    done = program("predict", "-i", "in.sdf", "-m", model, "-o", "out.csv.gz")
    assert done.out == ""
    assert done.err.splitlines()[-1] == "2 predicted, 0 refused; written to out.csv.gz"
    packed = (tmp_path / "out.csv.gz").read_bytes()
    rows = read_csv(gzip.decompress(packed).decode())
    assert [row["batch"] for row in rows] == ["B1", "B1"]
    expected = numbers(["CCO", "c1ccccc1"], model)
    assert [float(row["prediction"]) for row in rows] == pytest.approx(expected, rel=1e-5)
    program("predict", "-i", "in.sdf", "-m", model, "-o", "again.csv.gz")
    assert (tmp_path / "again.csv.gz").read_bytes() == packed


def test_the_file_holds_what_the_screen_shows(program, model, tmp_path):
    write_table(tmp_path / "in.csv", [{"smiles": "CCO", "name": "Äthanol"}, {"smiles": "", "name": "nothing"}])
    shown = program("predict", "-i", "in.csv", "-m", model).out
    program("predict", "-i", "in.csv", "-m", model, "-o", "in.csv")  # over its own input
    assert (tmp_path / "in.csv").read_bytes() == shown.encode()


def test_strict_makes_a_refusal_an_error_after_all_is_written(program, model):
    done = program("predict", "CCO", "not_a_smiles", "C", "-m", model, "--strict")
    assert done.error.startswith("--strict: 1 of 3 molecules were refused (row 2: not a SMILES")
    assert len(read_csv(done.out)) == 3
    assert program("predict", "CCO", "-m", model, "--strict").code == 0


@pytest.mark.parametrize("text", ["smiles\n", "smiles,id\n"])
def test_a_header_alone_gives_a_header(program, model, tmp_path, text):
    (tmp_path / "in.csv").write_text(text)
    done = program("predict", "-i", "in.csv", "-m", model)
    assert (done.code, done.out) == (0, f"{text.strip()},prediction,unit,status\n")
    assert done.err.splitlines()[-1] == "0 predicted, 0 refused"


def test_nothing_at_all_on_standard_input(program, model):
    assert program("predict", "-i", "-", "-m", model, stdin="").error == "standard input is empty"


def test_thousands_of_rows_with_bad_ones_among_them_keep_their_order(program, model, tmp_path):
    choose = random.Random(11)
    bad = ["", "not_a_smiles", "C(", "C1CC", "[Xx]", "  ", "CC$C"]
    rows = []
    for number in range(3000):
        smiles = choose.choice(bad) if choose.random() < 0.2 else choose.choice(SMILES)
        rows.append({"id": f"m{number}", "smiles": smiles})
    write_table(tmp_path / "in.csv", rows)
    done = program("predict", "-i", "in.csv", "-m", model)
    found = read_csv(done.out)
    assert [(row["id"], row["smiles"]) for row in found] == [(row["id"], row["smiles"]) for row in rows]
    expected = dict(zip(SMILES, numbers(SMILES, model), strict=True))
    for row in found:
        if row["smiles"] in expected:
            assert float(row["prediction"]) == pytest.approx(expected[row["smiles"]], rel=1e-4)
            assert row["status"] == ""
        else:
            assert row["prediction"] == ""
            assert row["status"]
    good = sum(row["smiles"] in expected for row in rows)
    assert done.err.splitlines()[-1] == f"{good:,} predicted, {3000 - good:,} refused"


def test_rows_are_read_as_predictions_are_taken(model):
    """Memory does not grow with the table: an endless one gives its first rows, and only a little ahead is read."""
    read = 0

    def endless() -> Iterator[tuple[tuple[str, ...], str]]:
        nonlocal read
        while True:
            read += 1
            yield ("CCO",), "CCO"

    table = Table(source="endless", columns=("smiles",), smiles_column="smiles", notes=[], read=endless)
    predictor = Predictor.load(model, workers=1)
    _, rows = predict_table(predictor, table)
    assert read == 0
    first = next(rows)
    assert first.number == 1 and not first.reason
    ahead = []
    for _ in range(6000):
        row = next(rows)
        ahead.append(read - row.number)
    assert max(ahead[3000:]) <= max(ahead[:3000]) < 3000
    rows.close()
    predictor.close()


def test_a_row_is_dropped_once_it_is_predicted(model):
    """What the stream keeps of the rows is bounded, not only what it reads ahead."""
    import gc
    import weakref

    class Cell(str):
        __slots__ = ("__weakref__",)

    alive: list[weakref.ref[Cell]] = []

    def records() -> Iterator[tuple[tuple[str, ...], str]]:
        for number in range(5000):
            cell = Cell(f"row {number}")
            alive.append(weakref.ref(cell))
            yield (cell,), "C"

    table = Table(source="t", columns=("id",), smiles_column="", notes=[], read=records)
    _, rows = predict_table(Predictor.load(model, workers=1), table)
    for number, row in enumerate(rows, start=1):
        assert row.number == number
        if number == 4000:
            del row
            gc.collect()
            assert sum(cell() is not None for cell in alive[: number - 600]) == 0


def test_feature_columns_are_needed_and_bad_cells_refuse_their_row(program, with_feature, tmp_path):
    cells = ["7", "", "acid", "nan", "inf", " 5.5 ", "7"]
    smiles = ["CCO", "CCO", "CCO", "CCO", "CCO", "CCO", "not_a_smiles"]
    write_table(tmp_path / "in.csv", [{"smiles": s, "pH": c} for s, c in zip(smiles, cells, strict=True)])
    rows = read_csv(program("predict", "-i", "in.csv", "-m", with_feature).out)
    assert [row["pH"] for row in rows] == cells
    assert [bool(row["prediction"]) for row in rows] == [True, False, False, False, False, True, False]
    assert "'pH' is empty" in rows[1]["status"]
    assert rows[2]["status"] == "feature column 'pH': 'acid' is not a number"
    assert "'pH' is empty" in rows[3]["status"]
    assert rows[4]["status"] == "feature column 'pH': 'inf' is not a number that is finite"
    assert "not a SMILES" in rows[6]["status"]
    assert rows[0]["prediction"] != rows[5]["prediction"]
    write_table(tmp_path / "without.csv", [{"smiles": "CCO", "ph": 7}])
    assert "no column 'pH'; did you mean 'ph'?" in program("predict", "-i", "without.csv", "-m", with_feature).error
    assert "needs the feature column 'pH'" in program("predict", "CCO", "-m", with_feature).error


def test_a_sequence_is_needed_and_features_must_fit(model, with_feature):
    from scoregnn.errors import InputError

    with pytest.raises(InputError, match="put it into a list"):
        Predictor.load(model).predict("CCO")
    with pytest.raises(InputError, match="1 rows for 2 molecules"):
        Predictor.load(with_feature).predict(["CCO", "C"], [[1.0]])
    assert Predictor.load(model).predict([]) == []
