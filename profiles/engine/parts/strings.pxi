# Strings of a profile, as bytes: most are never decoded.

cdef enum:
    TO_CHECK = 128
    MARK_BYTES = 19  # appended to a truncated string: an ellipsis and a hash

cdef Py_ssize_t NAME_BYTES = MAX_NAME_BYTES
cdef bytes UNKNOWN = b"?"  # name of frames with neither name nor address


@cython.final
cdef class Strings:
    """Strings with the numbers of the profile; then the empty one, `?`, and generated ones."""

    cdef Wire wire
    cdef Py_ssize_t[:, ::1] at  # byte range of each string in the profile
    cdef Py_ssize_t none
    cdef Py_ssize_t unknown
    cdef dict made  # bytes of strings that differ from the profile or are generated
    cdef uint8_t[::1] is_made
    cdef uint64_t[::1] ids

    def __init__(self, Wire wire, Py_ssize_t[:, ::1] at):
        if at.shape[0] and at[0, 0] != at[0, 1]:
            raise BadProfile("The first string of a pprof profile is empty; here it is not.")
        self.wire = wire
        self.at = at
        self.none, self.unknown = at.shape[0], at.shape[0] + 1
        self.made = {self.none: b"", self.unknown: UNKNOWN}
        self.is_made = np.zeros(at.shape[0] + 2, np.uint8)
        self.ids = np.empty(at.shape[0] + 2, np.uint64)
        self.replace_unusable()
        for i in (self.none, self.unknown):
            self.is_made[i], self.ids[i] = True, id_of(self.made[i])

    cdef replace_unusable(self):
        """Replace strings that are too long, not UTF-8, or contain NUL bytes."""
        cdef Py_ssize_t i, unusual = 0
        cdef uint64_t seen
        with nogil:
            for i in range(self.none):
                seen = UNUSUAL
                if self.at[i, 1] - self.at[i, 0] <= NAME_BYTES:
                    seen = 0
                    self.ids[i] = text_id(self.wire.raw, self.at[i, 0], self.at[i, 1], &seen)
                if seen & <uint64_t>UNUSUAL:
                    self.is_made[i] = TO_CHECK
                    unusual += 1
        if unusual:
            for i in np.flatnonzero(self.is_made).tolist():
                self.check(i)

    cdef check(self, Py_ssize_t i):
        """Replace the string if it cannot be used unchanged."""
        cdef Py_ssize_t start = self.at[i, 0], stop = self.at[i, 1]
        data = self.wire.piece(start, min(stop, start + NAME_BYTES))
        usable = data.decode("utf-8", "replace").replace("\0", "\ufffd").encode()
        if stop - start > NAME_BYTES or len(usable) > NAME_BYTES:
            usable = self.cut(usable, start, stop)
        self.is_made[i] = usable != data
        if self.is_made[i]:
            self.made[i] = usable
            self.ids[i] = id_of(usable)

    cdef bytes cut(self, bytes usable, Py_ssize_t start, Py_ssize_t stop):
        """Truncate a string and append an ellipsis and a hash: different strings stay different."""
        cdef uint64_t seen = 0, whole
        with nogil:
            whole = text_id(self.wire.raw, start, stop, &seen)
        kept = usable[: NAME_BYTES - MARK_BYTES].decode("utf-8", "ignore")
        return f"{kept}…{whole:016x}".encode()

    def replaced(self, uint64_t string):
        """Return True if this string of the profile was replaced."""
        return bool(self.is_made[self.checked(string)])

    def sizes(self, const uint64_t[::1] numbers):
        """Return the size in bytes of each of these strings of the profile, int64 [N]."""
        found = np.empty(numbers.shape[0], np.int64)
        cdef int64_t[::1] sizes = found
        cdef Py_ssize_t i
        for i in range(numbers.shape[0]):
            sizes[i] = self.size(self.checked(numbers[i]))
        return found

    cdef Py_ssize_t size(self, Py_ssize_t i) except -1:
        if self.is_made[i]:
            return len(<bytes>self.made[i])
        return self.at[i, 1] - self.at[i, 0]

    cdef append(self, list texts):
        """Append generated strings (bytes)."""
        if not texts:
            return
        count = len(self.ids)
        for i, data in enumerate(texts, count):
            self.made[i] = data
        self.ids = np.concatenate((self.ids, np.array([id_of(data) for data in texts], np.uint64)))
        self.is_made = np.concatenate((self.is_made, np.ones(len(texts), np.uint8)))

    cdef Py_ssize_t checked(self, uint64_t string) except -1 nogil:
        """Return the string number if it is valid. Raise `BadProfile` if it is not."""
        if string != 0 and string >= <uint64_t>self.none:
            with gil:
                raise BadProfile(f"A message points at string {string}; there are {self.none}.")
        return <Py_ssize_t>string

    cdef int empty(self, uint64_t string) except -1 nogil:
        cdef Py_ssize_t i = self.checked(string)
        return i == self.none or self.at[i, 0] == self.at[i, 1]

    cdef bytes data(self, Py_ssize_t i):
        if self.is_made[i]:
            return self.made[i]
        return self.wire.piece(self.at[i, 0], self.at[i, 1])

    def text(self, uint64_t string):
        """Return a string of the profile as text."""
        return self.data(self.checked(string)).decode()

    cdef gather(self, const int32_t[::1] which, allowed):
        """Concatenate strings: (bytes, ends int64 [len(which)])."""
        all_ends = np.empty(which.shape[0], np.int64)
        cdef int64_t[::1] ends = all_ends
        cdef uint8_t[::1] out
        cdef Py_ssize_t k, i, j, to = 0
        for k in range(which.shape[0]):
            to += self.size(which[k])
            ends[k] = to
        within(allowed, to)
        text = np.empty(to, np.uint8)
        out = text
        to = 0
        for k in range(which.shape[0]):
            i = which[k]
            if self.is_made[i]:
                self.copy(self.made[i], 0, out, to, ends[k])
            else:
                self.copy(self.wire.raw, self.at[i, 0], out, to, ends[k])
            to = ends[k]
        return text.tobytes(), all_ends

    cdef copy(
        self, const uint8_t[::1] data, Py_ssize_t start,
        uint8_t[::1] out, Py_ssize_t to, Py_ssize_t end,
    ):
        if end == to:
            return
        if start < 0 or to < 0 or start + end - to > data.shape[0] or end > out.shape[0]:
            out_of_bounds()
        memcpy(&out[to], &data[start], end - to)


@cython.final
cdef class UsedStrings:
    """Strings in use, each distinct text once, numbered by first use."""

    cdef Strings strings
    cdef Keys texts  # text ids
    cdef int32_t[::1] which  # string of each text
    cdef int32_t[::1] place  # text number + 1 of each string; 0 if unused

    def __init__(self, Strings strings, Py_ssize_t most):
        """Create the tables for at most `most` uses."""
        most = min(most, strings.ids.shape[0])
        self.strings = strings
        self.texts = Keys(most, "", most)
        self.which = np.empty(most, np.int32)
        self.place = np.zeros(strings.ids.shape[0], np.int32)

    cdef int32_t number(self, int32_t string) except -1 nogil:
        cdef Py_ssize_t number
        if self.place[string] == 0:
            number = self.texts.enter(self.strings.ids[string])
            self.place[string] = <int32_t>(number + 1)
            self.which[number] = string
        return self.place[string] - 1

    cdef table(self, allowed):
        """Return the concatenated texts (bytes, ends int64). Raise `TooLarge` beyond `allowed`."""
        return self.strings.gather(self.which[: self.texts.count], allowed)


def within(allowed, Py_ssize_t met):
    """Raise `TooLarge` if `met` exceeds the limit (limits.Allowed)."""
    if met > allowed.most:
        raise TooLarge(allowed.limit, met, allowed.most, allowed.unit)


cdef uint64_t id_of(bytes data) except? 7:
    cdef uint64_t seen = 0
    return text_id(data, 0, len(data), &seen)
