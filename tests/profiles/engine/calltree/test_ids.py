"""Compiled ids equal those in plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.hashing import frame_ids, function_ids, node_ids, string_ids, string_table_ids
from tests.profiles.engine.calltree import reference_ids

TEXTS = st.lists(st.text(max_size=40), min_size=2, max_size=8)


@given(TEXTS)
def test_string_ids_equal_those_of_the_reference(texts: list[str]) -> None:
    expected = [reference_ids.text_id(text) for text in texts]
    assert string_ids(texts).tolist() == expected
    data = [text.encode() for text in texts]
    ends = np.cumsum([len(part) for part in data], dtype=np.int64)
    assert string_table_ids(b"".join(data), ends).tolist() == expected


@given(TEXTS, st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6))
def test_node_ids_equal_those_of_the_reference(texts: list[str], lines: list[int]) -> None:
    count = len(lines)
    name = np.zeros(count, np.int32)
    file = np.ones(count, np.int32)
    functions = function_ids(string_ids(texts), name, file)
    frames = frame_ids(functions, np.array(lines, np.int32))
    chain = np.arange(-1, count - 1, dtype=np.int32)
    nodes = node_ids(chain, np.arange(count, dtype=np.int32), frames)
    path = [(texts[0], texts[1], line) for line in lines]
    assert nodes.tolist() == [reference_ids.node_id(path[: i + 1]) for i in range(count)]


def test_node_id_of_a_fixed_path_is_constant() -> None:
    """Check a fixed id, because merging old profiles with new ones depends on it."""
    assert reference_ids.node_id([("main", "main.go", 7)]) == 0x4BE47BF4E42CA954
