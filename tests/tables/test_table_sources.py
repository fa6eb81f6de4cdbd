"""Files, pipes, compression, encodings, and everything that is no table."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from scoregnn.errors import InputError
from scoregnn.graphs.tables import open_table
from scoregnn.graphs.tables import sources as sources_module


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def _molecules(path: object) -> list[object]:
    return [row.molecule for row in open_table(path).rows()]  # type: ignore[arg-type]


def test_the_five_rows_of_the_specification_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(b"CCO\nnot_a_smiles\n\n[Na+].[Cl-]\nC\n"))
    table = open_table("-")
    first = list(table.rows())
    assert [(row.number, row.molecule) for row in first] == [
        (1, "CCO"),
        (2, "not_a_smiles"),
        (3, ""),
        (4, "[Na+].[Cl-]"),
        (5, "C"),
    ]
    assert table.columns == ("smiles",)
    assert table.source == "standard input"
    assert list(table.rows()) == first


def test_two_iterations_of_a_pipe_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(gzip.compress(b"smiles,y\nC,1\nCC,2\nCCC,3\n")))
    table = open_table("-")
    assert [(a.cells, b.cells) for a, b in zip(table.rows(), table.rows(), strict=True)] == [
        (("C", "1"), ("C", "1")),
        (("CC", "2"), ("CC", "2")),
        (("CCC", "3"), ("CCC", "3")),
    ]


def test_a_spooled_pipe_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources_module.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", _Stdin(b"C\nCC\n"))
    table = open_table("-")
    assert len(list(tmp_path.iterdir())) == 1
    assert len(list(table.rows())) == 2
    del table
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of POSIX")
def test_a_named_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"smiles\nC\nCC\n",))
    writer.start()
    table = open_table(pipe)
    writer.join()
    assert [row.molecule for row in table.rows()] == ["C", "CC"] == [row.molecule for row in table.rows()]


def test_a_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        open_table("-")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path: Path, end: str, last: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((end.join(["smiles,y", "C,1", "", "CC,2"]) + (end if last else "")).encode())
    assert [row.cells for row in open_table(path).rows()] == [("C", "1"), ("", ""), ("CC", "2")]


def test_the_doubled_carriage_return_of_windows_programs_is_one_line_end(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"smiles,y\r\r\nC,1\r\r\n\r\r\nCC,2\r\r\n")
    assert [row.cells for row in open_table(path).rows()] == [("C", "1"), ("", ""), ("CC", "2")]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv", "t.GZ", "t"])
def test_gzip_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"smiles,y\nC,1\n"))
    assert _molecules(path) == ["C"]


def test_a_gz_name_on_plain_text_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.smi.gz"
    path.write_bytes(b"CC ethane\n")
    assert open_table(path).columns == ("smiles", "name")


@pytest.mark.parametrize(
    ("prefix", "codec"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_unicode_encodings(tmp_path: Path, prefix: bytes, codec: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(prefix + "smiles,größe\nC,µ\nCC,水\n".encode(codec))
    table = open_table(path)
    assert table.columns == ("smiles", "größe")
    assert [row.cells for row in table.rows()] == [("C", "µ"), ("CC", "水")]
    assert not any("Latin-1" in note for note in table.notes)


def test_latin_1_is_read_with_a_warning_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("smiles,name\nC,plain\nCC,Äthan\n".encode("latin-1"))
    table = open_table(path)
    assert [row.cells for row in table.rows()] == [("C", "plain"), ("CC", "Äthan")]
    assert [note for note in table.notes if "Latin-1" in note and "line 3" in note and "Warning" in note]


def test_a_utf8_character_across_the_reading_chunks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    filler = "C" * (sources_module.CHUNK - len("smiles,n\n") - 2)
    path.write_bytes(f"smiles,n\n{filler},µ\n".encode())
    table = open_table(path)
    assert next(iter(table.rows())).cells[1] == "µ"
    assert not any("Latin-1" in note for note in table.notes)


def test_latin_1_far_into_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"smiles,name\n" + b"CCO,plain text\n" * 100_000 + "C,Öl\n".encode("latin-1"))
    table = open_table(path)
    assert any("line 100002" in note for note in table.notes)
    assert list(table.rows())[-1].cells == ("C", "Öl")


def _xlsx() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return data.getvalue()


def _npy() -> bytes:
    data = io.BytesIO()
    np.save(data, np.zeros(3))
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_xlsx(), "Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "old Excel"),
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG picture"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b"%PDF-1.7\n", "PDF"),
        (b"PAR1....PAR1", "Parquet"),
        (_npy(), "NumPy"),
        (gzip.compress(gzip.compress(b"C\n")), "gzip file inside a gzip file"),
        (b"smiles\nC\nC\0C\n", "line 3 holds a NUL"),
        ("smiles\nCC\n".encode("utf-16-le"), "line 1 holds a NUL"),
        (codecs.BOM_UTF16_LE + b"C\x00\n\x00\x00\xd8", "UTF-16"),
        (b"", "is empty"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"smiles\n" + os.urandom(3000).hex().encode())[:-200], "damaged or cut short"),
        (gzip.compress(b"smiles\nC\n" * 50)[:-8] + b"\1\2\3\4\5\6\7\0", "damaged or cut short"),
        (b"\x1f\x8b", "damaged or cut short"),
        (b"\n<!DOCTYPE html>\n<html>404</html>", "an HTML page"),
        (codecs.BOM_UTF8 + b'[{"smiles": "CC"}]', "a JSON file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"C\n  -OEChem-\n\n  0  0\nM  END\n$$$$\n", "looks like an SDF"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "input.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        open_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "molecules.csv").write_text("smiles\nC\n")
    with pytest.raises(InputError, match=r"no such file; did you mean '.*molecules\.csv'"):
        open_table(tmp_path / "molecule.csv")


@pytest.mark.parametrize("name", ["absent/deep/file.csv", "nul\0byte.csv", "x" * 5000])
def test_impossible_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        open_table(tmp_path)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("smiles\nC\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the superuser may read everything
        monkeypatch.setattr(Path, "open", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(InputError, match="no permission"):
        open_table(path)


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources_module, "MAX_LINE", 1000)
    path = tmp_path / "t.csv"
    path.write_text("smiles\nC\n" + "C" * 1001)
    with pytest.raises(InputError, match="line 3 is longer than 1,000 characters"):
        list(open_table(path).rows())
    path.write_text("smiles\nC\n" + "C" * 999 + "\n")
    assert len(list(open_table(path).rows())) == 2


def test_a_file_cut_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    content = gzip.compress(b"smiles\n" + os.urandom(400_000).hex().encode())
    path.write_bytes(content)
    table = open_table(path)
    path.write_bytes(content[:-1000])
    with pytest.raises(InputError, match="damaged or cut short"):
        list(table.rows())
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        list(table.rows())


def test_bytes_that_change_to_no_text_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"smiles\nC\n")
    table = open_table(path)
    path.write_bytes(b"smiles\n\xff\xfe\n")
    with pytest.raises(InputError, match="changed while it was read"):
        list(table.rows())
