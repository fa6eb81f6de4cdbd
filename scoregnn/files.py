"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scoregnn.errors import InputError

PART = ".part"
"""Ending of a file that is being written; one left behind was cut short by the end of its process."""


@contextlib.contextmanager
def atomic_file(path: Path | str) -> Iterator[IO[bytes]]:
    """A binary file that appears under `path` whole, when the block ends without an error, or not at all.

    Written beside its place, flushed to disk, then renamed; a link stays, and what it points to is replaced. What is
    no file (`/dev/null`, a named pipe) is written to directly. An operating-system error is raised as `InputError`
    that names the path.
    """
    path = Path(path)
    name = ""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                yield device
            return
        place = Path(os.path.realpath(path))
        descriptor, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", suffix=PART, dir=place.parent)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, place)
        _sync_folder(place.parent)
    except OSError as error:
        # An error of the block that names another file is not about this one, nor is a reader who left.
        if isinstance(error, BrokenPipeError) or (name and error.filename not in (None, name)):
            raise
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if name:
            with contextlib.suppress(OSError):  # renamed already, or its folder is gone
                os.unlink(name)


def is_leftover(path: Path) -> bool:
    """Whether this is a half-written file of `atomic_file`."""
    return path.name.startswith(".") and path.name.endswith(PART)


def write_atomically(path: Path | str, content: bytes | str) -> None:
    """Replaces the file at `path` by `content` (text as UTF-8) in one step."""
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    # The rename itself reaches the disk only with its folder; not every system lets one open a folder.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
