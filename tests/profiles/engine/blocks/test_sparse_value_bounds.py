"""Bounds of the pointer loops over sparse values: indexes beyond an end are errors."""

from collections.abc import Callable

import numpy as np
import pytest

from profiles.engine.blocks.sparse_rows import RowVarianceSums, sum_rows
from profiles.engine.errors import BadProfile

ROW = {"starts": [0, 3], "nodes": [0, 2, 1], "values": [5, 6, 7], "target": [1, 0, 1]}


def summed(**columns: list[int]) -> tuple[list[int], list[int]]:
    of = ROW | columns
    sums, used = np.zeros(2, np.int64), np.zeros(2, np.uint8)
    sum_rows(
        np.array(of["starts"], np.int64),
        np.array(of["nodes"], np.int32),
        np.array(of["values"], np.int64),
        np.ones(len(of["starts"]) - 1, np.uint8),
        np.array(of["target"], np.int32),
        sums,
        used,
    )
    return sums.tolist(), used.tolist()


def squares(**columns: list[int]) -> list[float]:
    """Return the sums of squares of a caller and its callee."""
    of = ROW | columns
    parent, function = np.array([-1, 0], np.int32), np.array([0, 1], np.int32)
    sums = RowVarianceSums(parent, function, np.ones(2, np.uint8), 2, 1)
    rows = np.arange(len(of["starts"]) - 1)
    sums.add(
        np.array(of["starts"], np.int64),
        np.array(of["nodes"], np.int32),
        np.array(of["values"], np.int64),
        np.array(of["target"], np.int32),
        rows,
        np.zeros(len(rows), np.int32),
    )
    found: list[float] = sums.tables()[0][0].tolist()
    return found


def test_values_are_summed_by_target() -> None:
    assert summed() == ([7, 11], [1, 1])
    assert summed(starts=[0, 0, 1, 1]) == ([0, 5], [0, 1])
    assert squares() == [18.0**2, 11.0**2]
    assert squares(starts=[0, 1, 1, 3]) == [5.0**2 + 13**2, 5.0**2 + 6**2]


@pytest.mark.parametrize("added", [summed, squares])
@pytest.mark.parametrize(
    "columns",
    [
        {"nodes": [0, 3, 1]},
        {"nodes": [0, -1, 1]},
        {"starts": [-1, 3]},
        {"starts": [0, 4]},
        {"values": [5, 6]},
        {"target": []},
        {"target": [1, -1, 1]},
        {"target": [1, 2, 1]},
        {"target": [1, 2**31 - 1, 1]},
    ],
)
def test_indexes_beyond_an_end_are_rejected(
    added: Callable[..., object], columns: dict[str, list[int]]
) -> None:
    with pytest.raises(IndexError):
        added(**columns)


def test_a_sum_beyond_64_bits_is_rejected() -> None:
    with pytest.raises(BadProfile):
        summed(values=[2**63 - 1, 1, 0])
    assert summed(values=[2**63 - 1, -1, 0]) == ([0, 2**63 - 2], [1, 1])
