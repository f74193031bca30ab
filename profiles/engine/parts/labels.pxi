# Sample labels: the distinct labels as rows of numbers, and the rows of each sample.

cdef enum:
    LABEL_FIELDS = 5  # key 1, str 2, num 3, num_unit 4


cdef int read_label(Wire wire, Py_ssize_t start, Py_ssize_t stop, uint64_t* parts) except -1 nogil:
    """Read a label's LABEL_FIELDS numbers by field; 0 if absent."""
    cdef Field field
    cdef int i
    for i in range(LABEL_FIELDS):
        parts[i] = 0
    field.at = start
    while wire.next(&field, stop):
        if field.wire == VARINT and field.number < LABEL_FIELDS:
            parts[field.number] = field.value
    return 0


cdef inline uint64_t label_key(uint64_t before, const uint64_t* parts) noexcept nogil:
    """Hash the label together with the labels `before` it."""
    cdef int i
    for i in range(1, LABEL_FIELDS):
        before = chained(before, parts[i])
    return before


def label_rows(Wire wire, const Py_ssize_t[:, ::1] samples, limits):
    """Read the labels of samples; `samples` has their byte ranges, intp [S, 2].

    Return the distinct labels by field, uint64 [U, LABEL_FIELDS]; the row of each label of each
    sample in order, int32 [L]; and the end of each sample's labels in these, int64 [S]. Raise
    `TooLarge` if L exceeds `limits.max_sample_labels`.
    """
    cdef Py_ssize_t most = limits.max_sample_labels, i, last = 0
    all_ends = np.empty(samples.shape[0], np.int64)
    cdef int64_t[::1] ends = all_ends
    cdef Field field
    with nogil:
        for i in range(samples.shape[0]):
            field.at = samples[i, 0]
            while wire.next(&field, samples[i, 1]):
                last += field.number == 3 and field.wire == BYTES
            ends[i] = last
    if last > most:
        raise TooLarge(setting("max_sample_labels"), last, most)
    return (*numbered_labels(wire, samples, last), all_ends)


cdef numbered_labels(Wire wire, const Py_ssize_t[:, ::1] samples, Py_ssize_t count):
    """Return the first two results of label_rows; there are `count` labels."""
    cdef Keys keys = Keys(count, "", count)
    cdef uint64_t[LABEL_FIELDS] parts
    table, which = np.empty((count, LABEL_FIELDS), np.uint64), np.empty(count, np.int32)
    cdef uint64_t[:, ::1] rows = table
    cdef int32_t[::1] row_of = which
    cdef Py_ssize_t i, k, row, at = 0
    cdef Field field
    with nogil:
        for i in range(samples.shape[0]):
            field.at = samples[i, 0]
            while wire.next(&field, samples[i, 1]):
                if field.number == 3 and field.wire == BYTES:
                    read_label(wire, field.start, field.stop, parts)
                    row = keys.enter(label_key(SEED, parts))
                    for k in range(LABEL_FIELDS):
                        rows[row, k] = parts[k]
                    row_of[at] = <int32_t>row
                    at += 1
    return table[: keys.count], which
