"""Where predictions go: a file that appears whole, or standard output."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoregnn.errors import InputError
from scoregnn.files import atomic_file


@contextlib.contextmanager
def csv_writer(path: str | Path | None) -> Iterator[Any]:
    """A `csv.writer` (UTF-8, comma, LF) for `path`, compressed if it ends with .gz, or for standard output.

    The file appears when the block ends without an error; before that it is not there.
    """
    if path is None or str(path) == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="")
        yield csv.writer(sys.stdout, lineterminator="\n")
        sys.stdout.flush()
        return
    suffix = Path(path).suffixes[-1:] if not str(path).endswith(".gz") else Path(path).suffixes[-2:-1]
    if suffix and suffix[0].lower() in (".parquet", ".xlsx", ".sdf", ".json"):
        raise InputError(
            f"cannot write {path}: predictions are written as CSV; use a name that ends with .csv or .csv.gz"
        )
    with atomic_file(path) as file, contextlib.ExitStack() as stack:
        binary: Any = (
            stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0)) if str(path).endswith(".gz") else file
        )
        text = io.TextIOWrapper(binary, encoding="utf-8", errors="surrogateescape", newline="")
        yield csv.writer(text, lineterminator="\n")
        text.flush()
        text.detach()
