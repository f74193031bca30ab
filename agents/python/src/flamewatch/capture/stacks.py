"""Conversion of raw captures to stacks with line numbers.

The sampler records positions as (code object, instruction offset). This module finds the line after
the capture, once per position, in the code object's location table.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flamewatch.capture.line_table import find_line
from flamewatch.labelling.encoding import Labels, decode

if TYPE_CHECKING:
    from flamewatch._native import Raw

STACK_ROW = struct.Struct("=8q")
FRAME_ROW = struct.Struct("=2i")


@dataclass(frozen=True, slots=True)
class Frame:
    """One function call in a stack."""

    function: str  # qualified name
    file: str
    line: int  # 0: the instruction belongs to no line
    first_line: int  # of the function


@dataclass(frozen=True, slots=True)
class Stack:
    """Sampled stack of a thread; `value` in nanoseconds (THREADS: threads; memory: bytes)."""

    frames: tuple[Frame, ...]  # the leaf first
    value: int
    count: int  # samples
    thread_id: int  # native id; 0 if threads are merged
    thread_name: str  # "" if unknown
    cut: bool  # the stack was deeper: frames nearest the root are missing
    labels: Labels = ()  # set by the program
    waits_for_gil: bool = False  # at the leaf, in WALL
    # One value for each metric of the type, if these are not just `count` and `value`.
    values: tuple[int, ...] = ()


def read_stacks(raw: Raw, thread_names: Mapping[int, str] | None = None) -> list[Stack]:
    """Return the stacks of a capture. `thread_names` maps native ids to names."""
    names = thread_names or {}
    frames = list(_read_frames(raw))
    labels: list[Labels] = [(), *map(decode, raw["labels"])]

    def stack(
        thread: int, value: int, count: int, start: int, n: int, cut: int, label: int, gil: int
    ) -> Stack:
        called = tuple(frames[start : start + n])
        name = names.get(thread, "")
        return Stack(called, value, count, thread, name, bool(cut), labels[label], bool(gil))

    return [stack(*row) for row in STACK_ROW.iter_unpack(raw["stacks"])]


def _read_frames(raw: Raw) -> Iterator[Frame]:
    frames: dict[tuple[int, int], Frame] = {}
    codes = raw["codes"]
    for position in FRAME_ROW.iter_unpack(raw["frames"]):
        frame = frames.get(position)
        if frame is None:
            function, file, first_line, table = codes[position[0]]
            line = find_line(table, first_line, position[1])
            frame = frames[position] = Frame(function, file, line, first_line)
        yield frame
