"""Runs that several tests look at, and processes to kill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nursery import Nursery
from running import MIXED, mixed_rows
from toy import toy_table, train, write_table


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    found = Nursery()
    yield found
    found.close()


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """A run on one target; nobody may change its folder."""
    folder = tmp_path_factory.mktemp("finished")
    train(toy_table(folder), folder / "run", units=("log",))
    return folder / "run"


@pytest.fixture(scope="session")
def mixed(tmp_path_factory) -> Path:
    """A run with everything in it, see `mixed_rows`; nobody may change its folder."""
    folder = tmp_path_factory.mktemp("mixed")
    table = write_table(folder / "t.csv", mixed_rows())
    train(table, folder / "run", reading=MIXED, units=("log", "e"), ensemble=2, epochs=3, descriptors="fast", seed=5)
    return folder / "run"
