"""Splits on disk: round trip, and one clear line for everything else."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregnn.errors import InputError
from scoregnn.graphs.split_files import load_split, save_split
from scoregnn.graphs.splits import Split

SPLIT = Split(train=[0, 3, 4], validation=[1], test=[2])


def parts(split: Split) -> list[list[int]]:
    return [rows.tolist() for rows in split.parts.values()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "splits.json"


def test_rows_are_counted_from_one(path):
    save_split(path, SPLIT, kind="random", seed=3, data_sha256="ab", num_rows=5)
    assert json.loads(path.read_text()) == {
        "kind": "random",
        "seed": 3,
        "data_sha256": "ab",
        "num_rows": 5,
        "rows_start_at": 1,
        "train": [1, 4, 5],
        "validation": [2],
        "test": [3],
    }
    assert os.listdir(path.parent) == ["splits.json"]
    assert parts(load_split(path, num_rows=5, data_sha256="ab")) == parts(SPLIT)


def test_refused_rows_keep_the_numbers_of_the_table(path):
    rows = [1, 2, 4, 6, 7]
    save_split(path, SPLIT, kind="random", seed=0, data_sha256=None, num_rows=8, rows=rows)
    assert json.loads(path.read_text())["train"] == [1, 6, 7]
    assert parts(load_split(path, num_rows=8, rows=rows)) == parts(SPLIT)
    # Read for a table where row 6 is refused and row 3 is not: the one is dropped, the other is in no part.
    assert parts(load_split(path, num_rows=8, rows=[1, 2, 3, 4, 7])) == [[0, 4], [1], [3]]


def test_a_split_larger_than_its_table_is_not_written(path):
    with pytest.raises(InputError, match="row position 4, but there are 3 rows"):
        save_split(path, SPLIT, kind="random", seed=0, data_sha256=None, num_rows=3)
    assert not path.exists()


def test_a_file_by_hand_needs_little(path):
    path.write_text('{"rows_start_at": 1, "train": [2, 1]}')
    assert parts(load_split(path, num_rows=3, data_sha256="ab")) == [[0, 1], [], []]
    path.write_text('\ufeff{"rows_start_at": 1, "train": [2, 1]}')
    assert parts(load_split(path, num_rows=3)) == [[0, 1], [], []]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a split in JSON"),
        ('{"train": [1', "is not a split in JSON"),
        ("[" * 100_000, "is too large for a split of 5 rows"),
        ("[" * 4000, "is not a split in JSON: nested too deeply"),
        ("[1, 2]", "is not a split: JSON with the keys"),
        ('{"rows_start_at": 1}', "the key train is missing"),
        ('{"train": [1]}', "the key rows_start_at is missing"),
        ('{"train": [1], "rows_start_at": 0}', "rows_start_at must be 1"),
        ('{"train": [1], "rows_start_at": true}', "rows_start_at must be 1"),
        ('{"train": [1], "rows_start_at": 1, "tets": [2]}', "unknown key \"tets\"; did you mean 'test'"),
        ('{"train": [1], "train": [2], "rows_start_at": 1}', 'the key "train" is there twice'),
        ('{"train": [0], "rows_start_at": 1}', "train holds 0, not a row number from 1 to 5"),
        ('{"train": [6], "rows_start_at": 1}', "train holds 6, not a row number from 1 to 5"),
        ('{"train": [1.0], "rows_start_at": 1}', "train holds 1.0, not a row number"),
        ('{"train": [true], "rows_start_at": 1}', "train holds true, not a row number"),
        ('{"train": ["1"], "rows_start_at": 1}', 'train holds "1", not a row number'),
        ('{"train": [1e999], "rows_start_at": 1}', "train holds Infinity, not a row number"),
        ('{"train": [123456789012345678901234567890], "rows_start_at": 1}', "not a row number"),
        ('{"train": 3, "rows_start_at": 1}', "train must be a list of row numbers, not 3"),
        ('{"train": [1], "test": {}, "rows_start_at": 1}', "test must be a list"),
        ('{"train": [1, 2, 1], "rows_start_at": 1}', "row 1 is twice in train"),
        ('{"train": [1, 2], "test": [2], "rows_start_at": 1}', "row 2 is in train and in test"),
        ('{"train": [], "test": [2], "rows_start_at": 1}', "no usable row is in train"),
        ('{"train": [1], "rows_start_at": 1, "num_rows": 6}', "made for a table of 6 rows, this one has 5"),
        ('{"train": [1], "rows_start_at": 1, "data_sha256": "cd"}', "made for other data"),
    ],
)
def test_faults_are_one_line_that_names_the_file(path, content, message):
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        load_split(path, num_rows=5, data_sha256="ab")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load_split(tmp_path / "none.json", num_rows=5)
    with pytest.raises(InputError, match="cannot read the split"):
        load_split(tmp_path, num_rows=5)
    with pytest.raises(InputError, match="cannot write"):
        save_split(tmp_path / "no" / "s.json", SPLIT, kind="random", seed=0, data_sha256=None, num_rows=5)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="is not a split in JSON"):
        load_split(tmp_path / "bytes.json", num_rows=5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["train", "test", "validation", "rows_start_at", "num_rows", "seed"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
)


@given(content=JSON, cut=st.none() | st.integers(0, 200))
def test_any_json_is_a_split_or_refused(tmp_path_factory, content, cut):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(content)[:cut])
    try:
        split = load_split(path, num_rows=4)
    except InputError as error:
        assert "any.json" in str(error)
        assert "\n" not in str(error)
    else:
        assert split.train.tolist() == sorted(number - 1 for number in content["train"])
