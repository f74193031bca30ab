# Hash tables with 64-bit keys: rows of sums, and nodes of a tree. Sums that overflow raise an
# error; they are never wrong.

cdef enum:
    FREE = 0
    FIRST = 256

# This process's secrets, odd: nobody can choose keys that fall into one slot. Two, with a shift in
# between: keys of nodes are regular, and a single factor maps them to long runs of slots.
cdef uint64_t FACTOR = secrets.randbits(64) | 1
cdef uint64_t SECOND = secrets.randbits(64) | 1
# Seed of chained hashes, unpredictable for senders, too.
cdef uint64_t SEED = secrets.randbits(64)


cdef inline uint64_t chained(uint64_t before, uint64_t value) noexcept nogil:
    """Extend the hash `before` (SEED at first) by `value`.

    The hash is valid in this process only, and takes a third of the time of `pair`, which waits for
    three multiplications.
    """
    return (before ^ before >> 32) * FACTOR + value


@cython.final
cdef class Keys:
    """Numbers keys from 0 in order of entry; raises `TooLarge` of `limit` beyond `allowed` keys."""

    cdef readonly Py_ssize_t count
    cdef Py_ssize_t allowed
    cdef str limit
    cdef str unit
    cdef int shift
    cdef uint64_t[::1] keys
    cdef int32_t[::1] slots  # number + 1 of the key

    def __init__(
        self, Py_ssize_t allowed, str limit, Py_ssize_t expected=FIRST, str unit=""
    ):
        self.count = 0
        self.allowed = min(allowed, 2**30)
        self.limit, self.unit = limit, unit
        self.keys = np.empty(max(1, min(expected, self.allowed)), np.uint64)
        self.refill()

    cdef Py_ssize_t slot(self, uint64_t key) except -1 nogil:
        """Return the slot of `key`, or the free slot where it belongs."""
        cdef uint64_t mask = <uint64_t>self.slots.shape[0] - 1
        cdef uint64_t at = key * FACTOR
        cdef int32_t number
        at = ((at ^ at >> 32) * SECOND) >> self.shift
        while True:
            number = self.slots[<Py_ssize_t>at]
            if number == FREE or self.keys[number - 1] == key:
                return <Py_ssize_t>at
            at = (at + 1) & mask

    cdef Py_ssize_t find(self, uint64_t key) except -2 nogil:
        """Return the number of `key`, or -1 if it was not entered."""
        return self.slots[self.slot(key)] - 1

    cdef Py_ssize_t enter(self, uint64_t key) except -1 nogil:
        """Return the number of `key`; a new key gets the next number, the former count."""
        cdef Py_ssize_t slot = self.slot(key)
        cdef int32_t number = self.slots[slot]
        if number != FREE:
            return number - 1
        if self.count == self.keys.shape[0]:
            with gil:
                self.grow()
            slot = self.slot(key)
        number = <int32_t>self.count
        self.keys[number] = key
        self.slots[slot] = number + 1
        self.count += 1
        return number

    cdef grow(self):
        cdef Py_ssize_t capacity = self.keys.shape[0]
        if capacity >= self.allowed:
            raise TooLarge(self.limit, self.allowed + 1, self.allowed, self.unit)
        self.keys = enlarged(self.keys, min(2 * capacity, self.allowed))
        self.refill()

    cdef refill(self):
        """Rebuild the slots with a load factor of at most one half."""
        cdef Py_ssize_t i
        bits = (2 * len(self.keys) - 1).bit_length()
        self.shift = 64 - bits
        self.slots = np.zeros(1 << bits, np.int32)
        if self.count == 0:  # most tables start large enough: skip releasing the GIL
            return
        with nogil:
            for i in range(self.count):
                self.slots[self.slot(self.keys[i])] = <int32_t>(i + 1)

    def enter_all(self, const uint64_t[::1] keys):
        """Enter keys: (number of each, int32 [N]; position of each new key, ascending)."""
        numbers, news = np.empty(keys.shape[0], np.int32), np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] out = numbers, new = news
        cdef Py_ssize_t i, before = self.count, known = self.count
        with nogil:
            for i in range(keys.shape[0]):
                out[i] = <int32_t>self.enter(keys[i])
                if self.count > known:
                    new[known - before] = <int32_t>i
                    known = self.count
        return numbers, news[: known - before]

    def has_all(self, const uint64_t[::1] keys):
        """Return True if all of these keys were entered."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(keys.shape[0]):
                if self.find(keys[i]) < 0:
                    break
            else:
                i = -1
        return i == -1

    def table(self):
        """Return the keys in order of entry, uint64 [count]."""
        return np.array(self.keys[: self.count])


cdef inline int64_t added(int64_t before, int64_t value) except? 0x1D5C2A6F31B7E48D nogil:
    """Add two numbers. Raise `BadProfile` if the sum exceeds 64 bits."""
    cdef int64_t after = <int64_t>(<uint64_t>before + <uint64_t>value)
    if ((before ^ after) & (value ^ after)) < 0:
        with gil:
            raise BadProfile("The values of a stack add up to more than 64 bits hold.")
    return after


@cython.final
cdef class Sums:
    """Rows of `width` int64 sums by key."""

    cdef readonly Keys keys
    cdef int64_t[:, ::1] values

    def __init__(self, Py_ssize_t width, Py_ssize_t allowed, str limit, Py_ssize_t expected=FIRST):
        self.keys = Keys(allowed, limit, expected)
        self.values = np.zeros((self.keys.keys.shape[0], width), np.int64)

    cdef Py_ssize_t row(self, uint64_t key) except -1 nogil:
        """Return the row of `key`; a new row is zero."""
        cdef Py_ssize_t row = self.keys.enter(key)
        if row >= self.values.shape[0]:
            with gil:
                self.values = enlarged(self.values, 2 * row)
        return row

    cdef int add(self, Py_ssize_t row, Py_ssize_t column, int64_t value) except -1 nogil:
        self.values[row, column] = added(self.values[row, column], value)
        return 0

    def clear(self):
        """Reset all sums to zero; the keys stay."""
        self.values[:, :] = 0

    def table(self):
        """Return (keys uint64 [count], sums int64 [width, count])."""
        values = np.asarray(self.values)[: self.keys.count]
        return self.keys.table(), np.ascontiguousarray(values.T)


@cython.final
cdef class Nodes:
    """Nodes of a call tree with their sums, found by (parent, frame)."""

    cdef readonly Sums sums  # keyed by parent + 1 and frame, 32 bits each
    cdef uint64_t[::1] id
    cdef int32_t[::1] parent
    cdef int32_t[::1] frame
    cdef int32_t[::1] following  # successor of each node in the last tree that had it

    def __init__(self, Py_ssize_t width, Py_ssize_t allowed, str limit):
        self.sums = Sums(width, allowed, limit)
        self.id = np.empty(self.sums.keys.keys.shape[0], np.uint64)
        self.parent = np.empty(self.id.shape[0], np.int32)
        self.frame = np.empty(self.id.shape[0], np.int32)
        self.following = np.zeros(self.id.shape[0], np.int32)

    cdef Py_ssize_t child(
        self, Py_ssize_t parent, Py_ssize_t frame, uint64_t frame_id
    ) except -1 nogil:
        """Return the node of `frame` below `parent` (-1: a root); frame_id is the frame's id."""
        cdef Py_ssize_t before = self.sums.keys.count
        cdef Py_ssize_t node = self.sums.row(<uint64_t>(parent + 1) << 32 | <uint64_t>frame)
        if node < before:
            return node
        if node >= self.id.shape[0]:
            with gil:
                self.id = enlarged(self.id, 2 * node)
                self.parent = enlarged(self.parent, 2 * node)
                self.frame = enlarged(self.frame, 2 * node)
                self.following = enlarged(self.following, 2 * node)
        self.id[node] = pair(self.id[parent] if parent >= 0 else 0, frame_id)
        self.parent[node] = <int32_t>parent
        self.frame[node] = <int32_t>frame
        return node

    cdef inline Py_ssize_t child_after(
        self, Py_ssize_t last, Py_ssize_t parent, Py_ssize_t frame, uint64_t frame_id
    ) except -1 nogil:
        """Return the same as `child`; fast if it follows the `last` node as in an earlier tree."""
        cdef Py_ssize_t next
        if last < 0:
            return self.child(parent, frame, frame_id)
        next = self.following[last]
        if self.parent[next] == parent and self.frame[next] == frame:
            return next
        next = self.child(parent, frame, frame_id)
        self.following[last] = <int32_t>next
        return next

    @property
    def count(self):
        return self.sums.keys.count

    def table(self):
        """Return (id uint64, parent int32, frame int32, [count]; sums int64 [width, count])."""
        cdef Py_ssize_t count = self.sums.keys.count
        return (
            np.array(self.id[:count]),
            np.array(self.parent[:count]),
            np.array(self.frame[:count]),
            self.sums.table()[1],
        )


cdef enlarged(old, Py_ssize_t capacity):
    """Return a copy with `capacity` rows; new rows are zero."""
    old = np.asarray(old)
    new = np.zeros((capacity, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new
