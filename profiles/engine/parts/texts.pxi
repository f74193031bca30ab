# Deduplicated texts of many sources, identified by their ids.

@cython.final
cdef class TextPool:
    """Pool of distinct texts, numbered from 0 in order of entry."""

    cdef readonly Keys ids
    cdef uint8_t[::1] text
    cdef int64_t[::1] ends

    def __init__(self):
        self.ids = Keys(2**30, "texts")
        self.text, self.ends = np.zeros(FIRST, np.uint8), np.zeros(FIRST, np.int64)

    def enter(self, const unsigned char[::1] text, const int64_t[::1] ends, const int32_t[::1] index):
        """Enter the texts that `index` refers to; return their numbers, int32 [len(index)].

        The source texts are contiguous and end at `ends`.
        """
        numbers = np.empty(index.shape[0], np.int32)
        cdef int32_t[::1] out = numbers
        cdef Py_ssize_t i
        with nogil:
            for i in range(index.shape[0]):
                out[i] = self.enter_one(text, ends[index[i] - 1] if index[i] > 0 else 0, ends[index[i]])
        return numbers

    def take(self, const int64_t[::1] numbers):
        """Return (these texts, concatenated; the end of each, int64 [len(numbers)])."""
        all_ends = np.empty(numbers.shape[0], np.int64)
        cdef int64_t[::1] ends = all_ends
        cdef Py_ssize_t i, start, size = 0
        for i in range(numbers.shape[0]):
            size += self.ends[numbers[i]] - (self.ends[numbers[i] - 1] if numbers[i] else 0)
            ends[i] = size
        text = np.empty(size, np.uint8)
        cdef uint8_t[::1] out = text
        size = 0
        for i in range(numbers.shape[0]):
            start = self.ends[numbers[i] - 1] if numbers[i] else 0
            if ends[i] > size:
                memcpy(&out[size], &self.text[start], ends[i] - size)
            size = ends[i]
        return text.tobytes(), all_ends

    def table(self):
        """Return (all texts, concatenated; the end of each, int64)."""
        ends = np.array(self.ends[: self.ids.count])
        return bytes(self.text[: ends[len(ends) - 1] if len(ends) else 0]), ends

    cdef int32_t enter_one(
        self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Enter the text between start and stop; return its number."""
        cdef uint64_t seen = 0
        cdef Py_ssize_t known = self.ids.count
        cdef Py_ssize_t number = self.ids.enter(text_id(text, start, stop, &seen))
        if number == known:
            self.append(text, start, stop)
        return <int32_t>number

    cdef int append(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef Py_ssize_t number = self.ids.count - 1
        cdef Py_ssize_t at = self.ends[number - 1] if number else 0
        cdef Py_ssize_t size = stop - start
        if number >= self.ends.shape[0] or at + size > self.text.shape[0]:
            with gil:
                if number >= self.ends.shape[0]:
                    self.ends = enlarged(self.ends, 2 * number)
                if at + size > self.text.shape[0]:
                    self.text = enlarged(self.text, 2 * (at + size))
        if size:
            memcpy(&self.text[at], &text[start], size)
        self.ends[number] = at + size
        return 0
