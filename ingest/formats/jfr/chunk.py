"""Chunks of a JFR recording: header, events and constants.

A recording is one chunk or several; each is complete in itself.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.formats.jfr.fields import Value, read_fields, read_varint
from ingest.formats.jfr.metadata import Metadata
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import DecodeLimits, setting

MAGIC = b"FLR\0"
# magic, major, minor, size, constants, metadata, start (ns), duration (ns), start (ticks), ticks a
# second, flags
_HEADER = struct.Struct(">4sHHqqqqqqqI")
_COMPRESSED_INTEGERS = 1
_METADATA, _CHECKPOINT = 0, 1
_VERSIONS = (1, 2)
MAX_CONSTANTS = DecodeLimits().max_symbols  # of one type


class Event(NamedTuple):
    type: int  # id of the type
    start: int  # position of its first field
    end: int


class Chunk:
    """One chunk; its constants are read when it is opened, its events when they are asked for."""

    def __init__(self, data: bytes, kept: frozenset[str]) -> None:
        """Read the chunk, with the constants of the types named in `kept`.

        Raise BadProfile, TooLarge or IndexError.
        """
        self.data = data
        fields = _HEADER.unpack_from(data)
        self.start_ns, self.duration_ns = fields[6:8]
        self.ticks_per_second: int = fields[9]
        if fields[1] not in _VERSIONS:
            raise BadProfile(f"JFR version {fields[1]}.{fields[2]} is not supported; 1 and 2 are.")
        if not fields[10] & _COMPRESSED_INTEGERS:
            raise BadProfile("Recordings without compressed integers are not supported.")
        if self.ticks_per_second <= 0:
            raise BadProfile("The recording does not say how many ticks a second has.")
        self.metadata = Metadata(_event_at(data, fields[5]))
        self._kept = {self.metadata.ids[name] for name in kept if name in self.metadata.ids}
        self.constants: dict[str, dict[int, Sequence[Value]]] = {name: {} for name in kept}
        self.events: list[Event] = []
        self._scan()

    def string(self, value: Value) -> str:
        """Return the text of a string field, which may be a constant."""
        if isinstance(value, int):
            found = self.constants["java.lang.String"].get(value, ("",))
            return found[0] if isinstance(found[0], str) else ""
        return value if isinstance(value, str) else ""

    def _scan(self) -> None:
        at, data, end = _HEADER.size, self.data, len(self.data)
        while at < end:
            size, first = read_varint(data, at)
            type, first = read_varint(data, first)
            if size < first - at or size > end - at:
                raise BadProfile(f"The recording has an event of {size:,} bytes, which is damaged.")
            if type == _CHECKPOINT:
                self._read_constants(data[first : at + size])
            elif type != _METADATA:
                self.events.append(Event(type, first, at + size))
            at += size

    def _read_constants(self, event: bytes) -> None:
        at = 0
        for _ in range(3):  # start, duration, distance of the next checkpoint
            _, at = read_varint(event, at)
        pools, at = read_varint(event, at + 1)  # after the flags
        for _ in range(pools):
            type, at = read_varint(event, at)
            count, at = read_varint(event, at)
            fields = self.metadata.layout(type).fields
            pool = self.constants[self.metadata.name(type)] if type in self._kept else None
            if pool is not None and len(pool) + count > MAX_CONSTANTS:
                raise TooLarge(setting("max_symbols"), len(pool) + count, MAX_CONSTANTS)
            for _ in range(count):
                key, at = read_varint(event, at)
                values, at = read_fields(fields, event, at)
                if pool is not None:
                    pool[key] = values


def chunks(recording: bytes) -> Iterator[bytes]:
    """Yield the bytes of each chunk. Raise BadProfile if one is damaged or unfinished."""
    at = 0
    while at < len(recording):
        if len(recording) - at < _HEADER.size or recording[at : at + 4] != MAGIC:
            if at:
                return  # bytes after the last chunk
            raise BadProfile("Not a JFR recording: it does not begin with FLR.")
        size = _HEADER.unpack_from(recording, at)[3]
        if size < _HEADER.size or size > len(recording) - at:
            raise BadProfile(
                "The JFR recording is truncated or was still being written. Send it after its end,"
                " or a copy by `jcmd PID JFR.dump`."
            )
        yield recording[at : at + size]
        at += size


def _event_at(data: bytes, at: int) -> bytes:
    if not _HEADER.size <= at < len(data):
        raise BadProfile("The JFR recording was still being written: it has no metadata.")
    size, _ = read_varint(data, at)
    return data[at : at + size]
