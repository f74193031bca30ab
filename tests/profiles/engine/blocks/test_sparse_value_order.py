"""Sorting of sparse values and lines without comparisons."""

import random as randoms

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.blocks.sparse_rows import add_table, sort_by_group, sort_values

NODES = 9


@given(st.lists(st.sets(st.integers(0, NODES - 1)), max_size=6), st.randoms())
def test_sparse_values_are_sorted_by_row_then_node(
    rows: list[set[int]], random: randoms.Random
) -> None:
    shuffled = [random.sample(sorted(row), len(row)) for row in rows]
    rank = random.sample(range(len(rows)), len(rows))
    node = np.array([node for row in shuffled for node in row], np.int32)
    row = np.repeat(np.array(rank, np.int64), [len(row) for row in shuffled])
    lengths = np.array([len(row) for row in shuffled], np.int64)
    found = sort_values(np.array(rank, np.int64), lengths, node, NODES)
    assert found.tolist() == np.lexsort((node, row)).tolist()


@given(st.lists(st.integers(0, 4)))
def test_rows_of_a_group_stay_as_they_came(group: list[int]) -> None:
    starts, position = sort_by_group(np.array(group, np.int32), 5)
    assert starts.tolist() == [sum(each < g for each in group) for g in range(6)]
    assert np.argsort(position).tolist() == np.argsort(group, kind="stable").tolist()


def test_a_table_is_added_at_its_rows_and_columns() -> None:
    sums = np.ones((3, 4))
    rows, columns = np.array([2, 0]), np.array([3, 1])
    add_table(sums, rows, columns, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert sums.tolist() == [[1, 5, 1, 4], [1, 1, 1, 1], [1, 3, 1, 2]]
