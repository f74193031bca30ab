"""Events of a JFR chunk that are samples, with their values, summed by stack trace."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ingest.formats.jfr.chunk import JfrChunk
from ingest.formats.jfr.fields import Value, to_signed
from ingest.formats.jfr.metadata import Layout
from ingest.formats.jfr.settings import Settings, parse_settings
from profiles.engine.errors import TooLarge
from profiles.engine.pprof.limits import setting
from projects.profile_types import ProfileType

_WALL_STATES = frozenset({"STATE_RUNNABLE", "STATE_SLEEPING"})  # CPU samples have STATE_DEFAULT
_MAX_VALUE = 2**56  # larger values are damage: 2.3 years in ns, 64 PiB


class EventSample(NamedTuple):
    """Values of one event: of each metric of its profile type, see converter.METRICS."""

    type: ProfileType
    values: tuple[int, int]
    leaf: int = 0  # key of a class that is shown below the stack; 0 without one


Samples = tuple[EventSample, ...]


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
        index = self._index.get(name)
        value = 0 if index is None else self._values[index]
        return value if isinstance(value, int) else 0

    def size(self, name: str) -> int:
        """Return a number of bytes or ticks; 0 if it is negative or absurd."""
        number = to_signed(self.number(name))
        return number if 0 <= number <= _MAX_VALUE else 0


class SampleReader:
    """Reads the samples of one chunk."""

    def __init__(self, chunk: JfrChunk) -> None:
        self._chunk = chunk
        self.samples = 0  # events that were read as samples
        self._states = {
            key: chunk.string(values[0])
            for key, values in chunk.constants["jdk.types.ThreadState"].items()
            if values
        }
        self._settings = read_settings(chunk)
        self._present = chunk.event_types
        self._has_native = chunk.metadata.ids.get("jdk.NativeMethodSample") in self._present

    def sums(self, allowed: int) -> dict[SampleKey, list[int]]:
        """Return the sums of the values of equal samples. Raise TooLarge above `allowed` events."""
        converters, metadata = self._converters(), self._chunk.metadata
        layouts = {type: metadata.layout(type) for type in converters}
        sums: dict[SampleKey, list[int]] = {}
        for event_type, values in self._chunk.events(converters):
            self.samples += 1
            if self.samples > allowed:
                raise TooLarge(setting("max_samples"), self.samples, allowed)
            fields = EventFields(layouts[event_type], values)
            stack, context = fields.number("stackTrace"), fields.number("contextId")
            for type, (count, value), leaf in converters[event_type](fields):
                key = SampleKey(type, stack, leaf, context)
                total = sums.get(key)
                if total is None:
                    sums[key] = [count, value]
                else:
                    total[0] += count
                    total[1] += value
        return sums

    def _converters(self) -> dict[int, "Convert"]:
        """Return the function for each event type that the chunk has samples of."""
        ids = self._chunk.metadata.ids
        by_name = {
            "jdk.ExecutionSample": self._convert_execution,
            "jdk.NativeMethodSample": self._convert_native,
            "jdk.CPUTimeSample": self._convert_cpu_time,
            "profiler.WallClockSample": self._convert_wall,
            "jdk.ObjectAllocationInNewTLAB": self._convert_allocation,
            "jdk.ObjectAllocationOutsideTLAB": self._convert_allocation,
            "jdk.ObjectAllocationSample": self._convert_allocation,
            "profiler.LiveObject": self._convert_live_object,
            "jdk.JavaMonitorEnter": self._convert_contention,
            "jdk.ThreadPark": self._convert_contention,
        }
        if ids.get("jdk.CPUTimeSample") in self._present:
            del by_name["jdk.ExecutionSample"]  # the less exact measurement of the same
        if ids.get("jdk.ObjectAllocationSample") in self._present:
            # The JDK can record both, of the same allocations.
            del by_name["jdk.ObjectAllocationInNewTLAB"], by_name["jdk.ObjectAllocationOutsideTLAB"]
        found = {ids[name]: convert for name, convert in by_name.items() if name in ids}
        return {id: convert for id, convert in found.items() if id in self._present}

    def _convert_execution(self, fields: EventFields) -> Samples:
        """Convert a sample of a running thread, or of any thread in async-profiler's wall mode."""
        settings = self._settings
        state = self._states.get(fields.number("state"), "")
        if settings.event == "wall" or (settings.has_wall and state in _WALL_STATES):
            return (EventSample(ProfileType.WALL, (1, settings.wall_ns)),)
        if state == "STATE_SLEEPING":
            return ()
        sample = EventSample(ProfileType.CPU, (1, settings.execution_ns))
        return (sample, sample._replace(type=ProfileType.WALL)) if self._has_native else (sample,)

    def _convert_native(self, fields: EventFields) -> Samples:
        """Convert a sample of a thread in native code, which mostly waits there."""
        return (EventSample(ProfileType.WALL, (1, self._settings.native_ns)),)

    def _convert_cpu_time(self, fields: EventFields) -> Samples:
        if fields.number("failed"):
            return ()
        return (EventSample(ProfileType.CPU, (1, self._ticks(fields.size("samplingPeriod")))),)

    def _convert_wall(self, fields: EventFields) -> Samples:
        samples = fields.size("samples") or 1
        return (EventSample(ProfileType.WALL, (samples, samples * self._settings.wall_ns)),)

    def _convert_allocation(self, fields: EventFields) -> Samples:
        """Convert a sample that stands for all allocations since the one before it."""
        sizes = (fields.size(name) for name in ("weight", "tlabSize", "allocationSize"))
        size = next((size for size in sizes if size), 0)
        return (EventSample(ProfileType.HEAP_ALLOC, (1, size), fields.number("objectClass")),)

    def _convert_live_object(self, fields: EventFields) -> Samples:
        """Convert an object that was sampled at its allocation and is still in use.

        An object of s bytes is sampled with the probability 1 - exp(-s / interval), and stands for
        those that were not.
        """
        size, interval = fields.size("allocationSize"), self._settings.allocation_bytes
        factor = 1.0
        if size and interval > 1:
            factor = 1 / -math.expm1(-size / interval)
        values = round(factor), round(size * factor)
        return (EventSample(ProfileType.HEAP, values, fields.number("objectClass")),)

    def _convert_contention(self, fields: EventFields) -> Samples:
        delay = self._ticks(fields.size("duration"))
        leaf = fields.number("monitorClass") or fields.number("parkedClass")
        return (EventSample(ProfileType.CONTENTION, (1, delay), leaf),)

    def _ticks(self, ticks: int) -> int:
        return ticks * 10**9 // self._chunk.ticks_per_second


Convert = Callable[[EventFields], Samples]


def read_settings(chunk: JfrChunk) -> Settings:
    """Return the settings that a chunk states in its events."""
    id = chunk.metadata.ids.get("jdk.ActiveSetting")
    values: dict[tuple[str, str], str] = {}
    if id is None:
        return parse_settings(values)
    layout = chunk.metadata.layout(id)
    positions: Mapping[str, int] = layout.index
    if not {"id", "name", "value"} <= positions.keys():
        return parse_settings(values)
    for _, found in chunk.events({id}):
        event_type = found[positions["id"]]
        name = chunk.metadata.name(event_type) if isinstance(event_type, int) else ""
        setting_name = chunk.string(found[positions["name"]])
        values[name, setting_name] = chunk.string(found[positions["value"]])
    return parse_settings(values)
