"""HEAP and HEAP_ALLOC: allocations, sampled by hooks of the C part in Python's allocators.

The hooks are installed with the first memory profile, or at the start if so configured, and stay:
memory in use can only be attributed to blocks whose allocation was seen.
"""

import struct
from datetime import UTC, datetime
from typing import Any

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.capture.stacks import Frame, Stack, read_stacks

MAX_DEPTH = 512
MEAN_BYTES = 512 << 10

_DROPPED = ("torn", "table_full", "foreign")
_NOTED = ("cut", "forgotten", "lost")
_ROW = struct.Struct("=4q")  # alloc_objects, alloc_space, inuse_objects, inuse_space
_OUTSIDE = Frame("(outside Python code)", "", 0, 0)


class NativeHeap:
    """Memory profiler.

    `native` is the extension module; `raw` also counts blocks that are allocated without the GIL.
    """

    def __init__(self, native: Any, *, raw: bool = False) -> None:
        self._native, self._raw = native, raw
        self._counted_since = 0
        self._dropped_before: dict[str, int] = {}  # counts of the previous HEAP profile

    def begin(self) -> bool:
        """Start counting. Return False if it was started before."""
        begun: bool = self._native.heap_start(
            mean_bytes=MEAN_BYTES, max_depth=MAX_DEPTH, raw=self._raw
        )
        return begun

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        begun = self.begin()
        if kind is ProfileType.HEAP:
            if begun:  # nothing has been counted yet
                wait(seconds)
            return self._read("heap")
        self._native.heap_mark()
        wait(seconds)
        return self._read("heap_alloc")

    def close(self) -> None:
        """Restore the allocators."""
        self._native.heap_stop()

    def _read(self, kind: str) -> Capture:
        raw = self._native.heap_read(kind)
        counts = raw["counts"]
        return Capture(
            stacks=[*_stacks(raw)],
            period_ns=raw["mean_bytes"],
            started_ns=raw["started_ns"],
            duration_ns=raw["duration_ns"],
            sampler_cpu_ns=counts["spent_ns"],
            max_depth=MAX_DEPTH,
            dropped=self._newly_dropped(raw),
            memory_bytes=raw["table_bytes"],
            notes={name: counts[name] for name in _NOTED if counts[name]}
            | {"counted_since": _time(raw["since_ns"]), "table_bytes": raw["table_bytes"]},
        )

    def _newly_dropped(self, raw: Any) -> dict[str, int]:
        """Return the samples dropped since the last report.

        HEAP counts from the start of counting, so the counts of the previous HEAP profile are
        subtracted.
        """
        dropped = {reason: raw["counts"][reason] for reason in _DROPPED}
        if raw["kind"] != "heap":
            return dropped
        before = self._dropped_before if raw["since_ns"] == self._counted_since else {}
        self._counted_since, self._dropped_before = raw["since_ns"], dropped
        return {reason: count - before.get(reason, 0) for reason, count in dropped.items()}


def _stacks(raw: Any) -> list[Stack]:
    shifted = raw["kind"] == "heap_alloc"  # order of METRICS: the default metric is the last one
    rows = [row[2:] + row[:2] if shifted else row for row in _ROW.iter_unpack(raw["memory"])]
    return [
        Stack(s.frames or (_OUTSIDE,), s.value, s.count, 0, "", cut=s.cut, values=values)
        for s, values in zip(read_stacks(raw), rows, strict=True)
    ]


def _time(unix_ns: int) -> str:
    return datetime.fromtimestamp(unix_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
