"""Division of a block's rows into chunks."""

import numpy as np
import pytest

from profiles.engine.blocks.sparse_values import (
    CHUNK_ROWS,
    FULL_CHUNK_VALUES,
    MAX_CHUNK_NUMBERS,
    cut,
)


def chunks(values: int, rows: int, metrics: int = 1) -> list[int]:
    """Return the chunk boundaries of rows that have this many values each."""
    return cut(np.arange(rows + 1, dtype=np.int64) * values, metrics)


def test_small_rows_share_a_chunk() -> None:
    rows = FULL_CHUNK_VALUES // 100
    assert rows > CHUNK_ROWS
    assert chunks(100, rows) == [0, rows]
    assert chunks(100, rows + 5) == [0, rows + 1, rows + 5]


def test_rows_of_medium_size_have_chunks_of_256() -> None:
    values = FULL_CHUNK_VALUES // CHUNK_ROWS
    assert chunks(values, 600) == [0, 256, 512, 600]
    assert chunks(2 * values, 600) == [0, 256, 512, 600]


@pytest.mark.parametrize(
    ("values", "rows"), [(MAX_CHUNK_NUMBERS + 1, 1), (MAX_CHUNK_NUMBERS // 4, 4)]
)
def test_large_rows_have_small_chunks(values: int, rows: int) -> None:
    assert chunks(values, 3 * rows) == [0, rows, 2 * rows, 3 * rows]


def test_rows_without_values_are_one_chunk() -> None:
    assert chunks(0, 5000) == [0, 5000]
    assert chunks(0, 0) == [0]


def test_chunks_of_several_metrics_have_as_many_numbers_as_those_of_one() -> None:
    values = MAX_CHUNK_NUMBERS // 8
    assert chunks(values, 16) == [0, 8, 16]
    assert chunks(values, 16, metrics=4) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert chunks(values, 3, metrics=16) == [0, 1, 2, 3]
