"""Separators, headers, quoting and the shape of rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoregnn.errors import InputError
from scoregnn.graphs.tables import open_table
from scoregnn.graphs.tables.records import QuoteError, records


def _write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def _cells(path: Path, **options: object) -> list[tuple[str, ...]]:
    return [row.cells for row in open_table(path, **options).rows()]  # type: ignore[arg-type]


@pytest.mark.parametrize(("separator", "word"), [(",", "commas"), (";", "semicolons"), ("\t", "tabs")])
@pytest.mark.parametrize("header", [True, False])
def test_separators_are_found_and_said(tmp_path: Path, separator: str, word: str, header: bool) -> None:
    lines = [["CCO", "ethanol", "1.5"], ["CC(=O)O", "acetic acid", "-2"]]
    head = [["smiles", "name", "y"]] if header else []
    path = _write(tmp_path, "".join(separator.join(line) + "\n" for line in head + lines))
    table = open_table(path)
    assert [list(row.cells) for row in table.rows()] == lines
    assert table.columns == (("smiles", "name", "y") if header else ("smiles", "column_2", "column_3"))
    assert any(word in note for note in table.notes)
    assert any(("is the header" in note) == header and "header" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("smiles;y\nCCO;1,5\nCC;2,25\n", [("CCO", "1,5"), ("CC", "2,25")]),
        ("CCO;1,5\nCC;2,25\n", [("CCO", "1,5"), ("CC", "2,25")]),
        (
            "CCO\tInChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3\nC\tInChI=1S/CH4/h1H4\n",
            [("CCO", "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3"), ("C", "InChI=1S/CH4/h1H4")],
        ),
        ('name,smiles\n"a; b; c; d",C\n"e; f",CC\n', [("a; b; c; d", "C"), ("e; f", "CC")]),
        ('name;smiles\n"a, b\nc";C\n', [("a, b\nc", "C")]),
        ("CCO\nfoo,bar\nCC\n", [("CCO",), ("foo,bar",), ("CC",)]),
    ],
)
def test_separators_inside_cells_do_not_mislead(tmp_path: Path, text: str, cells: list[object]) -> None:
    assert _cells(_write(tmp_path, text)) == cells


@pytest.mark.parametrize(
    "name",
    [
        "smiles",
        "SMILES",
        "Canonical_Smiles",
        "canonical smiles",
        " smiles ",
        "Structure",
        "mol",
        "Molecule",
        "Drug",
    ],
)
def test_known_names_make_a_header(tmp_path: Path, name: str) -> None:
    table = open_table(_write(tmp_path, f"id,{name}\nx,CC\n"))
    assert table.smiles_column == name.strip()
    assert [row.molecule for row in table.rows()] == ["CC"]


def test_the_best_known_name_wins_and_the_others_are_mentioned(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "Drug,smiles,mol\nx,CC,y\n"))
    assert table.smiles_column == "smiles"
    assert any("'Drug'" in note and "--smiles-column" in note for note in table.notes)


def test_an_unknown_first_line_is_a_row_and_the_user_is_warned(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "compound,solubility\nCCO,1\nCCC,2\nCCN,3\n"))
    assert next(table.rows()).cells == ("compound", "solubility")
    assert table.columns == ("smiles", "column_2")
    assert any("no header" in note for note in table.notes)
    assert any(note.startswith("Warning") and "'compound'" in note for note in table.notes)


@pytest.mark.parametrize("options", [{"smiles_column": "compound"}, {"named_columns": ("solubility",)}])
def test_a_column_the_user_names_makes_a_header(tmp_path: Path, options: dict[str, object]) -> None:
    path = _write(tmp_path, "compound,solubility\nCCO,1\nCCC,2\n")
    table = open_table(path, **options)  # type: ignore[arg-type]
    assert table.columns == ("compound", "solubility")
    assert table.smiles_column == "compound"
    assert [row.molecule for row in table.rows()] == ["CCO", "CCC"]


def test_smiles_of_a_text_without_header_are_found_in_any_column(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "1,ethanol,CCO,0.1\n2,benzene,c1ccccc1,0.2\n3,salt,[Na+].[Cl-],0.3\n"))
    assert table.columns == ("column_1", "column_2", "smiles", "column_4")
    assert [row.molecule for row in table.rows()] == ["CCO", "c1ccccc1", "[Na+].[Cl-]"]


def test_a_numbered_column_can_be_chosen_without_header(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "CCO,CCN\nCC,CCC\n"), smiles_column="column_2")
    assert table.columns == ("column_1", "column_2")
    assert [row.molecule for row in table.rows()] == ["CCN", "CCC"]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("name,y\nfoo,1\nbar,2\n", {}, "'name', 'y', holds no known name.*--smiles-column"),
        ("smiles,logS\nC,1\n", {"smiles_column": "smile"}, "no column 'smile'; did you mean 'smiles'"),
        ("smiles,logS\nC,1\n", {"named_columns": ["logs"]}, "no column 'logs'; did you mean 'logS'"),
        ("smiles,logS\nC,1\n", {"named_columns": ["pH"]}, "its columns are 'smiles', 'logS'"),
        ("C,1\nCC,2\n", {"smiles_column": "xyz"}, "no column 'xyz' in the first line, 'C', '1'"),
        ("C,1\nCC,2\n", {"named_columns": ["pH"]}, "no column 'pH'.*no header"),
        ("a,y\nfoo,1\nbar,2\n", {"named_columns": ["y"]}, "no column of SMILES.*--smiles-column.*'a', 'y'"),
        ("smiles,y\nC,1\n", {"smiles_column": " "}, "must not be empty"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, text: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_table(_write(tmp_path, text), **options)  # type: ignore[arg-type]


def test_repeated_and_empty_names(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, ",smiles,y,y,,y,y.2\n1,C,2,3,4,5,6\n"))
    assert table.columns == ("column_1", "smiles", "y", "y.3", "column_5", "y.4", "y.2")
    assert table.unnamed == {"column_1", "column_5"}
    assert len(set(table.columns)) == 7
    assert any("repeated" in note for note in table.notes)
    assert any("without a name" in note for note in table.notes)


def test_an_empty_name_does_not_take_the_name_of_another(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "column_2,,smiles\na,b,C\n"))
    assert table.columns[0] == "column_2"
    assert len(set(table.columns)) == 3


def test_ragged_rows(tmp_path: Path) -> None:
    assert _cells(_write(tmp_path, "smiles,y,z\nC\nCC,1\n\nCCC,1,2,,\n   \n")) == [
        ("C", "", ""),
        ("CC", "1", ""),
        ("", "", ""),
        ("CCC", "1", "2"),
        ("   ", "", ""),
    ]


def test_a_cell_too_many_names_row_and_cell(tmp_path: Path) -> None:
    table = open_table(_write(tmp_path, "smiles,name\nC,a\n\nCC,1,2-dimethyl\n"))
    with pytest.raises(InputError, match=r"row 3: 3 cells for 2 columns, .* '2-dimethyl'; .*commas must be quoted"):
        list(table.rows())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('smiles,name\nC,a\nCC,"open\nCCC,b\nCCCC,c\n', "row 2: opens a quote that is never closed"),
        ('smiles,"name\nC,a\n', "the first line: opens a quote that is never closed"),
        ('CC,"open\nCCC,b\n', "the first line: opens a quote that is never closed"),
        ('smiles,name\nC,a\nCC,"b\nCCC,c\nCCCC,d"e\n', "row 2: .*in the middle of a cell"),
    ],
)
def test_a_quote_that_would_swallow_rows_names_where_it_starts(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        list(open_table(_write(tmp_path, text), named_columns=()).rows())


def test_an_open_quote_far_behind_the_first_lines(tmp_path: Path) -> None:
    path = _write(tmp_path, "smiles,name\n" + "C,a\n" * 5000 + 'CC,"b\n' + "CCC,c\n" * 5000)
    with pytest.raises(InputError, match="row 5001: opens a quote"):
        list(open_table(path).rows())


def test_quotes_in_the_middle_are_letters(tmp_path: Path) -> None:
    assert _cells(_write(tmp_path, 'smiles,name\nC,5" pipe\nCC,"a ""b"" c"\n')) == [
        ("C", '5" pipe'),
        ("CC", 'a "b" c'),
    ]


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet='ab,"\n\r ', max_size=25))
def test_records_agree_with_the_csv_module(text: str) -> None:
    lines = list(io.StringIO(text, newline=""))
    try:
        ours = list(records(iter(lines), ","))
    except QuoteError:
        assert text.count('"') > 0
        return
    assert ours == [record or [""] for record in csv.reader(lines)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.text(alphabet='C1,;\t"\n é', max_size=6), min_size=3, max_size=3), min_size=1, max_size=6))
def test_what_the_csv_module_writes_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("written") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["smiles", "a", "b"], *rows])
    assert [list(row.cells) for row in open_table(path).rows()] == rows


def test_a_huge_cell_and_many_columns(tmp_path: Path) -> None:
    huge = "C" * 10_000_000
    assert _cells(_write(tmp_path, f'smiles,name\n{huge},a\nCC,"{huge}"\n'))[1] == ("CC", huge)
    names = ",".join(f"c{at}" for at in range(10_000))
    wide = open_table(_write(tmp_path, f"smiles,{names}\n" + ("CC" + ",1" * 10_000 + "\n") * 3))
    assert len(wide.columns) == 10_001
    assert [len(row.cells) for row in wide.rows()] == [10_001] * 3


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="100,001 columns"):
        open_table(_write(tmp_path, "smiles" + ",x" * 100_000 + "\nC\n"))


def test_a_header_alone_gives_no_rows(tmp_path: Path) -> None:
    assert _cells(_write(tmp_path, "smiles,y\n")) == []


def test_rows_are_streamed(tmp_path: Path) -> None:
    import tracemalloc

    path = _write(tmp_path, "smiles,name\n" + f"CCO,{'x' * 200}\n" * 50_000)
    table = open_table(path)
    tracemalloc.start()
    try:
        assert sum(1 for _ in table.rows()) == 50_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 10_000_000
    assert peak < 1_000_000


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='Csmile,;\t"\r\n 1.>', max_size=60).map(str.encode))
def test_any_bytes_give_numbered_rows_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "t.csv"
    path.write_bytes(content)
    try:
        table = open_table(path)
        rows = list(table.rows())
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert {len(row.cells) for row in rows} <= {len(table.columns)}
    assert all(row.molecule == row.cells[table.columns.index(table.smiles_column)] for row in rows)


def test_a_list_of_molecules_is_not_stopped_by_a_bad_line(tmp_path: Path) -> None:
    lines = ["CCO"] * 500 + ["CC,name", '"open', "a;b\tc", "", "C"]
    table = open_table(_write(tmp_path, "\n".join(lines) + "\n"))
    assert [row.molecule for row in table.rows()] == lines
    assert table.columns == ("smiles",)
