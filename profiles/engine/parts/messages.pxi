# Embedded messages as rows of numbers, and lookup of rows by the ids in the profile.

cpdef numbers(Wire wire, const Py_ssize_t[:, ::1] spans, Py_ssize_t width):
    """Read the varint fields below `width` of each message, uint64 [count, width]; 0 if absent."""
    found = np.zeros((spans.shape[0], width), np.uint64)
    cdef uint64_t[:, ::1] table = found
    cdef Field field
    cdef Py_ssize_t i
    with nogil:
        for i in range(spans.shape[0]):
            field.at = spans[i, 0]
            while wire.next(&field, spans[i, 1]):
                if field.wire == VARINT and field.number < width:
                    table[i, field.number] = field.value
    return found


def comments(Wire wire, Py_ssize_t most):
    """Return the string numbers of a profile's comments, at most `most` of them."""
    cdef Field field
    cdef Py_ssize_t at
    found = []
    field.at = 0
    while len(found) < most and wire.next(&field, wire.raw.shape[0]):
        if field.number != COMMENTS:
            continue
        if field.wire == VARINT:
            found.append(field.value)
        elif field.wire == BYTES:
            at = field.start
            while at < field.stop and len(found) < most:
                found.append(wire.varint(&at, field.stop))
    return found


@cython.final
cdef class Index:
    """Lookup of rows of `table` by the id in column 1; ids may be sparse, or 64 bits wide."""

    cdef str kind
    cdef bint small  # ids are about as small as the number of rows
    cdef int32_t[::1] rows  # row + 1 by id, if small
    cdef Keys ids  # ids in order of row, otherwise

    def __init__(self, str kind, const uint64_t[:, ::1] table):
        cdef Py_ssize_t i
        cdef uint64_t highest = 0
        self.kind = kind
        for i in range(table.shape[0]):
            highest = max(highest, table[i, 1])
        self.small = highest <= <uint64_t>(4 * table.shape[0] + 64)
        if self.small:
            self.rows = np.zeros(highest + 1, np.int32)
        else:
            self.ids = Keys(table.shape[0], "", table.shape[0])
        with nogil:
            for i in range(table.shape[0]):
                self.enter(table[i, 1], i)

    cdef int enter(self, uint64_t key, Py_ssize_t row) except -1 nogil:
        if key == 0:
            with gil:
                raise BadProfile(f"A {self.kind} has the id 0, which means none.")
        if self.known(key) >= 0:
            with gil:
                raise BadProfile(f"Two {self.kind}s have the id {key}.")
        if self.small:
            self.rows[<Py_ssize_t>key] = <int32_t>(row + 1)
        else:
            self.ids.enter(key)
        return 0

    cdef inline Py_ssize_t known(self, uint64_t key) except -2 nogil:
        if not self.small:
            return self.ids.find(key)
        return self.rows[<Py_ssize_t>key] - 1 if key < <uint64_t>self.rows.shape[0] else -1

    cdef inline Py_ssize_t find(self, uint64_t key) except -2 nogil:
        """Return the row of an id, or -1 for id 0, which means none."""
        cdef Py_ssize_t row
        if key == 0:
            return -1
        row = self.known(key)
        if row < 0:
            with gil:
                raise BadProfile(f"There is no {self.kind} with the id {key}.")
        return row
