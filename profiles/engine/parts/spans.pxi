# Where everything is: one look over a profile's outermost fields.

# Field numbers of message Profile in pprof's profile.proto.
KINDS = {"sample_types": 1, "samples": 2, "mappings": 3, "locations": 4, "functions": 5, "strings": 6}
SCALARS = {"time": 9, "duration": 10, "default_type": 14}
cdef enum:
    SAMPLE_TYPES = 1
    MESSAGES = 6  # last field number of an embedded message
    COMMENTS = 13  # string numbers, packed or not
    LAST = 15


cdef class Spans:
    """Byte ranges of embedded messages by kind, intp [count, 2]; and the scalar fields."""

    cdef readonly dict places
    cdef readonly dict scalars
    cdef readonly bint commented  # True if there is any comment

    def __init__(self, Wire wire, limits):
        cdef Py_ssize_t[LAST] counts, following
        cdef int64_t[LAST] numbers
        cdef Py_ssize_t last = 0
        memset(counts, 0, sizeof(counts))
        memset(numbers, 0, sizeof(numbers))
        with nogil:
            count(wire, counts, numbers)
        check(counts, limits)
        self.scalars = {name: numbers[<int>number] for name, number in SCALARS.items()}
        self.commented = numbers[COMMENTS] != 0
        self.places = {}
        table = np.empty((sum([counts[<int>number] for number in KINDS.values()]), 2), np.intp)
        for kind, number in KINDS.items():
            following[<int>number] = last
            last += counts[<int>number]
            self.places[kind] = table[following[<int>number] : last]
        fill(wire, table, following)


cdef check(const Py_ssize_t* counts, limits):
    if counts[SAMPLE_TYPES] > MAX_SAMPLE_TYPES:
        raise BadProfile(
            f"The profile has {counts[SAMPLE_TYPES]} sample types; {MAX_SAMPLE_TYPES} are allowed."
        )
    for kind, number in KINDS.items():
        field = "max_samples" if kind == "samples" else "max_symbols"
        allowed = getattr(limits, field)
        if counts[<int>number] > allowed:
            raise TooLarge(setting(field), counts[<int>number], allowed)


# Both arrays have LAST entries, one for each field up to COMMENTS and the scalars.
cdef int count(Wire wire, Py_ssize_t* counts, int64_t* numbers) except -1 nogil:
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


cdef int fill(Wire wire, Py_ssize_t[:, ::1] table, Py_ssize_t* following) except -1:
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
