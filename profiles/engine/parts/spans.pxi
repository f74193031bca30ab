# Where everything is: one look over a profile's outermost fields.

# Field numbers of message Profile in pprof's profile.proto.
KINDS = {"sample_types": 1, "samples": 2, "mappings": 3, "locations": 4, "functions": 5, "strings": 6}
SCALARS = {"time": 9, "duration": 10, "default_type": 14}
cdef enum:
    MESSAGES = 6  # the last of them
    COMMENTS = 13  # numbers of strings, packed or one by one
    LAST = 15


cdef class Spans:
    """(start, stop) of each embedded message, intp [count, 2], and the numbers beside them."""

    cdef readonly dict places
    cdef readonly dict scalars
    cdef readonly bint commented  # whether there is any comment

    def __init__(self, Wire wire, limits):
        found = np.zeros(LAST, np.intp)
        cdef Py_ssize_t[::1] counts = found
        cdef int64_t[::1] numbers = np.zeros(LAST, np.int64)
        with nogil:
            count(wire, counts, numbers)
        check(counts, limits)
        self.scalars = {name: numbers[number] for name, number in SCALARS.items()}
        self.commented = numbers[COMMENTS] != 0
        self.places = {}
        ends = found.cumsum().tolist()
        table = np.empty((ends[MESSAGES], 2), np.intp)
        fill(wire, table, np.array([0, *ends[:MESSAGES]], np.intp))
        for kind, number in KINDS.items():
            self.places[kind] = table[ends[number - 1] : ends[number]]


cdef check(Py_ssize_t[::1] counts, limits):
    for kind, number in KINDS.items():
        field = "max_samples" if kind == "samples" else "max_symbols"
        allowed = getattr(limits, field)
        if counts[number] > allowed:
            raise TooLarge(setting(field), counts[number], allowed)


cdef int count(Wire wire, Py_ssize_t[::1] counts, int64_t[::1] numbers) except -1 nogil:
    cdef Field field
    field.at = 0
    while wire.next(&field, wire.raw.shape[0]):
        if field.wire == BYTES and field.number <= MESSAGES:
            counts[field.number] += 1
        elif field.number == COMMENTS:
            numbers[COMMENTS] = 1
        elif field.wire == VARINT and field.number < LAST:
            numbers[field.number] = <int64_t>field.value
    return 0


cdef int fill(Wire wire, Py_ssize_t[:, ::1] table, Py_ssize_t[::1] following) except -1:
    cdef Field field
    cdef Py_ssize_t at
    field.at = 0
    with nogil:
        while wire.next(&field, wire.raw.shape[0]):
            if field.wire == BYTES and field.number <= MESSAGES:
                at = following[field.number]
                table[at, 0] = field.start
                table[at, 1] = field.stop
                following[field.number] = at + 1
    return 0
