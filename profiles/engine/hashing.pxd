"""Inline parts of the ids and hash tables, for the loops of other modules."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    LOW_BITS = 0x0101010101010101  # lowest bit of each byte
    HIGH_BITS = 0x8080808080808080  # highest bit of each byte
    INITIAL_CAPACITY = 256  # rows of a table that grows

# Secrets of this process, see hashing.pyx.
cdef uint64_t FACTOR
cdef uint64_t SECOND_FACTOR
cdef uint64_t SEED


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Apply the finaliser of splitmix64."""
    x ^= x >> 30
    x *= <uint64_t>0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t pair_id(uint64_t first, uint64_t second) noexcept nogil:
    """Compute the id of an ordered pair of ids."""
    return mix(first * <uint64_t>0x9E3779B97F4A7C15 + second)


cdef inline uint64_t string_id(
    const uint8_t[::1] data, Py_ssize_t start, Py_ssize_t stop, uint64_t* special
) except? 7 nogil:
    """Compute the id of the string between start and stop.

    `special` gets a bit of HIGH_BITS if a byte is 0 or not ASCII.
    """
    cdef uint64_t h = <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>(stop - start)
    cdef uint64_t word, tail
    cdef Py_ssize_t at = start
    if start < 0 or start > stop or stop > data.shape[0]:
        raise_out_of_bounds()
    while stop - at >= 8:
        memcpy(&word, &data[at], 8)
        special[0] |= word | (word - LOW_BITS)  # both have a clear highest bit for bytes 1 to 127
        h = mix(h ^ word)
        at += 8
    word = 0
    if at < stop:
        memcpy(&word, &data[at], stop - at)
        tail = word | LOW_BITS << (8 * (stop - at))
        special[0] |= tail | (tail - LOW_BITS)
    return mix(h ^ word)


cdef uint64_t bytes_id(bytes data) except? 7


cdef inline uint64_t chain_hash(uint64_t before, uint64_t value) noexcept nogil:
    """Extend the hash `before` (SEED at first) by `value`.

    The hash is valid in this process only, and takes a third of the time of `pair_id`, which waits
    for three multiplications.
    """
    return (before ^ before >> 32) * FACTOR + value


cdef inline int64_t add_checked(int64_t before, int64_t value) except? 0x1D5C2A6F31B7E48D nogil:
    """Add two numbers. Raise `BadProfile` if the sum exceeds 64 bits."""
    cdef int64_t after = <int64_t>(<uint64_t>before + <uint64_t>value)
    if ((before ^ after) & (value ^ after)) < 0:
        raise_overflow()
    return after


cdef int raise_overflow() except -1 nogil
cdef int raise_out_of_bounds() except -1 nogil
cdef grow_rows(old, Py_ssize_t capacity)


@cython.final
cdef class KeyTable:
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t allowed
    cdef str limit
    cdef str unit
    cdef int shift
    cdef uint64_t[::1] keys
    cdef int32_t[::1] slots  # number + 1 of the key; 0 for a free slot

    cdef inline Py_ssize_t slot(self, uint64_t key) except -1 nogil:
        """Return the slot of `key`, or the free slot where it belongs."""
        cdef uint64_t mask = <uint64_t>self.slots.shape[0] - 1
        cdef uint64_t at = key * FACTOR
        cdef int32_t number
        at = ((at ^ at >> 32) * SECOND_FACTOR) >> self.shift
        while True:
            number = self.slots[<Py_ssize_t>at]
            if number == 0 or self.keys[number - 1] == key:
                return <Py_ssize_t>at
            at = (at + 1) & mask

    cdef inline Py_ssize_t find(self, uint64_t key) except -2 nogil:
        """Return the number of `key`, or -1 if it is not in the table."""
        return self.slots[self.slot(key)] - 1

    cdef inline Py_ssize_t insert(self, uint64_t key) except -1 nogil:
        """Return the number of `key`; a new key gets the next number, the former count."""
        cdef Py_ssize_t slot = self.slot(key)
        cdef int32_t number = self.slots[slot]
        if number != 0:
            return number - 1
        if self.count == self.keys.shape[0]:
            self.grow()
            slot = self.slot(key)
        number = <int32_t>self.count
        self.keys[number] = key
        self.slots[slot] = number + 1
        self.count += 1
        return number

    cdef int grow(self) except -1 nogil
    cdef fill_slots(self)


@cython.final
cdef class SumTable:
    cdef readonly KeyTable keys
    cdef int64_t[:, ::1] values

    cdef inline Py_ssize_t row(self, uint64_t key) except -1 nogil:
        """Return the row of `key`; a new row is zero."""
        cdef Py_ssize_t row = self.keys.insert(key)
        if row >= self.values.shape[0]:
            self.grow(2 * row)
        return row

    cdef inline int add(self, Py_ssize_t row, Py_ssize_t column, int64_t value) except -1 nogil:
        self.values[row, column] = add_checked(self.values[row, column], value)
        return 0

    cdef int grow(self, Py_ssize_t capacity) except -1 nogil
