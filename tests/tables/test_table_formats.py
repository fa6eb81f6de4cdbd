"""SMILES files, SDF and Parquet."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rdkit import Chem

from scoregnn.errors import InputError
from scoregnn.graphs.tables import open_table, read_labelled
from scoregnn.graphs.tables import sdf as sdf_module
from scoregnn.molecules.inputs import MolBlock


def test_smi_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.smi"
    path.write_text("CCO ethanol\nCC(=O)O\tacetic acid, pure\n\n  C   methane gas  \n\tno structure\n[Na+].[Cl-]\n")
    table = open_table(path)
    assert table.columns == ("smiles", "name")
    assert [row.cells for row in table.rows()] == [
        ("CCO", "ethanol"),
        ("CC(=O)O", "acetic acid, pure"),
        ("", ""),
        ("C", "methane gas"),
        ("", "no structure"),
        ("[Na+].[Cl-]", ""),
    ]
    assert [row.molecule for row in table.rows()][4] == ""


def test_smi_has_no_header_but_a_first_word_that_says_smiles_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.smiles"
    path.write_text("SMILES Name\nCC ethane\n")
    table = open_table(path)
    assert [row.cells for row in table.rows()] == [("CC", "ethane")]
    assert any("'SMILES Name', is left out as a header" in note for note in table.notes)


@pytest.mark.parametrize("options", [{"named_columns": ["y"]}, {"smiles_column": "name"}])
def test_smi_has_no_other_columns(tmp_path: Path, options: dict[str, object]) -> None:
    path = tmp_path / "t.smi"
    path.write_text("CC ethane\n")
    with pytest.raises(InputError, match=r"a \.smi file"):
        open_table(path, **options)  # type: ignore[arg-type]


SMILES = ("CCO", "c1ccccc1", "[Na+].[Cl-]", "C")


def _sdf(path: Path) -> None:
    writer = Chem.SDWriter(str(path))
    for at, smiles in enumerate(SMILES):
        molecule = Chem.MolFromSmiles(smiles)
        molecule.SetProp("_Name", f"m{at}")
        if at != 1:
            molecule.SetProp("logS", str(-at / 2))
        if at == 3:
            molecule.SetProp("note", "two\nlines")
        writer.write(molecule)
    writer.close()


@pytest.mark.parametrize("packed", [False, True])
def test_sdf_records(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "t.sdf"
    _sdf(path)
    if packed:
        content = path.read_bytes()
        path = tmp_path / "t.sdf.gz"
        path.write_bytes(gzip.compress(content))
    table = open_table(path)
    assert table.smiles_column == ""
    assert table.columns == ("name", "logS", "note")
    assert [row.cells for row in table.rows()] == [
        ("m0", "0.0", ""),
        ("m1", "", ""),
        ("m2", "-1.0", ""),
        ("m3", "-1.5", "two\nlines"),
    ]
    blocks = [row.molecule for row in table.rows()]
    assert all(isinstance(block, MolBlock) and block.text.endswith("M  END\n") for block in blocks)
    read = [Chem.MolToSmiles(Chem.MolFromMolBlock(block.text)) for block in blocks]  # type: ignore[union-attr]
    assert read == [Chem.CanonSmiles(smiles) for smiles in SMILES]


def test_sdf_without_last_delimiter_and_with_an_empty_record(tmp_path: Path) -> None:
    path = tmp_path / "t.sd"
    _sdf(path)
    block = path.read_text().split("$$$$\n")[0]
    path.write_text(f"{block}$$$$\r\n$$$$\n{block}\n\n")
    rows = list(open_table(path).rows())
    assert [row.cells[0] for row in rows] == ["m0", "", "m0"]
    assert rows[1].molecule == MolBlock("")
    assert rows[0].molecule == rows[2].molecule


def test_sdf_property_lines_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "t.sdf"
    path.write_text(
        "title\r\n\r\n\r\n  0  0\r\nM  END\r\n"
        ">  25 <MELTING POINT>  (17)\r\n179.0\r\n\r\n> <name> \r\nx\r\n\r\n"
        "> DT12\r\nignored\r\n\r\n> <>\r\n1\r\n\r\n> <a>b>\r\n2\r\n\r\n$$$$\r\n"
    )
    table = open_table(path)
    assert table.columns == ("name", "MELTING POINT", "name.2", "a>b")
    assert [row.cells for row in table.rows()] == [("title", "179.0", "x", "2")]


def test_sdf_as_training_data(tmp_path: Path) -> None:
    path = tmp_path / "t.sdf"
    _sdf(path)
    table = read_labelled(path)
    assert table.target_names == ("logS",)
    assert table.targets[[0, 2, 3], 0].tolist() == [0.0, -1.0, -1.5]
    assert table.targets[1, 0] != table.targets[1, 0]
    assert table.skipped == {}


def test_sdf_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.sdf"
    _sdf(path)
    with pytest.raises(InputError, match="structures, not SMILES"):
        open_table(path, smiles_column="smiles")
    with pytest.raises(InputError, match="no column 'logs'; did you mean 'logS'"):
        open_table(path, named_columns=["logs"])
    monkeypatch.setattr(sdf_module, "MAX_RECORD", 500)
    with pytest.raises(InputError, match="row 2: a record longer than"):
        open_table(path)


def _parquet(path: Path, columns: dict[str, object], **options: object) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_parquet_cells_are_the_shortest_texts_of_the_values(tmp_path: Path) -> None:
    path = _parquet(
        tmp_path / "t.parquet",
        {
            "n": pa.array([1, None, 3]),
            "smiles": pa.array(["CCO", None, " C "]).dictionary_encode(),
            "double": pa.array([0.1, 1e-300, float("nan")]),
            "single": pa.array([0.1, 2.5, None], pa.float32()),
            "flag": pa.array([True, False, None]),
            "day": pa.array([datetime.date(2024, 2, 29)] * 3),
            "list": pa.array([[1, 2], [], None]),
        },
    )
    table = open_table(path)
    rows = [row.cells for row in table.rows()]
    assert table.smiles_column == "smiles"
    assert rows[0] == ("1", "CCO", "0.1", "0.1", "true", "2024-02-29", "[1, 2]")
    assert rows[1][:2] == ("", "")
    assert float(rows[1][2]) == 1e-300
    assert rows[2][1:5] == (" C ", "nan", "", "")


def test_parquet_is_read_in_batches_of_many_row_groups(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "t.pq", {"mol": ["C" * (1 + at % 7) for at in range(10_000)]}, row_group_size=999)
    table = open_table(path)
    for _ in range(2):
        rows = list(table.rows())
        assert [row.number for row in rows] == list(range(1, 10_001))
        assert all(row.molecule == "C" * (1 + (row.number - 1) % 7) for row in rows)


def test_parquet_and_csv_of_the_same_data_have_the_same_hash(tmp_path: Path) -> None:
    smiles, values = ["CCO", "C", "CC"], [0.1 + 0.2, -1e-17, None]
    packed = _parquet(tmp_path / "t.parquet", {"smiles": smiles, "y": values})
    text = tmp_path / "t.csv"
    text.write_text(
        "y;SMILES\n" + "".join(f"{y if y is not None else 'NA'}; {s}\n" for s, y in zip(smiles, values, strict=True))
    )
    one, two = read_labelled(packed), read_labelled(text)
    assert one.data_sha256 == two.data_sha256
    text.write_text("y;SMILES\n0.3;CCO\n-1e-17;C\nNA;CC\n")
    assert read_labelled(text).data_sha256 != one.data_sha256


def test_parquet_mistakes(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "t.parquet", {"smiles": ["C"] * 5000, "y": list(range(5000))}, compression="none")
    with pytest.raises(InputError, match="no column 'z'"):
        open_table(path, named_columns=["z"])
    with pytest.raises(InputError, match="no column of SMILES"):
        open_table(_parquet(tmp_path / "u.parquet", {"a": ["foo"], "b": [1]}))
    content = path.read_bytes()
    for damaged in (b"PAR1", b"smiles\nC\n", content[:-500], content[:4] + b"\xff" * 2000 + content[2004:]):
        broken = tmp_path / "broken.parquet"
        broken.write_bytes(damaged)
        with pytest.raises(InputError, match="Parquet") as caught:
            list(open_table(broken).rows())
        assert "\n" not in str(caught.value)
    latin = _parquet(tmp_path / "l.parquet", {"smiles": ["CCCCC"]}, use_dictionary=False, compression="none")
    latin.write_bytes(latin.read_bytes().replace(b"CCCCC", b"C\xd6CCC"))
    with pytest.raises(InputError, match="Parquet file is damaged"):
        list(open_table(latin).rows())
    (tmp_path / "empty.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        open_table(tmp_path / "empty.parquet")
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="inside gzip"):
        open_table(tmp_path / "t.parquet.gz")
    with pytest.raises(InputError, match="no such file"):
        open_table(tmp_path / "none.parquet")
