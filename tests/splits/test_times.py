"""Cell texts of a time column."""

from __future__ import annotations

import pytest

from scoregnn.errors import InputError
from scoregnn.graphs.times import parse_times


def test_numbers_stay_numbers():
    assert parse_times(["2019", " 2020.5 ", "-3", "1e3", ".5"]).tolist() == [
        2019.0,
        2020.5,
        -3.0,
        1000.0,
        0.5,
    ]


def test_dates_are_seconds_since_1970():
    cells = [
        "1970-01-02",
        "1970-01-01T00:00:10",
        "1970-01-01T02:00+02:00",
        "1970-02",
        "1969-12-31",
        "19700102",
    ]
    assert parse_times(cells).tolist() == [86400.0, 10.0, 0.0, 31 * 86400.0, -86400.0, 86400.0]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["2019", ""], "^row 2: column 'year' is empty"),
        (["", "2019"], "^row 1: column 'year' is empty"),
        (["2019", "2019-03-01"], "^row 2: column 'year' holds '2019-03-01', but the rows above hold numbers"),
        (["2019-03-01", "2019"], "^row 2: column 'year' holds '2019', but the rows above hold dates"),
        (
            ["2019-03-01", "2019-02-30"],
            "^row 2: column 'year' holds '2019-02-30', not a finite number or an ISO",
        ),
        (["3 May 2019"], "^row 1: column 'year' holds '3 May 2019', not a finite number or an ISO date"),
        (["1", "nan"], "holds 'nan', not a finite"),
        (["1", "1e999"], "holds '1e999', not a finite"),
        (["1", "1_000"], "holds '1_000', not a finite"),
        (["1", "١٢"], "not a finite number"),
    ],
)
def test_other_cells_are_named(cells, message):
    with pytest.raises(InputError, match=message):
        parse_times(cells, column="year")


def test_the_row_number_of_the_table_is_named():
    with pytest.raises(InputError, match=r"^row 17:"):
        parse_times(["1", "x"], rows=[12, 17])


def test_no_cells():
    assert parse_times([]).tolist() == []
