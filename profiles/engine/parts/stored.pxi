# Columns of stored trees: integers in the narrowest sufficient width, little-endian.

cdef enum:
    # Columns below this length take some microseconds, less than getting the GIL back while other
    # threads want it. A tree has twenty columns, and in most trees they are as short.
    BRIEF = 1 << 14

ctypedef fused Whole:
    int32_t
    int64_t

ctypedef fused Narrowed:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def packed(columns):
    """Encode columns of integers, contiguous [N]: (codes, data uint8).

    The code of a column is (bytes per number, N), with as few bytes as its values allow; the bytes
    are -8 if a value is negative.
    """
    cdef list parts = [], codes = []
    cdef Py_ssize_t at = 0, size = 0
    cdef int code
    for column in columns:
        column, code = coded(column)
        parts.append(column)
        codes.append((code, len(column)))
        size += abs(code) * len(column)
    data = np.empty(size, np.uint8)
    for column, (code, count) in zip(parts, codes):
        fill_column(column, abs(code), data[at : at + abs(code) * count])
        at += abs(code) * count
    return codes, data


cdef tuple coded(column):
    """Return the column as uint8, int32 or int64, and its code."""
    kind = column.dtype.char
    if kind == "B":
        return column, 1
    if kind == "i":
        return column, code_of(united_in[int32_t](column))
    if kind == "L":
        column = column.view(np.int64)
        return column, abs(code_of(united_in[int64_t](column)))
    column = np.ascontiguousarray(column, np.int64)
    return column, code_of(united_in[int64_t](column))


cdef int code_of(uint64_t every) noexcept:
    if every < 1 << 8:
        return 1
    if every < 1 << 16:
        return 2
    if every < <uint64_t>1 << 32:
        return 4
    return -8 if every >> 63 else 8


cdef uint64_t united_in(const Whole[::1] column) except? 7:
    if column.shape[0] < BRIEF:
        return united(column)
    with nogil:
        return united(column)


cdef uint64_t united(const Whole[::1] column) noexcept nogil:
    """Return the bitwise OR of all numbers, sign-extended to 64 bits."""
    cdef uint64_t every = 0
    cdef Py_ssize_t i
    for i in range(column.shape[0]):
        every |= <uint64_t><int64_t>column[i]
    return every


cdef fill_column(column, int width, out):
    kind = column.dtype.char
    if kind == "B":
        out[:] = column
    elif kind == "i":
        fill_whole[int32_t](column, width, out)
    else:
        fill_whole[int64_t](column, width, out)


cdef fill_whole(const Whole[::1] column, int width, uint8_t[::1] out):
    if column.shape[0] == 0:
        return
    if column.shape[0] * width != out.shape[0]:
        out_of_bounds()
    if column.shape[0] < BRIEF:
        copy_whole(column, width, &out[0])
    else:
        with nogil:
            copy_whole(column, width, &out[0])


cdef void copy_whole(const Whole[::1] column, int width, uint8_t* out) noexcept nogil:
    if width == 1:
        copy_as(column, out, <uint8_t>0)
    elif width == 2:
        copy_as(column, out, <uint16_t>0)
    elif width == 4:
        copy_as(column, out, <uint32_t>0)
    else:
        copy_as(column, out, <uint64_t>0)


cdef inline void copy_as(const Whole[::1] column, uint8_t* out, Narrowed number) noexcept nogil:
    """Write each number as wide as `number`; `out` need not be aligned."""
    cdef Py_ssize_t i
    for i in range(column.shape[0]):
        number = <Narrowed><int64_t>column[i]
        memcpy(out + i * <Py_ssize_t>sizeof(number), &number, sizeof(number))


def divisor(const int64_t[::1] column):
    """Return the greatest common divisor of all numbers; 1 if all are zero."""
    cdef uint64_t common
    if column.shape[0] < BRIEF:
        common = common_divisor(column)
    else:
        with nogil:
            common = common_divisor(column)
    return common if 0 < common <= <uint64_t>MOST else 1


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


def widen(const uint8_t[::1] body, Py_ssize_t at, Py_ssize_t count, int width, int64_t below):
    """Read `count` unsigned numbers of `width` bytes from offset `at`, int32 [count].

    Raise `ValueError` if a number is not less than `below`, or if they exceed the buffer.
    """
    cdef int32_t[::1] out
    cdef uint32_t highest
    if at < 0 or count < 0 or width not in (1, 2, 4) or at + count * width > body.shape[0]:
        raise ValueError("a column reaches beyond the end")
    column = np.empty(count, np.int32)
    out = column
    with nogil:
        if width == 1:
            highest = widen_1(body, at, out)
        elif width == 2:
            highest = widen_2(body, at, out)
        else:
            highest = widen_4(body, at, out)
    if count and (<int64_t>highest >= below or highest > <uint32_t>(2**31 - 1)):
        raise ValueError(f"{highest} points at nothing: there are {below}")
    return column


# Bounds are checked once for a whole column, so that the loops are a few instructions each.

cdef const uint8_t* column_at(
    const uint8_t[::1] body, Py_ssize_t at, Py_ssize_t size
) except? NULL nogil:
    """Return a pointer to `size` bytes at offset `at`; NULL if `size` is 0."""
    if at < 0 or size < 0 or size > body.shape[0] - at:
        out_of_bounds()
    return &body[at] if size else NULL


cdef uint32_t widen_1(const uint8_t[::1] body, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(body, at, count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    for i in range(count):
        value = numbers[i]
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


cdef uint32_t widen_2(const uint8_t[::1] body, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(body, at, 2 * count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    cdef uint16_t number
    for i in range(count):
        memcpy(&number, &numbers[2 * i], 2)
        value = number
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


cdef uint32_t widen_4(const uint8_t[::1] body, Py_ssize_t at, int32_t[::1] out) except? 7 nogil:
    cdef Py_ssize_t i, count = out.shape[0]
    cdef const uint8_t* numbers = column_at(body, at, 4 * count)
    cdef int32_t* into = &out[0] if count else NULL
    cdef uint32_t highest = 0, value
    for i in range(count):
        memcpy(&value, &numbers[4 * i], 4)
        highest = max(highest, value)
        into[i] = <int32_t>value
    return highest


def parents(int32_t[::1] back):
    """Replace the distance back to each parent by its index, in place; -1 for roots.

    Raise `ValueError` if a parent would be before the first node, or not before its child.
    """
    with nogil:
        find_parents(back)


cdef int find_parents(int32_t[::1] back) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(back.shape[0]):
        if not 1 <= back[i] <= i + 1:
            with gil:
                raise ValueError(f"the parent of node {i} is {back[i]} nodes before it")
        back[i] = <int32_t>(i - back[i])
    return 0


def ascending(int32_t[::1] steps, int64_t below):
    """Replace steps by their running sums, in place.

    Raise `ValueError` if a sum is not less than `below`.
    """
    with nogil:
        ascend(steps, below)


cdef int ascend(int32_t[::1] steps, int64_t below) except -1 nogil:
    cdef Py_ssize_t i
    cdef int64_t at = 0
    for i in range(steps.shape[0]):
        at += steps[i]
        if at >= below:
            with gil:
                raise ValueError(f"{at} points at nothing: there are {below}")
        steps[i] = <int32_t>at
    return 0


def pairs(const int32_t[::1] first, const int32_t[::1] second):
    """Number the distinct pairs by first use: (number [N], first [P], second [P]), int32."""
    cdef Keys keys = Keys(first.shape[0] + 1, "", first.shape[0])
    cdef int32_t[::1] number = np.empty(first.shape[0], np.int32)
    cdef Py_ssize_t i
    with nogil:
        for i in range(first.shape[0]):
            number[i] = <int32_t>keys.enter(<uint64_t>first[i] << 32 | <uint64_t>second[i])
    table = keys.table()
    return np.asarray(number), (table >> 32).astype(np.int32), table.astype(np.uint32).view(np.int32)
