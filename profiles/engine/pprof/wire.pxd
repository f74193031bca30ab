"""Inline parts of the parser, for the loops over messages of other modules."""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

from profiles.engine.hashing cimport KeyTable

cdef enum:  # wire types
    VARINT = 0
    FIXED64 = 1
    BYTES = 2

cdef struct Field:
    Py_ssize_t at  # offset of the next field
    int number
    int wire_type
    uint64_t value  # value of a varint
    Py_ssize_t start  # range of embedded bytes
    Py_ssize_t stop


@cython.final
cdef class WireReader:
    cdef const uint8_t[::1] data
    cdef str kind

    cdef bytes copy_bytes(self, Py_ssize_t start, Py_ssize_t stop)
    cdef int next_long_field(self, Field* field, Py_ssize_t end) except -1 nogil
    cdef int skip_fixed(self, Field* field, Py_ssize_t end) except -1 nogil
    cdef uint64_t read_long_varint(
        self, Py_ssize_t* at, Py_ssize_t end
    ) except? 0x9D5C2A6F31B7E48D nogil
    cdef int raise_truncated(self, Py_ssize_t at) except -1 nogil
    cdef int raise_malformed(self, Py_ssize_t at) except -1 nogil

    cdef inline int next_field(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Read the field at `field.at`; return 0 if none is left before `end`.

        `value` is set for numbers, `start` and `stop` for embedded bytes. Most fields
        have a short tag and value and are read here.
        """
        cdef Py_ssize_t at = field.at
        cdef uint64_t tag, value
        if at >= end:
            return 0
        if end - at < 3:
            return self.next_long_field(field, end)
        tag, value = self.data[at], self.data[at + 1]
        at += 2
        if value >= 128:
            value = (value & 127) | <uint64_t>self.data[at] << 7
            if value >= 1 << 14:
                return self.next_long_field(field, end)
            at += 1
        if tag >= 128 or tag < 8 or (tag & 7 != VARINT and tag & 7 != BYTES):
            return self.next_long_field(field, end)
        field.number = <int>(tag >> 3)
        field.wire_type = <int>(tag & 7)
        field.value = value
        if field.wire_type == BYTES:
            if <Py_ssize_t>value > end - at:
                self.raise_truncated(at)
            field.start = at
            at = field.stop = at + <Py_ssize_t>value
        field.at = at
        return 1

    cdef inline uint64_t read_varint(
        self, Py_ssize_t* at, Py_ssize_t end
    ) except? 0x9D5C2A6F31B7E48D nogil:
        cdef Py_ssize_t position = at[0]
        cdef uint8_t byte
        if position < end:
            byte = self.data[position]
            if byte < 128:  # as most are
                at[0] = position + 1
                return byte
            if position + 1 < end and self.data[position + 1] < 128:
                at[0] = position + 2
                return (byte & 127) | (<uint64_t>self.data[position + 1] << 7)
        return self.read_long_varint(at, end)

    cdef inline Py_ssize_t read_packed(
        self, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] into, Py_ssize_t filled
    ) except -1 nogil:
        """Append packed numbers after the `filled` ones; return the new count.

        If `into` cannot hold them all, the result is one more than its size.
        """
        cdef Py_ssize_t at = start, after
        cdef uint64_t value
        while at < stop:
            if filled == into.shape[0]:
                return filled + 1
            value = self.data[at]
            if value < 128:  # as most are
                at += 1
            elif at + 1 < stop and self.data[at + 1] < 128:
                value = (value & 127) | <uint64_t>self.data[at + 1] << 7
                at += 2
            else:
                after = at
                value = self.read_long_varint(&after, stop)
                at = after
            into[filled] = value
            filled += 1
        return filled


cpdef varint_fields(WireReader reader, const Py_ssize_t[:, ::1] ranges, Py_ssize_t width)


@cython.final
cdef class RowIndex:
    cdef str kind
    cdef bint is_dense  # ids are about as small as the number of rows
    cdef int32_t[::1] rows  # row + 1 by id, if dense
    cdef KeyTable ids  # ids in order of row, otherwise

    cdef int insert(self, uint64_t key, Py_ssize_t row) except -1 nogil
    cdef int raise_missing(self, uint64_t key) except -1 nogil

    cdef inline Py_ssize_t row(self, uint64_t key) except -2 nogil:
        """Return the row of an id, or -1."""
        if not self.is_dense:
            return self.ids.find(key)
        return self.rows[<Py_ssize_t>key] - 1 if key < <uint64_t>self.rows.shape[0] else -1

    cdef inline Py_ssize_t find(self, uint64_t key) except -2 nogil:
        """Return the row of an id, or -1 for id 0, which means none.

        Raise `BadProfile` if no row has the id.
        """
        cdef Py_ssize_t row
        if key == 0:
            return -1
        row = self.row(key)
        if row < 0:
            self.raise_missing(key)
        return row
