"""Targets, bounds, weights, features and classes out of tables."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregnn.errors import InputError
from scoregnn.graphs.tables import LabelledTable, column_values, open_table, read_labelled
from scoregnn.graphs.tables.detection import is_identifier_name
from scoregnn.graphs.tables.values import CellError, is_missing, parse_bound, parse_number


def _read(folder: Path, text: str, **options: object) -> LabelledTable:
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_labelled(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1", 1.0),
        (" -2.50 ", -2.5),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1e-3", 1e-3),
        ("-1.5E+02", -150.0),
        ("007", 7.0),
    ],
)
def test_numbers(cell: str, value: float) -> None:
    assert parse_number(cell) == value


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("abc", "is not a number"),
        ("1,5", "write the decimal sign as a point"),
        ("1.234,5", "write the decimal sign as a point"),
        (">3", "--censored"),
        ("\u22122.5", "minus sign as a hyphen"),
        ("inf", "that is finite"),
        ("-Infinity", "that is finite"),
        ("1e999", "too large"),
        ("1_000", "is not a number"),
        ("٣", "is not a number"),
        ("0x10", "is not a number"),
        ("1 2", "is not a number"),
        ("5%", "is not a number"),
        ("1" * 1000, "is not a number"),
    ],
)
def test_what_is_no_number(cell: str, words: str) -> None:
    with pytest.raises(CellError, match=words) as caught:
        parse_number(cell)
    assert len(str(caught.value)) < 200


def test_negative_zero_is_zero() -> None:
    assert math.copysign(1.0, parse_number("-0.0")) == 1.0


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_from_its_text(value: float) -> None:
    assert parse_number(repr(value)) == value
    assert parse_bound(f"> {value!r}") == (value, 1)


@given(st.text(max_size=20))
def test_any_text_is_a_finite_number_or_refused(text: str) -> None:
    try:
        value, side = parse_bound(text)
    except CellError:
        return
    assert math.isfinite(value)
    assert side in (-1, 0, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (">3", (3.0, 1)),
        ("< -2", (-2.0, -1)),
        (">=1e1", (10.0, 1)),
        ("≤0.5", (0.5, -1)),
        ("≥0.5", (0.5, 1)),
        (">>100", (100.0, 1)),
        ("<<1", (1.0, -1)),
        ("=4", (4.0, 0)),
        ("4", (4.0, 0)),
    ],
)
def test_bounds(cell: str, expected: tuple[float, int]) -> None:
    assert parse_bound(cell) == expected


@pytest.mark.parametrize("cell", ["~5", "><5", ">", "3>", ">abc", ">inf", "< >3", "±1"])
def test_what_is_no_bound(cell: str) -> None:
    with pytest.raises(CellError):
        parse_bound(cell)


@pytest.mark.parametrize("cell", ["", "  ", "NA", "n/a", "nan", "NaN", "null", "None", " NULL "])
def test_missing(cell: str) -> None:
    assert is_missing(cell)


@pytest.mark.parametrize("cell", ["0", "-", "?", "N", "nil", "na na"])
def test_not_missing(cell: str) -> None:
    assert not is_missing(cell)


def test_everything_in_its_place(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        "smiles,y1,y2,w,pH,year\nC,1.5,NA,1,7,2001\n\nCC,>3,-2,0,7.4,2002\nCCC,,,2,1e1,2003\n",
        target_columns=["y1", "y2"],
        weight_column="w",
        feature_columns=["pH"],
        other_columns=["year"],
        censored=True,
    )
    nan = np.nan
    np.testing.assert_array_equal(table.targets, [[1.5, nan], [nan, nan], [3, -2], [nan, nan]])
    np.testing.assert_array_equal(table.bounds, [[0, 0], [0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(table.weights, [1, 0, 0, 2])
    np.testing.assert_array_equal(table.features, [[7], [nan], [7.4], [10]])
    assert table.bounds.dtype == np.int8
    assert table.targets.dtype == table.features.dtype == np.float64
    assert table.target_names == ("y1", "y2")
    assert table.feature_names == ("pH",)
    assert table.skipped == {2: "blank line"}
    assert [row.number for row in table.rows] == [1, 2, 3, 4]
    assert (table.task, table.classes) == ("regression", None)
    assert column_values(table, "year") == ["2001", "", "2002", "2003"]
    notes = " ".join(table.notes)
    assert "1 blank line left out" in notes
    assert "1 row without any target value" in notes
    assert "1 of 2 values of 'y1' are bounds" in notes


def test_without_features_and_weights(tmp_path: Path) -> None:
    table = _read(tmp_path, "smiles,y\nC,1.5\nCC,2\n")
    assert table.weights is None
    assert table.features.shape == (2, 0)
    assert any("'y', the only numeric one" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("smiles,name,y\nC,a,1\nCC,b,0.5\n", "y"),
        ("smiles,ID,y\nC,17,1\nCC,4,0.5\n", "y"),
        (",smiles,y\n3,C,1\n9,CC,0.5\n", "y"),
        ("Unnamed: 0,smiles,y\n3,C,1\n9,CC,0.5\n", "y"),
        ("smiles,k,y\nC,5,1\nC,6,2\nC,7,5\nC,8,1\nC,9,0\n", "y"),
        ("smiles,k,y\nC,NA,1\nC,,2.5\n", "y"),
        ("C,1.5\nCC,2.5\n", "column_2"),
    ],
)
def test_the_only_possible_target_is_found(tmp_path: Path, text: str, target: str) -> None:
    assert _read(tmp_path, text).target_names == (target,)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "smiles,a,b\nC,1,2\nCC,2,2.5\n",
            {},
            "several columns can be the target: 'a', 'b'; .*--target-column",
        ),
        (
            "smiles,name\nC,a\nCC,b\n",
            {},
            "no numeric column.*'name' holds text; .*--task classification.*--target-column",
        ),
        ("smiles\nC\nCC\n", {}, "no numeric column to be the target; name it"),
        ("smiles,id\nC,4\nCC,9\n", {}, "'id' looks like a row number or an identifier"),
        ("smiles,y\n", {}, "a header but no rows"),
        (
            "smiles,y\nC,1\nCC,>3\n",
            {},
            "row 2, column 'y': '>3' is not a number .*--censored.*--skip-bad-rows",
        ),
        ("smiles,y\nC,1\n\nCC,2\nC,abc\n", {}, "row 4, column 'y': 'abc' is not a number"),
        ("smiles;y\nC;1.0\nCC;1,5\n", {}, "row 2, column 'y': '1,5' .*decimal sign.*--skip-bad-rows"),
        ("smiles,y\nC,1\nCC,inf\n", {"target_columns": ["y"]}, "'inf' is not a number that is finite"),
        ("smiles,y\nC,1\nCC,~3\n", {"censored": True}, "row 2, column 'y': '~3' is not a number"),
        (
            "smiles,y\nC,yes\nCC,no\n",
            {"target_columns": ["y"]},
            "row 1, column 'y': .*'yes', 'no'.*--task classif",
        ),
        ("smiles,y\nC,\nCC,NA\n", {"target_columns": ["y"]}, "column 'y': no value at all"),
        ("smiles,y,z\nC,1,\nCC,2,\n", {"target_columns": ["y", "z"]}, "column 'z': no value at all"),
        ("smiles,y\nC,1\n", {"target_columns": ["z"]}, "no column 'z'"),
        ("smiles,y\nC,1\n", {"target_columns": ["y", "y"]}, "'y' is named as target twice"),
        ("smiles,y\nC,1\n", {"target_columns": ["smiles"]}, "'smiles' is named as both SMILES and target"),
        ("smiles,y\nC,1\n", {"target_columns": ["y"], "weight_column": "y"}, "both target and weight"),
        ("smiles,y\nC,1\n", {"target_columns": ["y"], "feature_columns": ["y"]}, "both target and feature"),
        (
            "smiles,y\nC,1\n",
            {"target_columns": ["y"], "other_columns": ["y"]},
            "cannot be the target and split",
        ),
        ("smiles,y,w\nC,1,-1\n", {"weight_column": "w"}, "row 1, column 'w': '-1' is below 0"),
        ("smiles,y,w\nC,1,\n", {"weight_column": "w"}, "row 1, column 'w': the weight is missing"),
        ("smiles,y,w\nC,1,0\nC,2,0\n", {"weight_column": "w"}, "column 'w': all weights are 0"),
        (
            "smiles,y,w\nC,2,0\nCC,,1\n",
            {"target_columns": ["y"], "weight_column": "w"},
            "all weights are 0 where",
        ),
        ("smiles,y,w\nC,1,x\n", {"weight_column": "w"}, "row 1, column 'w': 'x' is not a number"),
        ("smiles,y,t\nC,1,\n", {"feature_columns": ["t"]}, "row 1, column 't': the feature is missing"),
        ("smiles,y\nC,1\nCC,1\n", {}, "one class only, '1'"),
        ("smiles,y\nC,a\nCC,a\n", {"target_columns": ["y"], "task": "classification"}, "one class only, 'a'"),
        ("smiles,y\nC,1\n", {"task": "ranking"}, "unknown task 'ranking'"),
        (
            "smiles,y\nC,1\n",
            {"task": "classification", "censored": True},
            "censored values are for regression",
        ),
        ("smiles,y\nC,1\n", {"target_columns": "y"}, "target_columns must be a list of names"),
        ("smiles,y\nC,1\n", {"target_columns": [""]}, "must not be empty"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        _read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)


def test_bad_rows_are_skipped_with_their_reason(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        "smiles,y,w,t\nC,1.5,1,1\nCC,>3,1,1\nCCC,2,-1,1\nC,3,1,\nN,abc,x,\nO,4,1,2\n",
        target_columns=["y"],
        weight_column="w",
        feature_columns=["t"],
        skip_bad_rows=True,
    )
    assert table.skipped == {
        2: "column 'y': '>3' is not a number (--censored reads > and < as bounds)",
        3: "column 'w': '-1' is below 0, which a weight must not be",
        4: "column 't': the feature is missing",
        5: "column 'w': 'x' is not a number",
    }
    np.testing.assert_array_equal(np.isnan(table.targets[:, 0]), [False, True, True, True, True, False])
    np.testing.assert_array_equal(table.weights, [1, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(np.isnan(table.features[:, 0]), [False, True, True, True, True, False])
    assert any("4 rows left out, the first is row 2" in note for note in table.notes)


def test_all_rows_skipped(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no value at all"):
        _read(tmp_path, "smiles,y\nC,>1\nCC,<2\n", target_columns=["y"], skip_bad_rows=True)


def test_zeros_and_ones_are_two_classes_unless_the_user_wants_numbers(tmp_path: Path) -> None:
    text = "smiles,y\nC,0.0\nCC,1\nCCC,NA\nO,1.0\n"
    table = _read(tmp_path, text)
    assert table.task == "classification"
    assert table.classes == (("0", "1"),)
    np.testing.assert_array_equal(table.targets[:, 0], [0, 1, np.nan, 1])
    assert any("classification" in note and "--task regression" in note for note in table.notes)
    assert any("'0' (1), '1' (2)" in note for note in table.notes)
    numbers = _read(tmp_path, text, task="regression")
    assert (numbers.task, numbers.classes) == ("regression", None)
    assert numbers.data_sha256 != table.data_sha256


def test_a_skipped_row_has_no_say_in_the_task(tmp_path: Path) -> None:
    text = "smiles,a,b\nC,0,1\nCC,1,0\nCCC,7,oops\n"
    table = _read(tmp_path, text, target_columns=["a", "b"], skip_bad_rows=True)
    assert table.classes == (("0", "1"), ("0", "1"))
    assert list(table.skipped) == [3]


def test_text_labels_and_many_classes(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        "smiles,y,n\nC, low ,10\nCC,high,9\nCCC,mid,9.0\nO,low,\n",
        target_columns=["y", "n"],
        task="classification",
    )
    assert table.classes == (("high", "low", "mid"), ("9", "10"))
    np.testing.assert_array_equal(table.targets, [[1, 1], [0, 0], [2, 0], [1, np.nan]])


def test_a_continuous_column_is_no_classes(tmp_path: Path) -> None:
    text = "smiles,y\n" + "".join(f"C,{at / 7}\n" for at in range(30))
    with pytest.raises(InputError, match=r"30 different labels.*--task regression"):
        _read(tmp_path, text, task="classification")


def test_a_constant_target_is_said(tmp_path: Path) -> None:
    assert any("'y' is 2.5 in every row" in note for note in _read(tmp_path, "smiles,y\nC,2.5\nC,2.5\n").notes)


def test_a_mix_of_zero_one_and_numbers_is_regression(tmp_path: Path) -> None:
    assert _read(tmp_path, "smiles,a,b\nC,0,1\nC,1,2\n", target_columns=["a", "b"]).task == "regression"


def test_the_hash_sees_what_training_sees(tmp_path: Path) -> None:
    def digest(text: str, **options: object) -> str:
        return _read(tmp_path, text, target_columns=["y"], **options).data_sha256

    base = digest("smiles,y,w\nC,1.5,1\nCC,>2,3\n", censored=True)
    assert digest("w\ty\tSMILES\n1.0\t1.50\t C\n\n3\t> 2\tCC \n", censored=True) == base
    assert digest("smiles,y,w\nC,1.5,1\nN,x,1\nCC,>2,3\n", censored=True, skip_bad_rows=True) == base
    others = [
        digest("smiles,y,w\nC,1.5,1\nCC,2,3\n", censored=True),
        digest("smiles,y,w\nC,1.5,1\nCC,<2,3\n", censored=True),
        digest("smiles,y,w\nCC,>2,3\nC,1.5,1\n", censored=True),
        digest("smiles,y,w\nC,1.5,1\nCO,>2,3\n", censored=True),
        digest("smiles,y,w\nC,1.5,1\nCC,>2,3\n", censored=True, weight_column="w"),
        digest("smiles,y,w\nC,1.5,1\nCC,>2,3\n", censored=True, feature_columns=["w"]),
    ]
    assert len({base, *others}) == 7


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "Compound ID",
        "mol_id",
        "index",
        "CAS",
        "CMPD_CHEMBLID",
        "Unnamed: 0",
        "name",
        "row number",
    ],
)
def test_identifiers(name: str) -> None:
    assert is_identifier_name(name)


@pytest.mark.parametrize("name", ["y", "logS", "acid", "solid", "pIC50", "exp", "Class", "nameless", "measured"])
def test_no_identifiers(name: str) -> None:
    assert not is_identifier_name(name)


def test_column_values_of_an_open_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("smiles,y\nC, 1\n\nCC,2\n")
    assert column_values(open_table(path), "y") == [" 1", "", "2"]
    with pytest.raises(InputError, match="no column 'x'"):
        column_values(open_table(path), "x")
