"""Settings of a recording: sampling intervals, and the events that async-profiler measured."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

MILLISECOND = 10**6  # ns
_PERIOD = re.compile(r"(\d{1,9}) ?(ns|us|ms|s|m|h|d)")
_UNITS = {
    **{"ns": 1, "us": 10**3, "ms": MILLISECOND, "s": 10**9},
    **{"m": 60 * 10**9, "h": 3600 * 10**9, "d": 86_400 * 10**9},
}
# Defaults of the JDK (default.jfc) and of async-profiler (arguments.h, wallClock.cpp), in ns.
_JDK_PERIOD = 20 * MILLISECOND
_CPU_INTERVAL = 10 * MILLISECOND
_WALL_INTERVAL = 50 * MILLISECOND
# Events of async-profiler whose interval is a time.
_TIMES = frozenset(
    {"", "alloc", "lock", "cpu", "itimer", "ctimer", "cpu-clock", "task-clock", "wall"}
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a chunk; times are those between two samples of one thread, in ns."""

    is_async_profiler: bool
    event: str  # that async-profiler measured; "" for the JDK
    has_wall: bool  # wall-clock samples were taken, alone or beside those of the event
    execution_ns: int  # 0: execution samples count another event, for example cache misses
    native_ns: int
    wall_ns: int
    allocation_bytes: int  # mean distance of two allocation samples; 0: unknown


def parse_settings(values: Mapping[tuple[str, str], str]) -> Settings:
    """Return the settings from values by event type and setting name."""
    interval = _integer(values, "jdk.ExecutionSample", "interval")
    wall = _integer(values, "jdk.ExecutionSample", "wall")
    event = values.get(("jdk.ActiveRecording", "event"), "")
    is_async_profiler = ("jdk.ActiveRecording", "event") in values
    periods = [
        _nanoseconds(values.get((name, "period"), "")) or _JDK_PERIOD
        for name in ("jdk.ExecutionSample", "jdk.NativeMethodSample")
    ]
    execution = (interval or _CPU_INTERVAL) if is_async_profiler else periods[0]
    return Settings(
        is_async_profiler=is_async_profiler,
        event=event,
        has_wall=event == "wall" or wall is not None,
        execution_ns=execution if event in _TIMES else 0,
        native_ns=periods[1],
        wall_ns=(interval if wall is None else wall) or _WALL_INTERVAL,
        allocation_bytes=_integer(values, "jdk.ObjectAllocationInNewTLAB", "alloc") or 0,
    )


def _integer(values: Mapping[tuple[str, str], str], event_type: str, name: str) -> int | None:
    text = values.get((event_type, name), "")
    is_number = text.isascii() and text.isdigit() and len(text) < 16
    return int(text) if is_number else None


def _nanoseconds(text: str) -> int:
    found = _PERIOD.fullmatch(text)
    return int(found[1]) * _UNITS[found[2]] if found else 0
