"""Columns of fields over many protobuf messages of one kind.

`messages` are byte ranges, intp [M, 2], as `children` returns them. Other fields are skipped.
"""

from libc.stdint cimport int8_t, int64_t, uint64_t

from profiles.engine.pprof.wire cimport BYTES, FIXED64, VARINT, Field, WireReader

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge

ABSENT = -1


def children(
    WireReader reader,
    const Py_ssize_t[:, ::1] messages,
    int number,
    str limit,
    Py_ssize_t most,
):
    """Return the byte ranges of a length-delimited field, intp [N, 2], and each message's end.

    The ends, int64 [M], are indexes into the ranges. Raise `TooLarge`, which names `limit`, if
    there are more than `most` ranges.
    """
    all_ends = np.empty(messages.shape[0], np.int64)
    cdef int64_t[::1] ends = all_ends
    cdef Py_ssize_t i, count = 0
    cdef Field field
    with nogil:
        for i in range(messages.shape[0]):
            field.at = messages[i, 0]
            while reader.next_field(&field, messages[i, 1]):
                count += field.number == number and field.wire_type == BYTES
            ends[i] = count
    if count > most:
        raise TooLarge(limit, count, most)
    table = np.empty((count, 2), np.intp)
    fill_children(reader, messages, number, table)
    return table, all_ends


cdef int fill_children(
    WireReader reader, const Py_ssize_t[:, ::1] messages, int number, Py_ssize_t[:, ::1] table
) except -1:
    cdef Py_ssize_t i, row = 0
    cdef Field field
    with nogil:
        for i in range(messages.shape[0]):
            field.at = messages[i, 0]
            while reader.next_field(&field, messages[i, 1]):
                if field.number == number and field.wire_type == BYTES:
                    table[row, 0] = field.start
                    table[row, 1] = field.stop
                    row += 1
    return 0


def scalars(WireReader reader, const Py_ssize_t[:, ::1] messages, Py_ssize_t width):
    """Return the numbers of the fields below `width`: (uint64 [M, width], wire types int8).

    Varints and 64-bit numbers are read, and the last of repeated ones counts. The wire type is the
    last one of the field, or `ABSENT`; the number of an absent or length-delimited field is 0.
    """
    values = np.zeros((messages.shape[0], width), np.uint64)
    wire_types = np.full((messages.shape[0], width), ABSENT, np.int8)
    cdef uint64_t[:, ::1] value = values
    cdef int8_t[:, ::1] wire_type = wire_types
    cdef Py_ssize_t i
    cdef Field field
    with nogil:
        for i in range(messages.shape[0]):
            field.at = messages[i, 0]
            while reader.next_field(&field, messages[i, 1]):
                if field.number >= width:
                    continue
                wire_type[i, field.number] = <int8_t>field.wire_type
                if field.wire_type == VARINT:
                    value[i, field.number] = field.value
                elif field.wire_type == FIXED64:
                    value[i, field.number] = read_fixed64(reader, field.at)
    return values, wire_types


cdef inline uint64_t read_fixed64(WireReader reader, Py_ssize_t end) noexcept nogil:
    """Return the little-endian number in the eight bytes before `end`."""
    cdef uint64_t value = 0
    cdef Py_ssize_t k
    for k in range(1, 9):
        value = value << 8 | reader.data[end - k]
    return value


def numbers(
    WireReader reader,
    const Py_ssize_t[:, ::1] messages,
    int number,
    str limit,
    Py_ssize_t most,
):
    """Return the elements of a repeated varint field, packed or not, and each message's end.

    Both are int64: [N], as two's complement, and [M], indexes into the first. Raise `TooLarge`,
    which names `limit`, if there are more than `most` elements.
    """
    counts = count_elements(reader, messages, number, False)
    total = int(counts.sum())
    if total > most:
        raise TooLarge(limit, total, most)
    all_values = np.empty(total, np.int64)
    fill_numbers(reader, messages, number, all_values)
    return all_values, np.cumsum(counts)


cdef int fill_numbers(
    WireReader reader, const Py_ssize_t[:, ::1] messages, int number, int64_t[::1] values
) except -1:
    cdef Py_ssize_t i, at, count = 0
    cdef Field field
    with nogil:
        for i in range(messages.shape[0]):
            field.at = messages[i, 0]
            while reader.next_field(&field, messages[i, 1]):
                if field.number != number:
                    continue
                if field.wire_type == VARINT:
                    values[count] = <int64_t>field.value
                    count += 1
                elif field.wire_type == BYTES:
                    at = field.start
                    while at < field.stop:
                        values[count] = <int64_t>reader.read_varint(&at, field.stop)
                        count += 1
    return 0


def count_elements(WireReader reader, const Py_ssize_t[:, ::1] messages, int number, bint fixed):
    """Return the number of elements of a repeated field, packed or not, int64 [M].

    Elements are varints, or 64-bit numbers if `fixed` is true. Raise `BadProfile` for a packed
    field that ends within an element.
    """
    all_counts = np.zeros(messages.shape[0], np.int64)
    cdef int64_t[::1] counts = all_counts
    cdef Py_ssize_t i, element
    cdef Field field
    with nogil:
        for i in range(messages.shape[0]):
            field.at = messages[i, 0]
            while reader.next_field(&field, messages[i, 1]):
                if field.number != number:
                    continue
                if field.wire_type == BYTES:
                    element = packed_count(reader, field.start, field.stop, fixed)
                    if element < 0:
                        raise_incomplete(number, field.start)
                    counts[i] += element
                elif field.wire_type == (FIXED64 if fixed else VARINT):
                    counts[i] += 1
    return all_counts


cdef inline Py_ssize_t packed_count(
    WireReader reader, Py_ssize_t start, Py_ssize_t stop, bint fixed
) noexcept nogil:
    """Return the number of packed elements, -1 if the last one is incomplete."""
    cdef Py_ssize_t at, count = 0
    if fixed:
        return (stop - start) // 8 if (stop - start) % 8 == 0 else -1
    if start < stop and reader.data[stop - 1] >= 128:
        return -1
    for at in range(start, stop):
        count += reader.data[at] < 128
    return count


cdef int raise_incomplete(int number, Py_ssize_t at) except -1 nogil:
    with gil:
        raise BadProfile(f"The packed field {number} at byte {at} ends within a number.")
