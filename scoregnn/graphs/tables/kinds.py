"""The first bytes of files: encodings that announce themselves, and kinds of file that are no table."""

from __future__ import annotations

import codecs

PARQUET = b"PAR1"

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook (.xlsx)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls) or another Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "a gzip file inside a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (PARQUET, "a Parquet file (its name must end in .parquet, and it must not come through gzip or a pipe)"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x7fELF", "a program"),
)


_TEXTS: tuple[tuple[bytes, str], ...] = (
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML file"),
    (b'[{"', "a JSON file"),
    (b'{"', "a JSON file"),
    (b"version https://git-lfs.github.com/", "a Git LFS pointer in the place of the file itself"),
)


def foreign_kind(start: bytes) -> str:
    """What kind of file begins with these bytes, "" for what may be a table of text."""
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    # A pickle of protocol 2 to 5: PROTO, the version, then an opcode.
    if len(start) > 2 and start[0] == 0x80 and 2 <= start[1] <= 5:
        return "a Python pickle"
    text = start[:1000].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return next((kind for beginning, kind in _TEXTS if text.startswith(beginning)), "")


def byte_order_mark(start: bytes) -> str:
    """The codec that a byte order mark announces, "" where there is none; the codec drops the mark."""
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if start.startswith(mark):
            return codec
    return ""
