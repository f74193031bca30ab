"""Columns of stored trees, each in the narrowest width that holds its values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.encoding.column_bytes import ColumnReader, join
from profiles.engine.encoding.columns import greatest_common_divisor

INT64 = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("highest", "code"),
    [(0, 1), (2**8 - 1, 1), (2**8, 2), (2**16, 4), (2**32 - 1, 4), (2**32, 8), (2**63 - 1, 8)],
)
def test_a_number_takes_as_many_bytes_as_the_greatest_needs(highest: int, code: int) -> None:
    column = np.array([0, highest, 1], np.int64)
    assert ColumnReader(join({}, [column])).head["columns"] == [[code, 3]]


def test_ids_are_read_as_unsigned_64_bits() -> None:
    ids = np.array([2**64 - 1, 0], np.uint64)
    reader = ColumnReader(join({}, [ids]))
    assert reader.head["columns"] == [[8, 2]]
    assert reader.ids().tolist() == [2**64 - 1, 0]


@given(st.lists(INT64))
def test_values_of_any_sign_are_read_back_unchanged(values: list[int]) -> None:
    reader = ColumnReader(join({}, [np.array(values, np.int64)]))
    assert reader.values(len(values), [1]).tolist() == [values]
    reader.end()


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_numbers_of_32_bits_take_the_same_bytes_as_the_same_of_64(values: list[int]) -> None:
    assert join({}, [np.array(values, np.int32)]) == join({}, [np.array(values, np.int64)])


def test_strided_array_is_encoded() -> None:
    column = np.arange(10, dtype=np.int32)[::2]
    assert ColumnReader(join({}, [column])).index(10).tolist() == [0, 2, 4, 6, 8]


@given(st.lists(INT64))
def test_divisor_of_a_column_is_the_greatest_common_one(values: list[int]) -> None:
    expected = math.gcd(*values)
    assert greatest_common_divisor(np.array(values, np.int64)) == (
        expected if 0 < expected < 2**63 else 1
    )


@pytest.mark.parametrize("count", [2**14 - 1, 2**14, 50_000])
@pytest.mark.parametrize("highest", [200, 60_000, 2**31])
def test_long_columns_are_read_back_unchanged(count: int, highest: int) -> None:
    column = np.linspace(0, highest, count).astype(np.int64)
    assert ColumnReader(join({}, [column])).values(count, [1])[0].tolist() == column.tolist()
    assert greatest_common_divisor(column * 6) == 6 * math.gcd(*column.tolist())


@pytest.mark.parametrize("count", [3, 2**31, 2**61 + 1, 2**63 - 1])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_an_index_beyond_the_data_is_rejected(width: int, count: int) -> None:
    reader = ColumnReader(b"\0" * 8 + b"\1" * 2, ({"columns": [[width, count]]}, 8))
    with pytest.raises(ValueError, match="ends beyond the data"):
        reader.index(10)
