"""Tables of an OTLP request that its samples point into by index."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.formats.otlp import attributes
from ingest.formats.otlp.attributes import Attribute
from ingest.formats.otlp.revision import Revision
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.columns import children, numbers, scalars
from profiles.engine.pprof.limits import DecodeLimits, setting
from profiles.engine.pprof.wire import WireReader

Ranges = NDArray[np.intp]  # byte ranges of messages, [N, 2]

# Field numbers of message ProfilesDictionary.
_MAPPINGS, _LOCATIONS, _FUNCTIONS, _LINKS, _STRINGS, _ATTRIBUTES, _STACKS = range(1, 8)
_SYMBOLS = setting("max_symbols")
# Attributes of mappings, the one that others look up first.
_BUILD_IDS = (
    "process.executable.build_id.gnu",
    "process.executable.build_id.go",
    "process.executable.build_id.htlhash",
    "process.executable.build_id.profiling",  # its former name
)
_MOST_ATTRIBUTES = 32  # of a mapping; the rest is left out
MAX_STACK_LOCATIONS = 4 * 2**20  # of all stacks of a request: 32 MiB as an array


@dataclass(frozen=True, slots=True)
class Mapping:
    start: int
    limit: int
    offset: int
    file: int  # index of a string
    attributes: tuple[int, ...]  # indexes


@dataclass(frozen=True, slots=True)
class Location:
    mapping: int  # index; -1: none
    address: int
    lines: list[tuple[int, int]]  # function, line; the innermost inlined function first


class SharedFunction(NamedTuple):
    """Function of the tables; its texts are indexes of strings."""

    name: int
    system_name: int
    file: int
    start_line: int  # 0 if unknown


class SharedTables:
    """The tables; entries are read when they are asked for, because few may be in use."""

    def __init__(self, body: bytes, reader: WireReader, ranges: Ranges, limits: DecodeLimits):
        self._body, self._reader = body, reader
        self._limits = limits

        def table(number: int) -> Ranges:
            return children(reader, ranges, number, _SYMBOLS, limits.max_symbols)[0]

        self._strings = table(_STRINGS)
        self._attributes = table(_ATTRIBUTES)
        self._links = table(_LINKS)
        self._stacks = table(_STACKS)  # up to 1.7: units of attributes
        mappings = table(_MAPPINGS)
        self._mappings, _ = scalars(reader, mappings, 5)
        self._mapping_attributes, self._mapping_attribute_ends = numbers(
            reader, mappings, 5, "attributes of mappings of an OTLP request", limits.max_symbols
        )
        self._functions, _ = scalars(reader, table(_FUNCTIONS), 5)
        locations = table(_LOCATIONS)
        self._locations, self._location_types = scalars(reader, locations, 3)
        lines, self._line_ends = children(reader, locations, 3, _SYMBOLS, limits.max_symbols)
        self._lines, _ = scalars(reader, lines, 3)
        self._stack_locations, ends = numbers(
            reader, self._stacks, 1, "locations in stacks of an OTLP request", MAX_STACK_LOCATIONS
        )
        self._stack_bounds = np.stack((ends - np.diff(ends, prepend=0), ends), axis=1)
        self._read_attributes: dict[int, Attribute] = {}
        self._read_links: dict[int, bool] = {}

    @property
    def attributes(self) -> int:
        return len(self._attributes)

    @property
    def links(self) -> int:
        return len(self._links)

    @property
    def functions(self) -> int:
        return len(self._functions)

    @property
    def stacks(self) -> int:
        return len(self._stacks)

    def has_text_keys(self) -> bool:
        """Return True if attributes are KeyValues, as up to OTLP 1.7."""
        return any(
            number == 1 and isinstance(content, bytes)
            for start, stop in self._attributes[:2].tolist()
            for number, content in attributes.fields(self._body[start:stop])
        )

    def string(self, index: int) -> bytes:
        """Return a string as it was sent. Raise `BadProfile` if there is none at the index."""
        if not 0 <= index < len(self._strings):
            raise BadProfile(
                f"String index {index} is out of range: the table has {len(self._strings)} strings."
            )
        start, stop = self._strings[index].tolist()
        return self._body[start:stop]

    def text(self, index: int) -> str:
        """Return a string as text of at most 4,096 bytes; "" for index 0."""
        return attributes.text(self.string(index)) if index else ""

    def type_text(self, index: int) -> str:
        """Return a string of a sample type, as `text` does.

        The table of async-profiler 4.1 begins with its type, not with an empty string.
        """
        return attributes.text(self.string(index)) if index or len(self._strings) else ""

    def attribute(self, index: int, revision: Revision) -> Attribute:
        """Return an attribute. Raise `BadProfile` if there is none at the index."""
        attribute = self._read_attributes.get(index)
        if attribute is None:
            start, stop = self._row("Attribute", index, self._attributes)
            message = self._body[start:stop]
            if revision is Revision.UP_TO_1_7:
                attribute = attributes.key_value(message, self.text)
            else:
                attribute = attributes.key_value_and_unit(message, self.text)
            self._read_attributes[index] = attribute
        return attribute

    def has_link(self, index: int) -> bool:
        """Return True if the link at the index has an id. Raise `BadProfile` if it is invalid."""
        found = self._read_links.get(index)
        if found is None:
            found = self._read_links[index] = self._read_link(index)
        return found

    def _read_link(self, index: int) -> bool:
        start, stop = self._row("Link", index, self._links)
        ids = {
            number: content
            for number, content in attributes.fields(self._body[start:stop])
            if isinstance(content, bytes) and any(content)
        }
        trace, span = ids.get(1, b""), ids.get(2, b"")
        if len(trace) not in (0, 16) or len(span) not in (0, 8):
            raise BadProfile(f"Link {index} has ids of {len(trace)} and {len(span)} bytes.")
        return bool(trace or span)

    def stack(self, index: int) -> list[int]:
        """Return the location indexes of a stack, the leaf first."""
        start, stop = self._row("Stack", index, self._stack_bounds)
        if stop - start > self._limits.max_depth:
            raise TooLarge(setting("max_depth"), stop - start, self._limits.max_depth)
        stack: list[int] = self._stack_locations[start:stop].tolist()
        return stack

    def innermost(self, stack: int, count: int) -> list[int]:
        """Return the location indexes of the innermost frames of a stack."""
        start, stop = self._row("Stack", stack, self._stack_bounds)
        locations: list[int] = self._stack_locations[start : min(stop, start + count)].tolist()
        return locations

    def mapping(self, index: int) -> Mapping:
        _, start, limit, offset, file = self._row("Mapping", index, self._mappings)
        ends = self._mapping_attribute_ends
        attributes = self._mapping_attributes[int(ends[index - 1]) if index else 0 : ends[index]]
        return Mapping(start, limit, offset, file, tuple(attributes.tolist()))

    def build_id(self, mapping: Mapping, revision: Revision) -> bytes:
        """Return the build id that the attributes of a mapping state; b"" if there is none."""
        stated = dict(
            self.attribute(index, revision)[:2] for index in mapping.attributes[:_MOST_ATTRIBUTES]
        )
        return next((stated[key].encode() for key in _BUILD_IDS if stated.get(key)), b"")

    def location(self, index: int) -> Location:
        _, mapping, address = self._row("Location", index, self._locations)
        if not mapping and not self._is_mapping_0(index):
            mapping = -1
        first = int(self._line_ends[index - 1]) if index else 0
        lines = self._lines[first : int(self._line_ends[index]), 1:].tolist()
        return Location(mapping, address, [(function, line) for function, line in lines])

    def _is_mapping_0(self, location: int) -> bool:
        """Return True if the location states index 0, and the first mapping is not the zero value.

        Up to OTLP 1.7 the field is optional, and senders begin their tables with a real mapping.
        """
        is_stated = self._location_types[location, 1] == 0
        return is_stated and len(self._mappings) > 0 and bool(self._mappings[0].any())

    def function(self, index: int) -> SharedFunction:
        return SharedFunction(*self._row("Function", index, self._functions)[1:])

    def function_name(self, location: int) -> str:
        """Return the name of the innermost function of a location; "" without one."""
        lines = self.location(location).lines
        return self.text(self.function(lines[0][0]).name) if lines else ""

    def _row(
        self, kind: str, index: int, table: NDArray[np.int64] | NDArray[np.uint64]
    ) -> list[int]:
        if not 0 <= index < len(table):
            raise BadProfile(
                f"{kind} index {index} is out of range: the table has {len(table)} entries."
            )
        row: list[int] = table[index].tolist()
        return row
