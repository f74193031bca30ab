"""Chunks of a JFR recording: header, events and constants.

A recording is one chunk or several; each is complete in itself.
"""

import struct
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ingest.formats.jfr.fields import Value, read_fields, read_varint
from ingest.formats.jfr.metadata import Metadata
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import DecodeLimits, setting

MAGIC = b"FLR\0"
# magic, major, minor, size, constants, metadata, start (ns), duration (ns), start (ticks), ticks a
# second, flags
_HEADER = struct.Struct(">4sHHqqqqqqqI")
_COMPRESSED_INTEGERS = 1
_CHECKPOINT = 1  # type of events that have constants
_VERSIONS = (1, 2)
MAX_CONSTANTS = DecodeLimits().max_symbols  # of one chunk
# Skipping this many events takes some 5 s of CPU time.
MAX_EVENTS = 5_000_000
CHUNK_VALUES = 200  # charged for each chunk, whose objects take as long as so many values
MAX_METADATA = 2 * 2**20  # bytes; the JDK has 0.1 MB


def check_events(count: int) -> None:
    """Raise TooLarge if a recording has more than MAX_EVENTS events."""
    if count > MAX_EVENTS:
        raise TooLarge("A JFR recording", count, MAX_EVENTS, "events")


class EventRange(NamedTuple):
    type: int  # id of the type
    start: int  # position of its first field
    end: int


class JfrChunk:
    """One chunk; its constants are read when it is opened, its events when they are asked for."""

    def __init__(self, data: bytes, constant_types: frozenset[str], budget: WorkBudget) -> None:
        """Read the chunk, with the constants of the types named in `constant_types`.

        Raise BadProfile, TooLarge or IndexError.
        """
        budget.spend(Work.VALUES, CHUNK_VALUES)
        self._data, self._budget = data, budget
        fields = _HEADER.unpack_from(data)
        self.start_ns, self.duration_ns = fields[6:8]
        self.ticks_per_second: int = fields[9]
        if fields[1] not in _VERSIONS:
            raise BadProfile(f"JFR version {fields[1]}.{fields[2]} is not supported; 1 and 2 are.")
        if not fields[10] & _COMPRESSED_INTEGERS:
            raise BadProfile("Recordings without compressed integers are not supported.")
        if self.ticks_per_second <= 0:
            raise BadProfile("The recording does not say how many ticks a second has.")
        self.metadata = Metadata(_metadata_event(data, fields[5]), budget)
        ids = self.metadata.ids
        self._stored_types = {ids[name] for name in constant_types if name in ids}
        self._constant_count = 0
        self.constants: dict[str, dict[int, Sequence[Value]]] = {
            name: {} for name in constant_types
        }
        self.event_count = 0
        self.event_types: set[int] = set()  # of the declared types, those that have events
        declared = frozenset(ids.values())
        for event in self._scan():
            self.event_count += 1
            check_events(self.event_count)
            if event.type == _CHECKPOINT:
                self._read_constants(data[event.start : event.end])
                continue
            if event.type in declared:
                self.event_types.add(event.type)

    def events(self, types: Collection[int]) -> Iterator[tuple[int, list[Value]]]:
        """Yield the type and the values of each event of these types, see Metadata.layout."""
        layouts = {type: self.metadata.layout(type).fields for type in types}
        for event in self._scan():
            fields = layouts.get(event.type)
            if fields is not None:
                encoded = self._data[event.start : event.end]
                yield event.type, read_fields(fields, encoded, 0, self._budget)[0]

    def string(self, value: Value) -> str:
        """Return the text of a string field, which may be a constant."""
        if isinstance(value, int):
            found = self.constants["java.lang.String"].get(value, ("",))
            return found[0] if isinstance(found[0], str) else ""
        return value if isinstance(value, str) else ""

    def _scan(self) -> Iterator[EventRange]:
        """Yield the type and the position of each event."""
        offset, data, end = _HEADER.size, self._data, len(self._data)
        while offset < end:
            size, first = read_varint(data, offset)
            type, first = read_varint(data, first)
            if size < first - offset or size > end - offset:
                raise BadProfile(f"The recording has an event of {size:,} bytes, which is damaged.")
            yield EventRange(type, first, offset + size)
            offset += size

    def _read_constants(self, event: bytes) -> None:
        offset = 0
        for _ in range(3):  # start, duration, distance of the next checkpoint
            _, offset = read_varint(event, offset)
        pools, offset = read_varint(event, offset + 1)  # after the flags
        for _ in range(pools):
            self._budget.spend(Work.VALUES, 1)
            type, offset = read_varint(event, offset)
            count, offset = read_varint(event, offset)
            fields = self.metadata.layout(type).fields
            pool = self.constants[self.metadata.name(type)] if type in self._stored_types else None
            # Those of other types are skipped, one by one.
            self._constant_count += count
            if self._constant_count > MAX_CONSTANTS:
                raise TooLarge(setting("max_symbols"), self._constant_count, MAX_CONSTANTS)
            for _ in range(count):
                key, offset = read_varint(event, offset)
                values, offset = read_fields(fields, event, offset, self._budget)
                if pool is not None:
                    pool[key] = values


def chunks(recording: bytes) -> Iterator[bytes]:
    """Yield the bytes of each chunk. Raise BadProfile if one is damaged or unfinished."""
    offset = 0
    while offset < len(recording):
        if len(recording) - offset < _HEADER.size or recording[offset : offset + 4] != MAGIC:
            if offset:
                return  # bytes after the last chunk
            raise BadProfile("Not a JFR recording: it does not begin with FLR.")
        size = _HEADER.unpack_from(recording, offset)[3]
        if size < _HEADER.size or size > len(recording) - offset:
            raise BadProfile(
                "The JFR recording is truncated or was still being written. Send it after its end,"
                " or a copy by `jcmd PID JFR.dump`."
            )
        yield recording[offset : offset + size]
        offset += size


def _metadata_event(data: bytes, offset: int) -> bytes:
    if not _HEADER.size <= offset < len(data):
        raise BadProfile("The JFR recording was still being written: it has no metadata.")
    size, _ = read_varint(data, offset)
    if size > MAX_METADATA:
        raise TooLarge("The metadata of a JFR recording", size, MAX_METADATA, "bytes")
    return data[offset : offset + size]
