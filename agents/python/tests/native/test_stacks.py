"""Conversion of raw captures to stacks with names and lines."""

import struct

from flamewatch.capture.stacks import Frame, Stack, read_stacks
from flamewatch.labelling.encoding import encode

LABELS = [encode((("endpoint", "/pay"),))]


def leaf() -> int:
    return 1


def frame_row(index: int, offset: int) -> bytes:
    return struct.pack("=2i", index, offset)


def raw(stacks: bytes, frames: bytes) -> dict[str, object]:
    code = leaf.__code__
    table = (code.co_qualname, code.co_filename, code.co_firstlineno, code.co_linetable)
    return {"stacks": stacks, "frames": frames, "codes": [table], "labels": LABELS}


def test_stacks_are_read_leaf_first_with_the_thread_name() -> None:
    last = 2 * len(list(leaf.__code__.co_positions())) - 2
    row = struct.pack("=8q", 77, 30_000_000, 3, 0, 2, 1, 0, 1)
    (stack,) = read_stacks(raw(row, frame_row(0, last) + frame_row(0, -2)), {77: "worker"})  # type: ignore[arg-type]
    line = leaf.__code__.co_firstlineno
    assert stack == Stack(
        (
            Frame("leaf", __file__, line + 1, line),
            Frame("leaf", __file__, line, line),
        ),
        value=30_000_000,
        count=3,
        thread_id=77,
        thread_name="worker",
        cut=True,
        waits_for_gil=True,
    )


def test_a_thread_without_a_name_has_an_empty_one() -> None:
    row = struct.pack("=8q", 78, 1, 1, 0, 1, 0, 0, 0)
    (stack,) = read_stacks(raw(row, frame_row(0, -2)))  # type: ignore[arg-type]
    assert (stack.thread_name, stack.cut, stack.waits_for_gil) == ("", False, False)


def test_a_stack_has_the_labels_that_its_row_points_to() -> None:
    row = struct.pack("=8q", 77, 30_000_000, 3, 0, 1, 0, 1, 0)
    (stack,) = read_stacks(raw(row, frame_row(0, -2)))  # type: ignore[arg-type]
    assert stack.labels == (("endpoint", "/pay"),)
