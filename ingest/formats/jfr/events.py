"""Events of a JFR chunk that are samples, with their values, summed by stack trace."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ingest.formats.jfr.chunk import Chunk
from ingest.formats.jfr.fields import Value, read_fields, signed
from ingest.formats.jfr.metadata import Layout
from ingest.formats.jfr.settings import Settings, settings_of
from projects.profile_types import ProfileType

_WALL_STATES = frozenset({"STATE_RUNNABLE", "STATE_SLEEPING"})  # CPU samples have STATE_DEFAULT
_LONGEST = 2**56  # a value above is damage: 2.3 years in ns, 64 PiB


class Sample(NamedTuple):
    """Values of one event: of each metric of its profile type, see converter.METRICS."""

    type: ProfileType
    values: tuple[int, int]
    leaf: int = 0  # key of a class that is shown below the stack; 0 without one


Samples = tuple[Sample, ...]


class SampleKey(NamedTuple):
    type: ProfileType
    stack: int  # key of the stack trace
    leaf: int
    context: int  # of the labels, as the sender numbers them


class EventFields:
    """Values of one event by the names of their fields."""

    __slots__ = ("_index", "_values")

    def __init__(self, layout: Layout, values: list[Value]) -> None:
        self._index, self._values = layout.index, values

    def number(self, name: str) -> int:
        """Return an integer; 0 if the event lacks the field."""
        at = self._index.get(name)
        value = 0 if at is None else self._values[at]
        return value if isinstance(value, int) else 0

    def size(self, name: str) -> int:
        """Return a number of bytes or ticks; 0 if it is negative or absurd."""
        number = signed(self.number(name))
        return number if 0 <= number <= _LONGEST else 0


class SampleReader:
    """Reads the samples of one chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._states = {
            key: chunk.string(values[0])
            for key, values in chunk.constants["jdk.types.ThreadState"].items()
            if values
        }
        self._settings = read_settings(chunk)
        self._present = {event.type for event in chunk.events}
        self._has_native = chunk.metadata.ids.get("jdk.NativeMethodSample") in self._present

    def sums(self) -> dict[SampleKey, list[int]]:
        """Return the sums of the values of equal samples."""
        converters, chunk = self._converters(), self._chunk
        layouts = {type: chunk.metadata.layout(type) for type in converters}
        sums: dict[SampleKey, list[int]] = {}
        for event in chunk.events:
            layout = layouts.get(event.type)
            if layout is None:
                continue
            values, _ = read_fields(layout.fields, chunk.data[event.start : event.end], 0)
            fields = EventFields(layout, values)
            stack, context = fields.number("stackTrace"), fields.number("contextId")
            for type, (count, value), leaf in converters[event.type](fields):
                key = SampleKey(type, stack, leaf, context)
                known = sums.get(key)
                if known is None:
                    sums[key] = [count, value]
                else:
                    known[0] += count
                    known[1] += value
        return sums

    def _converters(self) -> dict[int, "Convert"]:
        """Return the function for each event type that the chunk has samples of."""
        ids = self._chunk.metadata.ids
        by_name = {
            "jdk.ExecutionSample": self._execution,
            "jdk.NativeMethodSample": self._native,
            "jdk.CPUTimeSample": self._cpu_time,
            "profiler.WallClockSample": self._wall,
            "jdk.ObjectAllocationInNewTLAB": self._allocation,
            "jdk.ObjectAllocationOutsideTLAB": self._allocation,
            "jdk.ObjectAllocationSample": self._allocation,
            "profiler.LiveObject": self._live,
            "jdk.JavaMonitorEnter": self._contention,
            "jdk.ThreadPark": self._contention,
        }
        if ids.get("jdk.CPUTimeSample") in self._present:
            del by_name["jdk.ExecutionSample"]  # the less exact measurement of the same
        if ids.get("jdk.ObjectAllocationSample") in self._present:
            # The JDK can record both, of the same allocations.
            del by_name["jdk.ObjectAllocationInNewTLAB"], by_name["jdk.ObjectAllocationOutsideTLAB"]
        found = {ids[name]: convert for name, convert in by_name.items() if name in ids}
        return {id: convert for id, convert in found.items() if id in self._present}

    def _execution(self, fields: EventFields) -> Samples:
        """Convert a sample of a running thread, or of any thread in async-profiler's wall mode."""
        settings = self._settings
        state = self._states.get(fields.number("state"), "")
        if settings.event == "wall" or (settings.has_wall and state in _WALL_STATES):
            return (Sample(ProfileType.WALL, (1, settings.wall_ns)),)
        if state == "STATE_SLEEPING":
            return ()
        sample = Sample(ProfileType.CPU, (1, settings.execution_ns))
        return (sample, sample._replace(type=ProfileType.WALL)) if self._has_native else (sample,)

    def _native(self, fields: EventFields) -> Samples:
        """Convert a sample of a thread in native code, which mostly waits there."""
        return (Sample(ProfileType.WALL, (1, self._settings.native_ns)),)

    def _cpu_time(self, fields: EventFields) -> Samples:
        if fields.number("failed"):
            return ()
        return (Sample(ProfileType.CPU, (1, self._ticks(fields.size("samplingPeriod")))),)

    def _wall(self, fields: EventFields) -> Samples:
        samples = fields.size("samples") or 1
        return (Sample(ProfileType.WALL, (samples, samples * self._settings.wall_ns)),)

    def _allocation(self, fields: EventFields) -> Samples:
        """Convert a sample that stands for all allocations since the one before it."""
        sizes = (fields.size(name) for name in ("weight", "tlabSize", "allocationSize"))
        size = next((size for size in sizes if size), 0)
        return (Sample(ProfileType.HEAP_ALLOC, (1, size), fields.number("objectClass")),)

    def _live(self, fields: EventFields) -> Samples:
        """Convert an object that was sampled at its allocation and is still in use.

        An object of s bytes is sampled with the probability 1 - exp(-s / interval), and stands for
        those that were not.
        """
        size, interval = fields.size("allocationSize"), self._settings.allocation_bytes
        factor = 1.0
        if size and interval > 1:
            factor = 1 / -math.expm1(-size / interval)
        values = round(factor), round(size * factor)
        return (Sample(ProfileType.HEAP, values, fields.number("objectClass")),)

    def _contention(self, fields: EventFields) -> Samples:
        delay = self._ticks(fields.size("duration"))
        leaf = fields.number("monitorClass") or fields.number("parkedClass")
        return (Sample(ProfileType.CONTENTION, (1, delay), leaf),)

    def _ticks(self, ticks: int) -> int:
        return ticks * 10**9 // self._chunk.ticks_per_second


Convert = Callable[[EventFields], Samples]


def read_settings(chunk: Chunk) -> Settings:
    """Return the settings that a chunk states in its events."""
    id = chunk.metadata.ids.get("jdk.ActiveSetting")
    values: dict[tuple[str, str], str] = {}
    if id is None:
        return settings_of(values)
    layout = chunk.metadata.layout(id)
    wanted: Mapping[str, int] = layout.index
    if not {"id", "name", "value"} <= wanted.keys():
        return settings_of(values)
    for event in chunk.events:
        if event.type == id:
            found, _ = read_fields(layout.fields, chunk.data[event.start : event.end], 0)
            of = found[wanted["id"]]
            name = chunk.metadata.name(of) if isinstance(of, int) else ""
            values[name, chunk.string(found[wanted["name"]])] = chunk.string(found[wanted["value"]])
    return settings_of(values)
