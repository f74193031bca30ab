"""Columns of fields over many messages."""

import struct

import numpy as np
import pytest
from numpy.typing import NDArray

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.columns import ABSENT, children, count_elements, numbers, scalars
from profiles.engine.pprof.wire import WireReader
from tests.ingest.pprof import field, varint

FIXED = varint(5 << 3 | 1) + struct.pack("<Q", 2**64 - 2)
# Three messages in field 2 of one message; field 9 is unknown.
MESSAGES = (
    field(1, 7) + field(3, varint(1) + varint(300)) + FIXED,
    field(9, b"x") + field(1, 3) + field(1, 4) + field(3, 5),
    b"",
)
BODY = b"".join(field(2, message) for message in MESSAGES) + field(4, 1)


def reader_of(body: bytes) -> tuple[WireReader, NDArray[np.intp]]:
    return WireReader(body, "test message"), np.array([[0, len(body)]], np.intp)


def test_children_are_ranges_with_the_end_of_each_message() -> None:
    reader, root = reader_of(BODY)
    ranges, ends = children(reader, root, 2, "LIMIT", 3)
    assert [BODY[start:stop] for start, stop in ranges.tolist()] == list(MESSAGES)
    assert ends.tolist() == [3]
    inner, inner_ends = children(reader, ranges, 3, "LIMIT", 3)
    assert (len(inner), inner_ends.tolist()) == (1, [1, 1, 1])


def test_too_many_children_are_named() -> None:
    reader, root = reader_of(BODY)
    with pytest.raises(TooLarge, match="LIMIT allows 2; this has 3"):
        children(reader, root, 2, "LIMIT", 2)


def test_scalars_have_their_wire_types() -> None:
    reader, root = reader_of(BODY)
    values, types = scalars(reader, children(reader, root, 2, "LIMIT", 3)[0], 6)
    assert values[:, 1].tolist() == [7, 4, 0]  # the last one counts
    assert values[:, 5].tolist() == [2**64 - 2, 0, 0]
    assert types[:, 1].tolist() == [0, 0, ABSENT]
    assert types[:, 3].tolist() == [2, 0, ABSENT]
    assert types[:, 5].tolist() == [1, ABSENT, ABSENT]


def test_repeated_numbers_may_be_packed_or_not() -> None:
    reader, root = reader_of(BODY)
    messages = children(reader, root, 2, "LIMIT", 3)[0]
    values, ends = numbers(reader, messages, 3, "LIMIT", 3)
    assert (values.tolist(), ends.tolist()) == ([1, 300, 5], [2, 3, 3])
    assert count_elements(reader, messages, 3, False).tolist() == [2, 1, 0]
    assert count_elements(reader, messages, 5, True).tolist() == [1, 0, 0]
    with pytest.raises(TooLarge, match="LIMIT allows 2; this has 3"):
        numbers(reader, messages, 3, "LIMIT", 2)


def test_negative_numbers_are_twos_complement() -> None:
    reader, root = reader_of(field(3, varint(2**64 - 1)))
    assert numbers(reader, root, 3, "LIMIT", 1)[0].tolist() == [-1]


@pytest.mark.parametrize(
    ("packed", "fixed"), [(b"\x80", False), (b"\x01\xff", False), (b"\0" * 7, True)]
)
def test_incomplete_elements_are_rejected(packed: bytes, fixed: bool) -> None:
    reader, root = reader_of(field(3, packed))
    with pytest.raises(BadProfile, match="The packed field 3 at byte 2 ends within a number"):
        count_elements(reader, root, 3, fixed)


@pytest.mark.parametrize("body", [BODY[:-1], BODY[:9], b"\x0a\x05ab"])
def test_truncated_messages_are_rejected(body: bytes) -> None:
    reader, root = reader_of(body)
    with pytest.raises(BadProfile):
        scalars(reader, root, 3)


def test_other_bytes_are_rejected_with_the_kind_of_message() -> None:
    reader, root = reader_of(b"\0\0\0\0")
    with pytest.raises(BadProfile, match="Not a test message: no valid field at byte"):
        children(reader, root, 1, "LIMIT", 1)
