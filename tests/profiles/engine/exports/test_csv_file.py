"""CSV rows for spreadsheets."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.exports.csv_file import encode


@given(
    st.lists(
        st.lists(
            st.text(st.characters(exclude_characters="=+-@\uff1d\uff0b\uff0d\uff20\t\r\n\0'")),
            min_size=1,
        )
    )
)
def test_csv_is_read_back_unchanged(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(encode(["a", "b"], rows), newline="")))
    assert read == [["a", "b"], *rows]


@pytest.mark.parametrize(
    "name",
    [
        *('=HYPERLINK("http://x")', "+1", "-[Foo bar]", "@a", "\t=1", "\n=1", "\r=1"),
        *("\uff1d1", "\uff0b1", "\uff0d1", "\uff20a"),  # full-width
    ],
)
def test_a_name_never_is_a_formula(name: str) -> None:
    read = list(csv.reader(io.StringIO(encode([name], [[name, -5]]), newline="")))
    assert read == [[f"'{name}"], [f"'{name}", "-5"]]
