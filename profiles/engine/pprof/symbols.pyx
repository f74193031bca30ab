"""Symbols of a pprof profile: its strings, functions, mappings and locations, as frames.

Strings are bytes, and most are never decoded. Every index is checked, because the profile comes
from untrusted senders.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from profiles.engine.hashing cimport (
    HIGH_BITS,
    KeyTable,
    bytes_id,
    pair_id,
    raise_out_of_bounds,
    string_id,
)
from profiles.engine.pprof.wire cimport (
    BYTES,
    VARINT,
    Field,
    RowIndex,
    WireReader,
    varint_fields,
)

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.hashing import function_ids
from profiles.engine.pprof.binaries import Binary, read_build_id
from profiles.engine.pprof.limits import (
    MAX_NAME_BYTES,
    TRACE_ID_MARK,
    TRACE_KEY_MARK,
    TRACE_KEYS,
    setting,
)

cdef enum:
    UNCHECKED = 128  # value of is_replaced until the string is checked
    MARK_BYTES = 19  # appended to a truncated string: an ellipsis and a hash

cdef Py_ssize_t NAME_BYTES = MAX_NAME_BYTES
cdef bytes UNKNOWN = b"?"  # name of frames with neither name nor address
_TRACE_KEY_IDS = np.array([bytes_id(key) for key in TRACE_KEYS], np.uint64)


@cython.final
cdef class ProfileStrings:
    """Strings in the order of the profile; then the empty one, `?`, and generated ones."""

    cdef WireReader reader
    cdef Py_ssize_t[:, ::1] ranges  # byte range of each string in the profile
    cdef Py_ssize_t empty  # number of the empty string after those of the profile
    cdef Py_ssize_t unknown  # number of UNKNOWN
    cdef dict replacements  # bytes of strings that differ from the profile or are generated
    cdef uint8_t[::1] is_replaced  # nonzero for the keys of `replacements`
    cdef uint64_t[::1] ids

    def __init__(self, WireReader reader, Py_ssize_t[:, ::1] ranges):
        if ranges.shape[0] and ranges[0, 0] != ranges[0, 1]:
            raise BadProfile("Not a pprof profile: the first string of its table is not empty.")
        self.reader = reader
        self.ranges = ranges
        self.empty, self.unknown = ranges.shape[0], ranges.shape[0] + 1
        self.replacements = {self.empty: b"", self.unknown: UNKNOWN}
        self.is_replaced = np.zeros(ranges.shape[0] + 2, np.uint8)
        self.ids = np.empty(ranges.shape[0] + 2, np.uint64)
        self.replace_unusable()
        for i in (self.empty, self.unknown):
            self.is_replaced[i], self.ids[i] = True, bytes_id(self.replacements[i])

    cdef replace_unusable(self):
        """Replace strings that are too long, not UTF-8, contain NUL bytes, or are U+0001 alone.

        The last has the id of the empty string.
        """
        cdef Py_ssize_t i, start, stop, unusual = 0
        cdef uint64_t special
        with nogil:
            for i in range(self.empty):
                start, stop = self.ranges[i, 0], self.ranges[i, 1]
                special = HIGH_BITS
                if stop - start <= NAME_BYTES:
                    special = 0
                    self.ids[i] = string_id(self.reader.data, start, stop, &special)
                    if stop - start == 1 and self.reader.data[start] == 1:
                        special = HIGH_BITS
                if special & <uint64_t>HIGH_BITS:
                    self.is_replaced[i] = UNCHECKED
                    unusual += 1
        if unusual:
            for i in np.flatnonzero(self.is_replaced).tolist():
                self.replace_if_unusable(i)

    cdef replace_if_unusable(self, Py_ssize_t i):
        """Replace the string if it cannot be used unchanged."""
        cdef Py_ssize_t start = self.ranges[i, 0], stop = self.ranges[i, 1]
        data = self.reader.copy_bytes(start, min(stop, start + NAME_BYTES))
        text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
        usable = ("\ufffd" if text == "\1" else text).encode()
        if stop - start > NAME_BYTES or len(usable) > NAME_BYTES:
            usable = self.truncate(usable, start, stop)
        self.is_replaced[i] = usable != data
        if self.is_replaced[i]:
            self.replacements[i] = usable
            self.ids[i] = bytes_id(usable)

    cdef bytes truncate(self, bytes usable, Py_ssize_t start, Py_ssize_t stop):
        """Truncate a string and append an ellipsis and a hash: different strings stay different."""
        cdef uint64_t special = 0, whole
        with nogil:
            whole = string_id(self.reader.data, start, stop, &special)
        prefix = usable[: NAME_BYTES - MARK_BYTES].decode("utf-8", "ignore")
        return f"{prefix}…{whole:016x}".encode()

    def is_changed(self, uint64_t string):
        """Return True if this string of the profile was replaced."""
        return bool(self.is_replaced[self.check_number(string)])

    def sizes(self, const uint64_t[::1] numbers):
        """Return the size in bytes of each of these strings of the profile, int64 [N]."""
        all_sizes = np.empty(numbers.shape[0], np.int64)
        cdef int64_t[::1] sizes = all_sizes
        cdef Py_ssize_t i
        for i in range(numbers.shape[0]):
            sizes[i] = self.size(self.check_number(numbers[i]))
        return all_sizes

    cdef Py_ssize_t size(self, Py_ssize_t i) except -1:
        if self.is_replaced[i]:
            return len(<bytes>self.replacements[i])
        return self.ranges[i, 1] - self.ranges[i, 0]

    def mark_trace_links(self):
        """Return which strings are keys of labels with ids of traces, and which such ids.

        The result has TRACE_KEY_MARK or TRACE_ID_MARK at the number of each, uint8 [N]; it is empty
        if the profile has none of the keys.
        """
        keys = np.isin(self.ids[: self.empty], _TRACE_KEY_IDS)
        if not keys.any():
            return np.empty(0, np.uint8)
        marks = np.zeros(self.empty, np.uint8)
        marks[keys] = TRACE_KEY_MARK
        cdef uint8_t[::1] mark = marks
        cdef uint8_t id_mark = TRACE_ID_MARK
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.empty):
                if self.is_hexadecimal_id(i):
                    mark[i] = id_mark
        return marks

    cdef bint is_hexadecimal_id(self, Py_ssize_t i) except -1 nogil:
        """Return True for the id of a trace, span or profile: 16 or 32 hexadecimal digits."""
        cdef Py_ssize_t start = self.ranges[i, 0], stop = self.ranges[i, 1], at
        cdef uint8_t letter
        if stop - start != 16 and stop - start != 32:
            return False
        for at in range(start, stop):
            letter = self.reader.data[at]
            if not (c"0" <= letter <= c"9" or c"a" <= letter | 32 <= c"f"):
                return False
        return True

    cdef append(self, list strings):
        """Append generated strings (bytes)."""
        if not strings:
            return
        count = len(self.ids)
        for i, data in enumerate(strings, count):
            self.replacements[i] = data
        ids = np.array([bytes_id(data) for data in strings], np.uint64)
        self.ids = np.concatenate((self.ids, ids))
        self.is_replaced = np.concatenate((self.is_replaced, np.ones(len(strings), np.uint8)))

    cdef Py_ssize_t check_number(self, uint64_t string) except -1 nogil:
        """Return the string number if it is valid. Raise `BadProfile` if it is not."""
        if string != 0 and string >= <uint64_t>self.empty:
            with gil:
                raise BadProfile(f"String index {string} is out of range, {self.empty} strings.")
        return <Py_ssize_t>string

    cdef bint is_empty(self, uint64_t string) except -1 nogil:
        cdef Py_ssize_t i = self.check_number(string)
        return i == self.empty or self.ranges[i, 0] == self.ranges[i, 1]

    cdef bytes encoded(self, Py_ssize_t i):
        if self.is_replaced[i]:
            return self.replacements[i]
        return self.reader.copy_bytes(self.ranges[i, 0], self.ranges[i, 1])

    def text(self, uint64_t string):
        """Return a string of the profile as str."""
        return self.encoded(self.check_number(string)).decode()

    cdef concatenate(self, const int32_t[::1] numbers, allowed):
        """Concatenate strings: (bytes, ends int64 [len(numbers)])."""
        all_ends = np.empty(numbers.shape[0], np.int64)
        cdef int64_t[::1] ends = all_ends
        cdef uint8_t[::1] out
        cdef Py_ssize_t k, i, to = 0
        for k in range(numbers.shape[0]):
            to += self.size(numbers[k])
            ends[k] = to
        check_limit(allowed, to)
        data = np.empty(to, np.uint8)
        out = data
        to = 0
        for k in range(numbers.shape[0]):
            i = numbers[k]
            if self.is_replaced[i]:
                self.copy(self.replacements[i], 0, out, to, ends[k])
            else:
                self.copy(self.reader.data, self.ranges[i, 0], out, to, ends[k])
            to = ends[k]
        return data.tobytes(), all_ends

    cdef copy(
        self,
        const uint8_t[::1] data,
        Py_ssize_t start,
        uint8_t[::1] out,
        Py_ssize_t to,
        Py_ssize_t end,
    ):
        """Copy from `start` of data to the range from `to` to `end` of `out`."""
        if end == to:
            return
        if start < 0 or to < 0 or start + end - to > data.shape[0] or end > out.shape[0]:
            raise_out_of_bounds()
        memcpy(&out[to], &data[start], end - to)


def check_limit(allowed, Py_ssize_t value):
    """Raise `TooLarge` if `value` exceeds the limit (limits.Allowed)."""
    if value > allowed.most:
        raise TooLarge(allowed.limit, value, allowed.most, allowed.unit)


@cython.final
cdef class StringNumbering:
    """Numbers of the distinct strings in use, in order of first use."""

    cdef ProfileStrings strings
    cdef KeyTable ids  # string ids
    cdef int32_t[::1] string  # one string of the profile for each number
    cdef int32_t[::1] number_of  # number + 1 of each string of the profile; 0 if unused

    def __init__(self, ProfileStrings strings, Py_ssize_t most):
        """Create the tables for at most `most` uses."""
        most = min(most, strings.ids.shape[0])
        self.strings = strings
        self.ids = KeyTable(most, "", most)
        self.string = np.empty(most, np.int32)
        self.number_of = np.zeros(strings.ids.shape[0], np.int32)

    cdef int32_t number(self, int32_t source) except -1 nogil:
        cdef Py_ssize_t number
        if self.number_of[source] == 0:
            number = self.ids.insert(self.strings.ids[source])
            self.number_of[source] = <int32_t>(number + 1)
            self.string[number] = source
        return self.number_of[source] - 1

    cdef table(self, allowed):
        """Return the strings (bytes, ends int64). Raise `TooLarge` beyond `allowed` bytes."""
        return self.strings.concatenate(self.string[: self.ids.count], allowed)


cdef uint64_t MAX_LINE = 2**31 - 1

cdef enum:  # field numbers, used as columns of the result of varint_fields()
    FUNCTION_NAME = 2
    FUNCTION_SYSTEM_NAME = 3
    FUNCTION_FILE = 4
    FUNCTION_START_LINE = 5


@cython.final
cdef class FunctionTable:
    """Rows of the profile's function table, the unknown function, and generated functions."""

    cdef ProfileStrings strings
    cdef readonly RowIndex index
    cdef readonly bint has_replaced_ids  # all ids were 0
    cdef int32_t[::1] name  # string number of each function; `strings.empty` if none
    cdef int32_t[::1] file
    cdef int32_t[::1] start_line  # 0 if unknown
    cdef uint64_t[::1] id
    cdef Py_ssize_t unknown

    def __init__(self, WireReader reader, ProfileStrings strings, ranges, locations):
        table = varint_fields(reader, ranges, FUNCTION_START_LINE + 1)
        self.strings = strings
        # Early profilers of .NET wrote the id 0 for every function, and a function for each
        # location, to whose id the lines of the location point.
        if len(table) and len(table) == len(locations) and not table[:, 1].any():
            table[:, 1] = varint_fields(reader, locations, 2)[:, 1]
            self.has_replaced_ids = True
        self.index = RowIndex("function", table)
        self.unknown = table.shape[0]
        self.name = np.empty(table.shape[0] + 1, np.int32)
        self.file = np.empty(table.shape[0] + 1, np.int32)
        self.start_line = np.zeros(table.shape[0] + 1, np.int32)
        self.id = np.empty(table.shape[0] + 1, np.uint64)
        self.read_rows(table)
        self.set_row(self.unknown, strings.unknown, strings.empty)

    cdef read_rows(self, const uint64_t[:, ::1] table):
        cdef Py_ssize_t i
        with nogil:
            for i in range(table.shape[0]):
                self.read(i, table)

    cdef int read(self, Py_ssize_t i, const uint64_t[:, ::1] table) except -1 nogil:
        """Read a row, whose strings must exist; the system name replaces a missing name."""
        cdef Py_ssize_t file = self.strings.check_number(table[i, FUNCTION_FILE])
        cdef uint64_t name = table[i, FUNCTION_NAME]
        if self.strings.is_empty(name):
            name = table[i, FUNCTION_SYSTEM_NAME]
            if self.strings.is_empty(name):
                name = <uint64_t>self.strings.empty
        if table[i, FUNCTION_START_LINE] <= MAX_LINE:
            self.start_line[i] = <int32_t>table[i, FUNCTION_START_LINE]
        return self.set_row(i, <Py_ssize_t>name, file)

    cdef int set_row(self, Py_ssize_t i, Py_ssize_t name, Py_ssize_t file) except -1 nogil:
        self.name[i] = <int32_t>name
        self.file[i] = <int32_t>file
        self.id[i] = pair_id(self.strings.ids[name], self.strings.ids[file])
        return 0

    cdef inline bint is_named(self, Py_ssize_t row) except -1 nogil:
        return self.name[row] != self.strings.empty

    cdef append(self, list names, list files):
        """Add functions with these names (bytes) and files (numbers of strings)."""
        if not names:
            return
        first = len(self.strings.ids)
        self.strings.append(names)
        name = np.arange(first, first + len(names), dtype=np.int32)
        file = np.array(files, np.int32)
        ids = function_ids(self.strings.ids, name, file)
        self.name = np.concatenate((self.name, name))
        self.file = np.concatenate((self.file, file))
        self.start_line = np.concatenate((self.start_line, np.zeros(len(names), np.int32)))
        self.id = np.concatenate((self.id, ids))


cdef enum:  # field numbers, used as columns of the result of varint_fields()
    MAPPING_START = 2
    MAPPING_OFFSET = 4
    MAPPING_FILE = 5
    MAPPING_BUILD_ID = 6
    LOCATION_MAPPING = 2
    LOCATION_ADDRESS = 3
    LOCATION_LINE = 4


@cython.final
cdef class SymbolTable:
    """Distinct frames, and the frames of each location (innermost first).

    After the profile's locations there is an empty one, for samples without a stack.
    """

    cdef WireReader reader
    cdef readonly ProfileStrings strings
    cdef object string_limit
    cdef uint64_t[:, ::1] mappings
    cdef list binaries  # Binary of each mapping, None for unused ones
    cdef int32_t[::1] mapping_name  # string of each mapping's Binary.mapping
    cdef uint64_t[:, ::1] locations
    cdef RowIndex mapping_index
    cdef FunctionTable functions
    cdef readonly RowIndex location_index
    cdef int32_t[::1] line_function  # function of each line
    cdef int32_t[::1] line_number
    cdef Py_ssize_t max_lines
    cdef readonly int32_t[::1] first  # [locations + 1]
    cdef readonly int32_t[::1] frame_of  # frame of each line
    cdef readonly KeyTable frames  # frame ids
    cdef int32_t[::1] function  # [frames], like the following
    cdef int32_t[::1] line
    cdef int32_t[::1] mapping

    def __init__(self, WireReader reader, ProfileStrings strings, dict ranges, limits):
        self.reader = reader
        self.strings = strings
        self.string_limit = limits.compute_string_limit(reader.data.shape[0])
        self.mappings = varint_fields(reader, ranges["mappings"], 7)
        self.mapping_index = RowIndex("mapping", self.mappings)
        self.functions = FunctionTable(
            reader, self.strings, ranges["functions"], ranges["locations"]
        )
        self.read_locations(ranges["locations"], limits)
        self.location_index = RowIndex("location", self.locations[: self.locations.shape[0] - 1])
        self.name_mappings()
        self.name_unsymbolised()
        self.make_frames()

    @property
    def has_replaced_function_ids(self):
        """Return True if all functions had the id 0, and got those of the locations."""
        return self.functions.has_replaced_ids

    cdef read_locations(self, const Py_ssize_t[:, ::1] ranges, limits):
        """Read the locations and their named lines, in order of location."""
        cdef Py_ssize_t i, count = ranges.shape[0]
        # A line takes at least two bytes, and a location without lines gets a frame of its own.
        cdef Py_ssize_t room = count + 1
        for i in range(count):
            room += (ranges[i, 1] - ranges[i, 0]) // 2
        self.max_lines = limits.max_symbols
        room = min(room, self.max_lines + count + 1)
        self.locations = np.zeros((count + 1, 4), np.uint64)
        self.line_function = np.empty(room, np.int32)
        self.line_number = np.empty(room, np.int32)
        self.first = np.zeros(count + 2, np.int32)
        with nogil:
            for i in range(count):
                self.first[i + 1] = self.first[i]
                self.read_location(i, ranges[i, 0], ranges[i, 1])
                self.set_unnamed(i)
            self.first[count + 1] = self.first[count]
            self.set_unnamed(count)

    cdef int set_unnamed(self, Py_ssize_t i) except -1 nogil:
        if self.first[i + 1] == self.first[i]:
            self.line_function[self.first[i]] = -1
            self.line_number[self.first[i]] = 0
            self.first[i + 1] += 1
        return 0

    cdef int read_location(self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef Field field
        field.at = start
        while self.reader.next_field(&field, stop):
            if field.wire_type == VARINT and field.number < LOCATION_LINE:
                self.locations[i, field.number] = field.value
            elif field.wire_type == BYTES and field.number == LOCATION_LINE:
                self.read_line(&self.first[i + 1], field.start, field.stop)
        return 0

    cdef int read_line(self, int32_t* at, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        """Append a line at `at` and advance it; lines without a function name are skipped."""
        cdef Field field
        cdef Py_ssize_t function
        cdef uint64_t function_id = 0, line = 0
        field.at = start
        while self.reader.next_field(&field, stop):
            if field.wire_type == VARINT and field.number == 1:
                function_id = field.value
            elif field.wire_type == VARINT and field.number == 2:
                line = field.value
        function = self.functions.index.find(function_id)
        if function >= 0 and self.functions.is_named(function):
            if at[0] >= self.line_function.shape[0]:
                with gil:
                    raise TooLarge(setting("max_symbols"), self.max_lines + 1, self.max_lines)
            self.line_function[at[0]] = <int32_t>function
            self.line_number[at[0]] = <int32_t>line if line <= MAX_LINE else 0
            at[0] += 1
        return 0

    cdef name_unsymbolised(self):
        """Generate functions `binary+0x…` for locations without a named line."""
        cdef Py_ssize_t i, row, first = self.functions.name.shape[0], size = 0, before
        names = {}  # by name and file
        files = {}
        for i in range(self.locations.shape[0]):
            if self.line_function[self.first[i]] >= 0:
                continue
            row = self.mapping_index.find(self.locations[i, LOCATION_MAPPING])
            name = self.unsymbolised(i, row)
            if name is None:
                self.line_function[self.first[i]] = <int32_t>self.functions.unknown
                continue
            file = self.binaries[row].function_file.encode() if row >= 0 else b""
            before = len(names)
            self.line_function[self.first[i]] = first + names.setdefault((name, file), before)
            if len(names) > before:
                size += len(name)
                if file and file not in files:
                    files[file] = len(files)
                    size += len(file)
                check_limit(self.string_limit, size)
        before = self.strings.ids.shape[0]
        self.strings.append(list(files))
        self.functions.append(
            [name for name, _ in names],
            [before + files[file] if file else self.strings.empty for _, file in names],
        )

    cdef bytes unsymbolised(self, Py_ssize_t location, Py_ssize_t row):
        """Return the generated name of a location; None if nothing is known about it.

        `row` is that of its mapping, -1 for none.
        """
        cdef uint64_t address = self.locations[location, LOCATION_ADDRESS]
        if row < 0:
            return f"0x{address:x}".encode() if address else None
        name = self.binaries[row].name
        if address == 0:
            return name.encode()
        if address >= self.mappings[row, MAPPING_START]:
            address += self.mappings[row, MAPPING_OFFSET] - self.mappings[row, MAPPING_START]
        return f"{name}+0x{address:x}".encode()

    cdef make_frames(self):
        cdef Py_ssize_t i, at, lines = self.first[self.first.shape[0] - 1]
        cdef int32_t mapping
        self.frame_of = np.empty(lines, np.int32)
        self.frames = KeyTable(lines, "", lines)
        self.function = np.empty(lines, np.int32)
        self.line = np.empty(lines, np.int32)
        self.mapping = np.empty(lines, np.int32)
        with nogil:
            for i in range(self.locations.shape[0]):
                mapping = self.mapping_of(i)
                for at in range(self.first[i], self.first[i + 1]):
                    self.frame_of[at] = <int32_t>self.insert_frame(at, mapping)

    cdef int32_t mapping_of(self, Py_ssize_t location) except -1 nogil:
        """Return the string with the mapping of a location's binary."""
        cdef Py_ssize_t row = self.mapping_index.find(self.locations[location, LOCATION_MAPPING])
        return self.mapping_name[row] if row >= 0 else <int32_t>self.strings.empty

    cdef Py_ssize_t insert_frame(self, Py_ssize_t at, int32_t mapping) except -1 nogil:
        """Find or create the frame of a line."""
        cdef Py_ssize_t function = self.line_function[at], before = self.frames.count, frame
        cdef uint64_t line = <uint64_t>self.line_number[at]
        cdef int32_t[::1] start_line = self.functions.start_line
        frame = self.frames.insert(pair_id(self.functions.id[function], line))
        if frame < before:
            self.prefer_mapping(frame, mapping)
            # Of equal functions, the one that begins last, independent of the order.
            if start_line[function] > start_line[self.function[frame]]:
                self.function[frame] = <int32_t>function
            return frame
        self.function[frame] = <int32_t>function
        self.line[frame] = self.line_number[at]
        self.mapping[frame] = mapping
        return frame

    cdef name_mappings(self):
        """Generate the strings that stand for the binaries of mappings in use."""
        cdef Py_ssize_t i, row, size = 0, first = self.strings.ids.shape[0], before
        cdef uint8_t[::1] used = np.zeros(self.mappings.shape[0], np.uint8)
        with nogil:
            for i in range(self.mappings.shape[0]):
                self.strings.check_number(self.mappings[i, MAPPING_FILE])
                self.strings.check_number(self.mappings[i, MAPPING_BUILD_ID])
            for i in range(self.locations.shape[0]):
                row = self.mapping_index.find(self.locations[i, LOCATION_MAPPING])
                if row >= 0:
                    used[row] = True
        self.mapping_name = np.full(self.mappings.shape[0], self.strings.empty, np.int32)
        self.binaries = [None] * self.mappings.shape[0]
        numbers = {}
        for i in range(used.shape[0]):
            if not used[i]:
                continue
            build_id = read_build_id(self.strings.text(self.mappings[i, MAPPING_BUILD_ID]))
            binary = Binary(build_id, self.strings.text(self.mappings[i, MAPPING_FILE]))
            self.binaries[i] = binary
            mapping = binary.mapping.encode()
            if mapping:
                before = len(numbers)
                self.mapping_name[i] = first + numbers.setdefault(mapping, before)
                if len(numbers) > before:
                    size += len(mapping)
                    check_limit(self.string_limit, size)
        self.strings.append(list(numbers))

    cdef int prefer_mapping(self, Py_ssize_t frame, int32_t other) except -1 nogil:
        """Choose one mapping for a frame: the greater string id, independent of the order."""
        cdef int32_t now = self.mapping[frame]
        if other == self.strings.empty or other == now:
            return 0
        if now == self.strings.empty or self.strings.ids[other] > self.strings.ids[now]:
            self.mapping[frame] = other
        return 0

    def used_frames(self, int32_t[::1] of_nodes):
        """Return the frames in use; `of_nodes` is rewritten to their new numbers.

        The result is (bytes, ends of the strings; id, name, file of the functions; function, line,
        mapping of the frames; start line of the functions). Functions and strings are distinct; all
        are numbered by first use.
        """
        cdef const int32_t[::1] used = renumber(of_nodes, self.frames.count)
        cdef Py_ssize_t most = min(used.shape[0], self.functions.id.shape[0])
        frames, functions = np.empty((3, used.shape[0]), np.int32), np.zeros((3, most), np.int32)
        cdef StringNumbering strings = StringNumbering(self.strings, 2 * most + used.shape[0])
        cdef KeyTable ids = KeyTable(most, "", most)
        self.fill(used, ids, strings, functions, frames)
        data, ends = strings.table(self.string_limit)
        name, file, start_line = functions[:, : ids.count]
        return data, ends, ids.table(), name, file, *frames, start_line

    cdef fill(
        self,
        const int32_t[::1] used,
        KeyTable ids,
        StringNumbering strings,
        int32_t[:, ::1] functions,
        int32_t[:, ::1] frames,
    ):
        """Fill the tables of frames in use.

        functions has name, file and start line; frames has function, line and mapping.
        """
        # Number + 1 of each function; 0 if unused.
        cdef int32_t[::1] new_number = np.zeros(self.functions.id.shape[0], np.int32)
        cdef Py_ssize_t j, row, number, before
        with nogil:
            for j in range(used.shape[0]):
                row = self.function[used[j]]
                if new_number[row] == 0:
                    before = ids.count
                    number = ids.insert(self.functions.id[row])
                    new_number[row] = <int32_t>(number + 1)
                    if number == before:
                        functions[0, number] = strings.number(self.functions.name[row])
                        functions[1, number] = strings.number(self.functions.file[row])
                    # The greatest of equal functions, independent of their order.
                    functions[2, number] = max(
                        functions[2, number], self.functions.start_line[row]
                    )
                frames[0, j] = new_number[row] - 1
                frames[1, j] = self.line[used[j]]
                frames[2, j] = strings.number(self.mapping[used[j]])


cdef renumber(int32_t[::1] index, Py_ssize_t count):
    """Return the numbers below `count` in `index`, by first use, and renumber `index`."""
    numbers = np.empty(count, np.int32)
    cdef int32_t[::1] old_number = numbers
    cdef int32_t[::1] new_number = np.zeros(count, np.int32)  # number + 1; 0 if unused
    cdef Py_ssize_t i, used = 0
    with nogil:
        for i in range(index.shape[0]):
            if new_number[index[i]] == 0:
                old_number[used] = index[i]
                used += 1
                new_number[index[i]] = <int32_t>used
            index[i] = new_number[index[i]] - 1
    return numbers[:used]
