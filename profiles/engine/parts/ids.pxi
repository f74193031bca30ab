# Content-addressed ids of frames and nodes; docs/decisions/0003-ids.md defines them. Words are read
# in memory order: all supported machines are little-endian.

cdef enum:
    ONES = 0x0101010101010101  # lowest bit of each byte
    UNUSUAL = 0x8080808080808080  # highest bit of each byte


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Apply the finaliser of splitmix64."""
    x ^= x >> 30
    x *= <uint64_t>0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t pair(uint64_t first, uint64_t second) noexcept nogil:
    return mix(first * <uint64_t>0x9E3779B97F4A7C15 + second)


cdef uint64_t text_id(
    const uint8_t[::1] data, Py_ssize_t start, Py_ssize_t stop, uint64_t* seen
) except? 7 nogil:
    """Compute the id of the text between start and stop.

    `seen` gets a bit of UNUSUAL if a byte is 0 or not ASCII.
    """
    cdef uint64_t h = <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>(stop - start)
    cdef uint64_t word, tail
    cdef Py_ssize_t at = start
    if start < 0 or start > stop or stop > data.shape[0]:
        out_of_bounds()
    while stop - at >= 8:
        memcpy(&word, &data[at], 8)
        seen[0] |= word | (word - ONES)  # both have a clear highest bit for bytes 1 to 127
        h = mix(h ^ word)
        at += 8
    word = 0
    if at < stop:
        memcpy(&word, &data[at], stop - at)
        tail = word | ONES << (8 * (stop - at))
        seen[0] |= tail | (tail - ONES)
    return mix(h ^ word)


cdef int out_of_bounds() except -1 nogil:
    with gil:
        raise IndexError("a copy reaches beyond the end of its buffer")


def text_ids(strings):
    """Compute the id of each text, uint64 [len(strings)]."""
    cdef uint64_t[::1] ids = np.empty(len(strings), np.uint64)
    cdef Py_ssize_t i
    for i, string in enumerate(strings):
        ids[i] = id_of(string.encode())
    return np.asarray(ids)


def text_ids_of(const unsigned char[::1] text, const int64_t[::1] ends):
    """Compute the id of each text, uint64 [len(ends)]; texts are contiguous and end at `ends`."""
    cdef uint64_t[::1] ids = np.empty(ends.shape[0], np.uint64)
    cdef Py_ssize_t i, start = 0
    cdef uint64_t seen = 0
    with nogil:
        for i in range(ends.shape[0]):
            ids[i] = text_id(text, start, ends[i], &seen)
            start = ends[i]
    return np.asarray(ids)


def function_ids(const uint64_t[::1] texts, const int32_t[::1] name, const int32_t[::1] file):
    """Compute the id of each (name, file), uint64 [F]; both are indexes of `texts`, string ids."""
    cdef uint64_t[::1] ids = np.empty(name.shape[0], np.uint64)
    cdef Py_ssize_t i
    with nogil:
        for i in range(name.shape[0]):
            ids[i] = pair(texts[name[i]], texts[file[i]])
    return np.asarray(ids)


def frame_ids(const uint64_t[::1] functions, const int32_t[::1] line):
    """Compute the id of each (function, line), uint64 [F]."""
    numbers = np.empty(line.shape[0], np.uint64)
    cdef uint64_t[::1] ids = numbers
    cdef Py_ssize_t i
    with nogil:
        for i in range(line.shape[0]):
            ids[i] = pair(functions[i], <uint64_t>line[i])
    return numbers


def node_ids(const int32_t[::1] parent, const int32_t[::1] frame, const uint64_t[::1] frames):
    """Compute the id of each node, uint64 [N].

    Parents come before their children; roots have parent -1.
    """
    cdef uint64_t[::1] ids = np.empty(parent.shape[0], np.uint64)
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0]):
            if parent[i] >= i:
                with gil:
                    raise ValueError(f"node {i} stands before its parent {parent[i]}")
            ids[i] = pair(ids[parent[i]] if parent[i] >= 0 else 0, frames[frame[i]])
    return np.asarray(ids)
