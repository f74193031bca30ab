"""Columns of integers: packing, unpacking, and checks of what they refer to.

Columns of stored trees are in the narrowest sufficient width, little-endian. Columns of blocks have
their bytes shuffled: the first bytes of all numbers come before all second ones, and so on.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from profiles.engine.hashing cimport KeyTable, raise_out_of_bounds

import numpy as np

cdef enum:
    # Columns below this length take some microseconds, less than getting the GIL back while other
    # threads want it. A tree has twenty columns, and in most trees they are as short.
    SHORT_COLUMN = 1 << 14

cdef uint64_t LARGEST_INT64 = 2**63 - 1

ctypedef fused Integer:
    int32_t
    int64_t

ctypedef fused Unsigned:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def pack_columns(columns):
    """Encode columns of integers, contiguous [N]: (codes, data uint8).

    The code of a column is (bytes per number, N), with as few bytes as its values allow; the bytes
    are -8 if a value is negative.
    """
    cdef list parts = [], codes = []
    cdef Py_ssize_t at = 0, size = 0
    cdef int code
    for column in columns:
        column, code = width_code(column)
        parts.append(column)
        codes.append((code, len(column)))
        size += abs(code) * len(column)
    data = np.empty(size, np.uint8)
    for column, (code, count) in zip(parts, codes):
        fill_column(column, abs(code), data[at : at + abs(code) * count])
        at += abs(code) * count
    return codes, data


cdef tuple width_code(column):
    """Return the column as uint8, int32 or int64, and its code."""
    kind = column.dtype.char
    if kind == "B":
        return column, 1
    if kind == "i":
        return column, code_of(used_bits[int32_t](column))
    if kind == "L":
        column = column.view(np.int64)
        return column, abs(code_of(used_bits[int64_t](column)))
    column = np.ascontiguousarray(column, np.int64)
    return column, code_of(used_bits[int64_t](column))


cdef int code_of(uint64_t bits) noexcept:
    if bits < 1 << 8:
        return 1
    if bits < 1 << 16:
        return 2
    if bits < <uint64_t>1 << 32:
        return 4
    return -8 if bits >> 63 else 8


cdef uint64_t used_bits(const Integer[::1] column) except? 7:
    """Return the bitwise OR of all numbers, sign-extended to 64 bits."""
    if column.shape[0] < SHORT_COLUMN:
        return bitwise_or(column)
    with nogil:
        return bitwise_or(column)


cdef uint64_t bitwise_or(const Integer[::1] column) noexcept nogil:
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(column.shape[0]):
        bits |= <uint64_t><int64_t>column[i]
    return bits


cdef fill_column(column, int width, out):
    kind = column.dtype.char
    if kind == "B":
        out[:] = column
    elif kind == "i":
        narrow_into[int32_t](column, width, out)
    else:
        narrow_into[int64_t](column, width, out)


cdef narrow_into(const Integer[::1] column, int width, uint8_t[::1] out):
    if column.shape[0] == 0:
        return
    if column.shape[0] * width != out.shape[0]:
        raise_out_of_bounds()
    if column.shape[0] < SHORT_COLUMN:
        narrow(column, width, &out[0])
    else:
        with nogil:
            narrow(column, width, &out[0])


cdef void narrow(const Integer[::1] column, int width, uint8_t* out) noexcept nogil:
    if width == 1:
        narrow_as(column, out, <uint8_t>0)
    elif width == 2:
        narrow_as(column, out, <uint16_t>0)
    elif width == 4:
        narrow_as(column, out, <uint32_t>0)
    else:
        narrow_as(column, out, <uint64_t>0)


cdef void narrow_as(const Integer[::1] column, uint8_t* out, Unsigned number) noexcept nogil:
    """Write each number as wide as `number`; `out` need not be aligned."""
    cdef Py_ssize_t i
    for i in range(column.shape[0]):
        number = <Unsigned><int64_t>column[i]
        memcpy(out + i * <Py_ssize_t>sizeof(number), &number, sizeof(number))


def greatest_common_divisor(const int64_t[::1] column):
    """Return the greatest common divisor of all numbers; 1 if all are zero."""
    cdef uint64_t common
    if column.shape[0] < SHORT_COLUMN:
        common = common_divisor(column)
    else:
        with nogil:
            common = common_divisor(column)
    return common if 0 < common <= LARGEST_INT64 else 1


cdef uint64_t common_divisor(const int64_t[::1] column) noexcept nogil:
    cdef uint64_t common = 0, number, rest
    cdef Py_ssize_t i
    for i in range(column.shape[0]):
        number, rest = common, <uint64_t>column[i]
        if column[i] < 0:
            rest = 0 - rest
        while number:
            number, rest = rest % number, number
        common = rest
        if common == 1:
            break
    return common


def widen(const uint8_t[::1] data, Py_ssize_t at, Py_ssize_t count, int width, int64_t below):
    """Read `count` unsigned numbers of `width` bytes from offset `at`, int32 [count].

    Raise `ValueError` if a number is not less than `below`, or if they exceed the buffer.
    """
    cdef int32_t[::1] out
    cdef uint32_t highest
    if width not in (1, 2, 4):
        raise ValueError(f"a column of indexes has {width} bytes per number, not 1, 2 or 4")
    check_column(data.shape[0], at, count, width)
    column = np.empty(count, np.int32)
    out = column
    with nogil:
        if width == 1:
            highest = widen_1(data, at, out)
        elif width == 2:
            highest = widen_2(data, at, out)
        else:
            highest = widen_4(data, at, out)
    if count and (<int64_t>highest >= below or highest > <uint32_t>(2**31 - 1)):
        raise ValueError(f"index {highest} out of range: {below} rows")
    return column


# Bounds are checked once for a whole column, so that the loops are a few instructions each. Each
# returns the highest number.

cdef const uint8_t* column_at(
    const uint8_t[::1] data, Py_ssize_t at, Py_ssize_t size
) except? NULL nogil:
    """Return a pointer to `size` bytes at offset `at`; NULL if `size` is 0."""
    if at < 0 or size < 0 or size > data.shape[0] - at:
        raise_out_of_bounds()
    return &data[at] if size else NULL


cdef uint32_t widen_1(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(data, at, count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    for i in range(count):
        value = numbers[i]
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


cdef uint32_t widen_2(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(data, at, 2 * count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    cdef uint16_t number
    for i in range(count):
        memcpy(&number, &numbers[2 * i], 2)
        value = number
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


cdef uint32_t widen_4(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(data, at, 4 * count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    for i in range(count):
        memcpy(&value, &numbers[4 * i], 4)
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


def decode_parents(int32_t[::1] distance):
    """Replace the distance back to each parent by its index, in place; -1 for roots.

    Raise `ValueError` if a parent would be before the first node, or not before its child.
    """
    with nogil:
        find_parents(distance)


cdef int find_parents(int32_t[::1] distance) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(distance.shape[0]):
        if not 1 <= distance[i] <= i + 1:
            with gil:
                raise ValueError(f"the parent of node {i} is {distance[i]} nodes before it")
        distance[i] = <int32_t>(i - distance[i])
    return 0


def decode_steps(int32_t[::1] steps, int64_t below):
    """Replace steps by their running sums, in place.

    Raise `ValueError` if a sum repeats, or is not less than `below`.
    """
    with nogil:
        sum_steps(steps, below)


cdef int sum_steps(int32_t[::1] steps, int64_t below) except -1 nogil:
    cdef Py_ssize_t i
    cdef int64_t at = 0
    for i in range(steps.shape[0]):
        at += steps[i]
        if at >= below or (i > 0 and steps[i] == 0):
            with gil:
                raise ValueError(f"index {at} out of range or repeated: {below} rows")
        steps[i] = <int32_t>at
    return 0


def number_pairs(const int32_t[::1] first, const int32_t[::1] second):
    """Number the distinct pairs by first use: (number [N], first [P], second [P]), int32."""
    cdef KeyTable pairs = KeyTable(first.shape[0] + 1, "", first.shape[0])
    cdef int32_t[::1] number = np.empty(first.shape[0], np.int32)
    cdef Py_ssize_t i
    with nogil:
        for i in range(first.shape[0]):
            number[i] = <int32_t>pairs.insert(<uint64_t>first[i] << 32 | <uint64_t>second[i])
    table = pairs.table()
    firsts = (table >> 32).astype(np.int32)
    return np.asarray(number), firsts, table.astype(np.uint32).view(np.int32)


cdef check_column(Py_ssize_t size, Py_ssize_t at, Py_ssize_t count, Py_ssize_t width):
    if at < 0 or count < 0 or not 0 <= width <= 8 or count > MAX_ROWS or count * width > size - at:
        raise ValueError("a column ends beyond the data")


def unshuffle(
    const uint8_t[::1] data,
    Py_ssize_t at,
    Py_ssize_t count,
    Py_ssize_t width,
    uint64_t base,
    uint64_t factor,
):
    """Read `count` numbers of `width` shuffled bytes, uint64 [count].

    Each number is multiplied by `factor` and added to `base`, modulo 2^64. Raise `ValueError` if
    the column exceeds the buffer.
    """
    check_column(data.shape[0], at, count, width)
    column = np.zeros(count, np.uint64)
    cdef uint64_t[::1] out = column
    cdef Py_ssize_t i, byte, start
    with nogil:
        for byte in range(width):
            start = at + byte * count
            for i in range(count):
                out[i] |= <uint64_t>data[start + i] << (8 * byte)
        if factor != 1 or base != 0:
            for i in range(count):
                out[i] = out[i] * factor + base
    return column


def unshuffle_index(
    const uint8_t[::1] data,
    Py_ssize_t at,
    Py_ssize_t count,
    Py_ssize_t width,
    uint64_t base,
    uint64_t factor,
    uint64_t below,
):
    """Read numbers like `unshuffle`, as int32 [count].

    Raise `ValueError` if a number is not less than `below` (at most 2^31).
    """
    check_column(data.shape[0], at, count, width)
    column = np.empty(count, np.int32)
    cdef int32_t[::1] out = column
    cdef Py_ssize_t i, byte
    cdef uint64_t value, highest = 0
    with nogil:
        for i in range(count):
            value = 0
            for byte in range(width):
                value |= <uint64_t>data[at + byte * count + i] << (8 * byte)
            value = value * factor + base
            highest = max(highest, value)
            out[i] = <int32_t>value
    if count and highest >= below:
        raise ValueError(f"index {highest} out of range: {below} rows")
    return column


def decode_preorder(const int32_t[::1] ups, const int32_t[::1] refs, Py_ssize_t functions):
    """Decode a tree in pre-order: (parent, function), int32 [N] each.

    ups [N] is the number of levels to go up before the node is entered (0 for the first node). refs
    [N] is 0 for the first function that has not occurred yet, otherwise the distance back from it
    in the numbering of functions. Raise `ValueError` if the numbers are not a tree, or if not all
    `functions` occur.
    """
    cdef Py_ssize_t count = ups.shape[0], i, depth = 0, seen_functions = 0
    all_parents, all_functions = np.empty(count, np.int32), np.empty(count, np.int32)
    cdef int32_t[::1] parent = all_parents, function = all_functions
    cdef int32_t[::1] path = np.empty(count, np.int32)
    if refs.shape[0] != count:
        raise ValueError("columns of a table differ in length")
    with nogil:
        for i in range(count):
            if (
                not (0 <= ups[i] <= depth and 0 <= refs[i] <= seen_functions)
                or (refs[i] == 0 and seen_functions >= functions)
            ):
                with gil:
                    raise ValueError(f"node {i} is not connected to the tree")
            depth -= ups[i]
            parent[i] = path[depth - 1] if depth else -1
            path[depth] = <int32_t>i
            depth += 1
            function[i] = <int32_t>(seen_functions - refs[i])
            seen_functions += refs[i] == 0
    if seen_functions != functions:
        raise ValueError(
            f"{seen_functions} of {functions} functions are in the tree"
        )
    return all_parents, all_functions
