# Protobuf's wire format, read field by field.

cdef enum:
    VARINT = 0
    BYTES = 2

cdef struct Field:
    Py_ssize_t at  # offset of the next field
    int number
    int wire
    uint64_t value  # value of a varint
    Py_ssize_t start  # range of embedded bytes
    Py_ssize_t stop


@cython.final
cdef class Wire:
    """Bytes of a message and their parser.

    Its functions are methods, because passing memory views along is expensive.
    """

    cdef const uint8_t[::1] raw

    def __init__(self, const uint8_t[::1] raw):
        self.raw = raw

    @property
    def size(self):
        """Size of the message in bytes."""
        return self.raw.shape[0]

    cdef bytes piece(self, Py_ssize_t start, Py_ssize_t stop):
        """Copy a range of bytes; a slice of the view would cost an extra object per string."""
        if start < 0 or start > stop or stop > self.raw.shape[0]:
            out_of_bounds()
        return (<const char*>&self.raw[start])[: stop - start] if start < stop else b""

    cdef inline int next(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Read the field at `field.at`; return 0 if none is left before `end`.

        `value` is set for numbers, `start` and `stop` for embedded bytes.
        """
        cdef Py_ssize_t at = field.at
        cdef uint64_t tag, value
        if at >= end:
            return 0
        if end - at < 3:
            return self.next_of_any_length(field, end)
        tag, value = self.raw[at], self.raw[at + 1]
        at += 2
        if value >= 128:
            value = (value & 127) | <uint64_t>self.raw[at] << 7
            if value >= 1 << 14:
                return self.next_of_any_length(field, end)
            at += 1
        if tag >= 128 or tag < 8 or (tag & 7 != VARINT and tag & 7 != BYTES):
            return self.next_of_any_length(field, end)
        field.number = <int>(tag >> 3)
        field.wire = <int>(tag & 7)
        field.value = value
        if field.wire == BYTES:
            if <Py_ssize_t>value > end - at:
                cut_short(at)
            field.start = at
            at = field.stop = at + <Py_ssize_t>value
        field.at = at
        return 1

    cdef int next_of_any_length(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Read a field whose tag or value is longer than in most fields, or invalid."""
        cdef uint64_t tag = self.varint(&field.at, end), value
        field.number = <int>(tag >> 3)
        field.wire = <int>(tag & 7)
        if tag < 8 or tag >> 3 > 0x1FFFFFFF:
            not_protobuf(field.at)
        if field.wire == VARINT:
            field.value = self.varint(&field.at, end)
            return 1
        if field.wire == BYTES:
            value = self.varint(&field.at, end)
            if value > <uint64_t>(end - field.at):
                cut_short(field.at)
            field.start = field.at
            field.stop = field.at = field.at + <Py_ssize_t>value
            return 1
        return self.skip(field, end)

    cdef int skip(self, Field* field, Py_ssize_t end) except -1 nogil:
        """Skip a fixed-size number: profiles use none."""
        cdef Py_ssize_t size = 8 if field.wire == 1 else 4
        if field.wire != 1 and field.wire != 5:
            not_protobuf(field.at)
        if size > end - field.at:
            cut_short(field.at)
        field.at += size
        return 1

    cdef Py_ssize_t varints(
        self, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] into, Py_ssize_t filled
    ) except -1 nogil:
        """Append packed numbers after the `filled` ones; return the new count.

        If `into` cannot hold them all, the result is one more than its size.
        """
        cdef Py_ssize_t at = start, further
        cdef uint64_t value
        while at < stop:
            if filled == into.shape[0]:
                return filled + 1
            value = self.raw[at]
            if value < 128:  # as most are
                at += 1
            elif at + 1 < stop and self.raw[at + 1] < 128:
                value = (value & 127) | <uint64_t>self.raw[at + 1] << 7
                at += 2
            else:
                further = at
                value = self.long_varint(&further, stop)
                at = further
            into[filled] = value
            filled += 1
        return filled

    # The error return value is a number that practically no profile contains, because the GIL is
    # taken to check for an exception whenever it is returned.
    cdef inline uint64_t varint(
        self, Py_ssize_t* at, Py_ssize_t end
    ) except? 0x9D5C2A6F31B7E48D nogil:
        cdef Py_ssize_t place = at[0]
        cdef uint8_t byte
        if place < end:
            byte = self.raw[place]
            if byte < 128:  # as most are
                at[0] = place + 1
                return byte
            if place + 1 < end and self.raw[place + 1] < 128:
                at[0] = place + 2
                return (byte & 127) | (<uint64_t>self.raw[place + 1] << 7)
        return self.long_varint(at, end)

    cdef uint64_t long_varint(
        self, Py_ssize_t* at, Py_ssize_t end
    ) except? 0x9D5C2A6F31B7E48D nogil:
        cdef Py_ssize_t place = at[0]
        cdef uint64_t value = 0
        cdef int shift = 0
        cdef uint8_t byte = 128
        while place < end and shift < 64:
            byte = self.raw[place]
            place += 1
            value |= (<uint64_t>(byte & 127)) << shift
            if byte < 128:
                at[0] = place
                return value
            shift += 7
        if shift >= 64:
            not_protobuf(place)
        cut_short(place)
        return 0x9D5C2A6F31B7E48D


cdef int cut_short(Py_ssize_t at) except -1 nogil:
    with gil:
        raise BadProfile(f"The profile is cut short: a field at byte {at} has no end.")


cdef int not_protobuf(Py_ssize_t at) except -1 nogil:
    with gil:
        raise BadProfile(f"This is not a pprof profile: byte {at} starts no field of it.")
