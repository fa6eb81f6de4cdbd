"""From a path, a pipe or standard input to lines of text: compression, encoding, files that are no text."""

from __future__ import annotations

import codecs
import contextlib
import difflib
import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from scoregnn.errors import InputError
from scoregnn.graphs.tables.kinds import byte_order_mark, foreign_kind
from scoregnn.graphs.tables.messages import on_one_line, shown

MAX_LINE = 1 << 26
"""Longest line read, in characters (64 Mi): a file without line ends must not fill the memory."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """A readable, seekable file with the name that messages give it.

    `keeper` holds the temporary folder of a spooled pipe alive for as long as the source is used.
    """

    name: str
    path: Path
    suffix: str
    gzipped: bool
    keeper: object = field(default=None, repr=False)

    def open(self) -> IO[bytes]:
        """The (decompressed) bytes from the start."""
        return gzip.open(self.path, "rb") if self.gzipped else self.path.open("rb")  # type: ignore[return-value]


@dataclass(frozen=True)
class TextSource:
    """A source known to hold text in `encoding`."""

    source: Source
    encoding: str
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.source.name

    def lines(self) -> Iterator[str]:
        """Lines with their ends (LF, CR or CRLF; CR CR LF, a slip of Windows programs, is one end), from the start.

        Raises:
            InputError: the file changed since it was opened, or a line is longer than `MAX_LINE`.
        """
        with (
            reading(self.name),
            self.source.open() as raw,
            io.TextIOWrapper(raw, encoding=self.encoding, newline="") as text,
        ):
            number, before = 0, ""
            while line := text.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise InputError(f"{self.name}: line {number} is longer than {MAX_LINE:,} characters")
                if line != "\r\n" or not before.endswith("\r"):
                    yield line
                before = line


def find_source(path: str | Path) -> Source:
    """The file at `path`; "-" is standard input. What cannot be read twice (a pipe) is first copied to disk.

    Raises:
        InputError: no such file, a folder, no permission.
    """
    if str(path) == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise InputError("standard input is closed; give the name of a file instead of '-'")
        return _spooled(stream, "standard input")
    path = Path(path)
    name = _printable(str(path))
    with reading(name):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise InputError(f"{name}: no such file{_similar(path)}") from None
        except ValueError:
            raise InputError(f"{name}: not a possible file name") from None
        if stat.S_ISDIR(mode):
            raise InputError(f"{name} is a folder; give the name of a file")
        if not stat.S_ISREG(mode):
            with path.open("rb") as stream:
                return _spooled(stream, name)
        with path.open("rb") as stream:
            start = stream.read(2)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return Source(name, path, suffixes[-1] if suffixes else "", start == b"\x1f\x8b")


def open_text(source: Source) -> TextSource:
    """Reads the whole file once to settle its encoding, so that no surprise comes after hours of work.

    UTF-8 with or without byte order mark; UTF-16 and UTF-32 with one; anything else as Latin-1, with a note.

    Raises:
        InputError: empty, binary (the kind is named), NUL characters, a damaged gzip file.
    """
    name = source.name
    with reading(name), source.open() as stream:
        first = stream.read(CHUNK)
        if not first:
            raise InputError(f"{name} is empty")
        if kind := foreign_kind(first):
            raise InputError(f"{name} is {kind}, not a table; save the table as CSV")
        encoding = byte_order_mark(first) or "utf-8"
        bad_line = _first_undecodable(name, encoding, first, stream)
    if not bad_line:
        return TextSource(source, encoding, ())
    if encoding != "utf-8":
        raise InputError(f"{name}: line {bad_line} is not {encoding.upper()}, which the file's first bytes announce")
    note = f"Warning: the text is not UTF-8 (first in line {bad_line}); read as Latin-1; check its accents."
    return TextSource(source, "latin-1", (note,))


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Turns what the system and the decoders say about a file into `InputError`."""
    try:
        yield
    except PermissionError:
        raise InputError(f"{name}: no permission to read it") from None
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: the gzip file is damaged or cut short ({error}); copy it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: changed while it was read ({error.reason})") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({on_one_line(error.strerror or error)})") from None


def _first_undecodable(name: str, encoding: str, first: bytes, stream: IO[bytes]) -> int:
    """Number of the first line that `encoding` cannot decode, 0 for none; refuses NUL characters."""
    decoder: Any = codecs.getincrementaldecoder(encoding)("strict")
    bad_line, line, chunk = 0, 1, first
    while True:
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            bad_line = line + error.object[: error.start].count(b"\n")
            text = chunk.decode("latin-1")
            decoder = codecs.getincrementaldecoder("latin-1")()
            if encoding != "utf-8":
                return bad_line
        if (nul := text.find("\0")) >= 0:
            at = line + text.count("\n", 0, nul)
            raise InputError(
                f"{name}: line {at} holds a NUL character: a binary or damaged file, or UTF-16 text without"
                " byte order mark; save it as UTF-8 text"
            )
        if not chunk:
            return bad_line
        line += text.count("\n")
        chunk = stream.read(CHUNK)


def _spooled(stream: IO[bytes], name: str) -> Source:
    folder = tempfile.TemporaryDirectory(prefix="scoregnn-")
    path = Path(folder.name) / "spooled"
    with reading(name), path.open("wb") as copy:
        shutil.copyfileobj(stream, copy, CHUNK)
    with path.open("rb") as written:
        gzipped = written.read(2) == b"\x1f\x8b"
    return Source(name, path, "", gzipped, keeper=folder)


def _similar(path: Path) -> str:
    try:
        names = os.listdir(path.parent)
    except (OSError, ValueError):
        return ""
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {shown(str(path.parent / close[0]), 200)}?" if close else ""


def _printable(name: str) -> str:
    return name if name.isprintable() and name else shown(name, 200)
