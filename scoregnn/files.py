"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scoregnn.errors import InputError


@contextlib.contextmanager
def atomic_file(path: Path | str) -> Iterator[IO[bytes]]:
    """A binary file that appears under `path` whole, when the block ends without an error, or not at all.

    Written beside its place, flushed to disk, then renamed. An operating-system error is raised as `InputError`
    that names the path.
    """
    path = Path(path)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent or ".")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        if error.filename not in (None, temporary, str(path)) or isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


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
