"""Protobuf's wire format, and the tables of embedded messages of a pprof profile.

Every bound is checked, because the bytes come from untrusted senders. Invalid bytes raise
`BadProfile`.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from profiles.engine.hashing cimport KeyTable, raise_out_of_bounds

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, setting


@cython.final
cdef class WireReader:
    """Bytes of a profile and their parser.

    Its functions are methods, because passing memory views along is expensive. `kind` is the
    noun of the message, for errors.
    """

    def __init__(self, const uint8_t[::1] data, str kind="pprof profile"):
        self.data = data
        self.kind = kind

    @property
    def size(self):
        """Size of the profile in bytes."""
        return self.data.shape[0]

    cdef bytes copy_bytes(self, Py_ssize_t start, Py_ssize_t stop):
        """Copy a range of bytes; a slice of the view would cost an extra object per string."""
        if start < 0 or start > stop or stop > self.data.shape[0]:
            raise_out_of_bounds()
        return (<const char*>&self.data[start])[: stop - start] if start < stop else b""

    cdef int next_long_field(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Read a field whose tag or value is longer than in most fields, or invalid."""
        cdef uint64_t tag = self.read_varint(&field.at, end), value
        field.number = <int>(tag >> 3)
        field.wire_type = <int>(tag & 7)
        if tag < 8 or tag >> 3 > 0x1FFFFFFF:
            self.raise_malformed(field.at)
        if field.wire_type == VARINT:
            field.value = self.read_varint(&field.at, end)
            return 1
        if field.wire_type == BYTES:
            value = self.read_varint(&field.at, end)
            if value > <uint64_t>(end - field.at):
                self.raise_truncated(field.at)
            field.start = field.at
            field.stop = field.at = field.at + <Py_ssize_t>value
            return 1
        return self.skip_fixed(field, end)

    cdef int skip_fixed(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Skip a fixed-size number: profiles use none."""
        cdef Py_ssize_t size = 8 if field.wire_type == 1 else 4
        if field.wire_type != 1 and field.wire_type != 5:
            self.raise_malformed(field.at)
        if size > end - field.at:
            self.raise_truncated(field.at)
        field.at += size
        return 1

    # The error return value is a number that practically no profile contains, because the GIL is
    # taken to check for an exception whenever it is returned.
    cdef uint64_t read_long_varint(
        self, Py_ssize_t* at, Py_ssize_t end
    ) except? 0x9D5C2A6F31B7E48D nogil:
        cdef Py_ssize_t position = at[0]
        cdef uint64_t value = 0
        cdef int shift = 0
        cdef uint8_t byte = 128
        while position < end and shift < 64:
            byte = self.data[position]
            position += 1
            value |= (<uint64_t>(byte & 127)) << shift
            if byte < 128:
                at[0] = position
                return value
            shift += 7
        if shift >= 64:
            self.raise_malformed(position)
        self.raise_truncated(position)
        return 0x9D5C2A6F31B7E48D

    cdef int raise_truncated(self, Py_ssize_t at) except -1 nogil:
        with gil:
            raise BadProfile(f"The profile is truncated: the field at byte {at} is incomplete.")

    cdef int raise_malformed(self, Py_ssize_t at) except -1 nogil:
        with gil:
            raise BadProfile(f"Not a {self.kind}: no valid field at byte {at}.")


# Field numbers of message Profile in pprof's profile.proto.
MESSAGES = {
    "sample_types": 1,
    "samples": 2,
    "mappings": 3,
    "locations": 4,
    "functions": 5,
    "strings": 6,
}
SCALARS = {"time": 9, "duration": 10, "default_type": 14}
cdef enum:
    SAMPLE_TYPES = 1
    LAST_MESSAGE = 6
    COMMENTS = 13  # string numbers, packed or not
    FIELDS = 15  # greater than all of these


cdef class ProfileFields:
    """Byte ranges of embedded messages by kind, intp [count, 2]; and the scalar fields."""

    cdef readonly dict ranges
    cdef readonly dict scalars
    cdef readonly bint has_comments

    def __init__(self, WireReader reader, limits):
        cdef Py_ssize_t[FIELDS] counts, next_row
        cdef int64_t[FIELDS] scalars
        cdef Py_ssize_t last = 0
        memset(counts, 0, sizeof(counts))
        memset(scalars, 0, sizeof(scalars))
        with nogil:
            count_fields(reader, counts, scalars)
        check_counts(counts, limits)
        self.scalars = {name: scalars[<int>number] for name, number in SCALARS.items()}
        self.has_comments = scalars[COMMENTS] != 0
        self.ranges = {}
        table = np.empty((sum([counts[<int>number] for number in MESSAGES.values()]), 2), np.intp)
        for kind, number in MESSAGES.items():
            next_row[<int>number] = last
            last += counts[<int>number]
            self.ranges[kind] = table[next_row[<int>number] : last]
        fill_ranges(reader, table, next_row)


cdef check_counts(const Py_ssize_t* counts, limits):
    if counts[SAMPLE_TYPES] > MAX_SAMPLE_TYPES:
        raise BadProfile(
            f"The profile has {counts[SAMPLE_TYPES]} sample types; the limit is {MAX_SAMPLE_TYPES}."
        )
    for kind, number in MESSAGES.items():
        field = "max_samples" if kind == "samples" else "max_symbols"
        allowed = getattr(limits, field)
        if counts[<int>number] > allowed:
            raise TooLarge(setting(field), counts[<int>number], allowed)


cdef int count_fields(WireReader reader, Py_ssize_t* counts, int64_t* scalars) except -1 nogil:
    """Count the embedded messages, and read the scalars; both arrays have FIELDS entries."""
    cdef Field field
    field.at = 0
    while reader.next_field(&field, reader.data.shape[0]):
        if field.wire_type == BYTES and field.number <= LAST_MESSAGE:
            counts[field.number] += 1
        elif field.number == COMMENTS:
            scalars[COMMENTS] = 1
        elif field.wire_type == VARINT and field.number < FIELDS:
            scalars[field.number] = <int64_t>field.value
    return 0


cdef int fill_ranges(
    WireReader reader, Py_ssize_t[:, ::1] table, Py_ssize_t* next_row
) except -1:
    cdef Field field
    cdef Py_ssize_t row
    field.at = 0
    with nogil:
        while reader.next_field(&field, reader.data.shape[0]):
            if field.wire_type == BYTES and field.number <= LAST_MESSAGE:
                row = next_row[field.number]
                table[row, 0] = field.start
                table[row, 1] = field.stop
                next_row[field.number] = row + 1
    return 0


cpdef varint_fields(WireReader reader, const Py_ssize_t[:, ::1] ranges, Py_ssize_t width):
    """Read the varint fields below `width` of each message, uint64 [count, width]; 0 if absent."""
    values = np.zeros((ranges.shape[0], width), np.uint64)
    cdef uint64_t[:, ::1] table = values
    cdef Field field
    cdef Py_ssize_t i
    with nogil:
        for i in range(ranges.shape[0]):
            field.at = ranges[i, 0]
            while reader.next_field(&field, ranges[i, 1]):
                if field.wire_type == VARINT and field.number < width:
                    table[i, field.number] = field.value
    return values


def comment_strings(WireReader reader, Py_ssize_t most):
    """Return the string numbers of a profile's comments, at most `most` of them."""
    cdef Field field
    cdef Py_ssize_t at
    strings = []
    field.at = 0
    while len(strings) < most and reader.next_field(&field, reader.data.shape[0]):
        if field.number != COMMENTS:
            continue
        if field.wire_type == VARINT:
            strings.append(field.value)
        elif field.wire_type == BYTES:
            at = field.start
            while at < field.stop and len(strings) < most:
                strings.append(reader.read_varint(&at, field.stop))
    return strings


@cython.final
cdef class RowIndex:
    """Lookup of rows of `table` by the id in column 1; ids may be sparse, or 64 bits wide."""

    def __init__(self, str kind, const uint64_t[:, ::1] table):
        cdef Py_ssize_t i
        cdef uint64_t highest = 0
        self.kind = kind
        for i in range(table.shape[0]):
            highest = max(highest, table[i, 1])
        self.is_dense = highest <= <uint64_t>(4 * table.shape[0] + 64)
        if self.is_dense:
            self.rows = np.zeros(highest + 1, np.int32)
        else:
            self.ids = KeyTable(table.shape[0], "", table.shape[0])
        with nogil:
            for i in range(table.shape[0]):
                self.insert(table[i, 1], i)

    cdef int insert(self, uint64_t key, Py_ssize_t row) except -1 nogil:
        if key == 0:
            with gil:
                raise BadProfile(f"A {self.kind} has the id 0, which is reserved.")
        if self.row(key) >= 0:
            with gil:
                raise BadProfile(f"Two {self.kind}s have the id {key}.")
        if self.is_dense:
            self.rows[<Py_ssize_t>key] = <int32_t>(row + 1)
        else:
            self.ids.insert(key)
        return 0

    cdef int raise_missing(self, uint64_t key) except -1 nogil:
        with gil:
            raise BadProfile(f"No {self.kind} has the id {key}.")
