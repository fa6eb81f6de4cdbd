"""Files appear whole or not at all, whatever fails on the way."""

from __future__ import annotations

import errno
import os

import pytest
from running import leftovers
from toy import read_object, toy_table, train

from scoregnn.errors import InputError
from scoregnn.files import atomic_file, is_leftover, write_atomically


def failing(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["os.replace", "os.fsync", "os.chmod"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, call):
    path = tmp_path / "metrics.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(call, failing)
    with pytest.raises(InputError, match=r"^cannot write .*metrics\.json: No space left on device$"):
        write_atomically(path, b"new" * 1000)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError(errno.ENOSPC, "full")])
def test_a_block_that_ends_in_an_error_writes_nothing(tmp_path, error):
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    with pytest.raises(InputError if isinstance(error, OSError) else error), atomic_file(path) as file:
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_flushed_to_disk_before_it_takes_its_name_and_the_folder_after(tmp_path, monkeypatch):
    path, calls = tmp_path / "a", []
    flush, rename = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        calls.append((os.readlink(f"/proc/self/fd/{descriptor}"), path.exists()))
        flush(descriptor)

    def replace(source: str, target: str) -> None:
        with open(source, "rb") as file:
            calls.append(file.read())
        rename(source, target)

    monkeypatch.setattr("os.fsync", fsync)
    monkeypatch.setattr("os.replace", replace)
    write_atomically(path, "ä")
    (written, before), content, (folder, after) = calls
    assert os.path.dirname(written) == str(tmp_path) == folder  # a rename from elsewhere would be a copy
    assert (before, after) == (False, True)
    assert content == "ä".encode()


def test_nobody_sees_the_new_file_before_it_is_whole(tmp_path):
    path = tmp_path / "a"
    with atomic_file(path) as file:
        file.write(b"1")
        file.flush()
        (half,) = tmp_path.iterdir()
        assert is_leftover(half) and not path.exists()
    assert not is_leftover(path)
    assert path.read_bytes() == b"1"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.csv", tmp_path / "link.csv"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert leftovers(tmp_path) == []


def test_a_device_and_a_pipe_are_written_to_directly(tmp_path):
    write_atomically("/dev/null", b"x")
    assert not os.path.isfile("/dev/null")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_an_error_that_names_another_file_is_not_taken_for_this_one(tmp_path):
    other = FileNotFoundError(errno.ENOENT, "No such file", "input.csv")
    with pytest.raises(FileNotFoundError) as raised, atomic_file(tmp_path / "out.csv"):
        raise other
    assert raised.value.filename == "input.csv"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["absent/out.csv", "folder"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=f"^cannot write .*{place}: "):
        write_atomically(tmp_path / place, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("name", ["network-0.safetensors", "metrics.json", "model.safetensors", "model.json"])
def test_a_run_on_a_full_disk_ends_in_one_line_and_goes_on_when_there_is_room(tmp_path, monkeypatch, finished, name):
    table, folder, rename = toy_table(tmp_path), tmp_path / "run", os.replace

    def replace(source: str, target: str) -> None:
        if os.path.basename(target) == name:
            failing()
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", replace)
        with pytest.raises(InputError, match=f"cannot write .*{name}: No space left"):
            train(table, folder)
    assert leftovers(folder) == []
    assert not (folder / "model.json").exists()
    assert train(table, folder, resume=True).metrics == read_object(finished / "metrics.json")
