"""Content-addressed ids of strings, functions, frames and nodes, and hash tables with 64-bit keys.

docs/decisions/0003-ids.md defines the ids. Words are read in memory order: all supported machines
are little-endian. Sums that overflow raise an error; they are never wrong.
"""

import secrets

cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge

# Odd factors of the hash tables: nobody can choose keys that fall into one slot. Two, with a shift
# in between, because keys of nodes are regular: a single factor maps them to long runs of slots.
FACTOR = secrets.randbits(64) | 1
SECOND_FACTOR = secrets.randbits(64) | 1
# First value of chained hashes, unpredictable for senders, too.
SEED = secrets.randbits(64)


cdef int raise_out_of_bounds() except -1 nogil:
    with gil:
        raise IndexError("copy beyond the end of the buffer")


cdef int raise_overflow() except -1 nogil:
    with gil:
        raise BadProfile("The sum of the values of a stack exceeds 64 bits.")


cdef uint64_t bytes_id(bytes data) except? 7:
    cdef uint64_t special = 0
    return string_id(data, 0, len(data), &special)


def string_ids(strings):
    """Compute the id of each string, uint64 [len(strings)]."""
    cdef uint64_t[::1] ids = np.empty(len(strings), np.uint64)
    cdef Py_ssize_t i
    for i, string in enumerate(strings):
        ids[i] = bytes_id(string.encode())
    return np.asarray(ids)


def string_table_ids(const unsigned char[::1] data, const int64_t[::1] ends):
    """Compute the id of each string, uint64 [len(ends)]; they are contiguous and end at `ends`."""
    cdef uint64_t[::1] ids = np.empty(ends.shape[0], np.uint64)
    cdef Py_ssize_t i, start = 0
    cdef uint64_t special = 0
    with nogil:
        for i in range(ends.shape[0]):
            ids[i] = string_id(data, start, ends[i], &special)
            start = ends[i]
    return np.asarray(ids)


def function_ids(const uint64_t[::1] strings, const int32_t[::1] name, const int32_t[::1] file):
    """Compute the id of each (name, file), uint64 [F]; both are indexes of `strings`, their ids."""
    cdef uint64_t[::1] ids = np.empty(name.shape[0], np.uint64)
    cdef Py_ssize_t i
    with nogil:
        for i in range(name.shape[0]):
            ids[i] = pair_id(strings[name[i]], strings[file[i]])
    return np.asarray(ids)


def frame_ids(const uint64_t[::1] functions, const int32_t[::1] line):
    """Compute the id of each (function, line), uint64 [F]."""
    all_ids = np.empty(line.shape[0], np.uint64)
    cdef uint64_t[::1] ids = all_ids
    cdef Py_ssize_t i
    with nogil:
        for i in range(line.shape[0]):
            ids[i] = pair_id(functions[i], <uint64_t>line[i])
    return all_ids


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
                    raise ValueError(f"node {i} precedes its parent {parent[i]}")
            ids[i] = pair_id(ids[parent[i]] if parent[i] >= 0 else 0, frames[frame[i]])
    return np.asarray(ids)


@cython.final
cdef class KeyTable:
    """Hash table that numbers keys from 0 in order of insertion.

    Beyond `allowed` keys, `TooLarge` is raised, with the name `limit`.
    """

    def __init__(
        self, Py_ssize_t allowed, str limit, Py_ssize_t expected=INITIAL_CAPACITY, str unit=""
    ):
        self.count = 0
        self.allowed = min(allowed, 2**30)
        self.limit, self.unit = limit, unit
        self.keys = np.empty(max(1, min(expected, self.allowed)), np.uint64)
        self.fill_slots()

    cdef int grow(self) except -1 nogil:
        cdef Py_ssize_t capacity = self.keys.shape[0]
        with gil:
            if capacity >= self.allowed:
                raise TooLarge(self.limit, self.allowed + 1, self.allowed, self.unit)
            self.keys = grow_rows(self.keys, min(2 * capacity, self.allowed))
            self.fill_slots()
        return 0

    cdef fill_slots(self):
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

    def insert_all(self, const uint64_t[::1] keys):
        """Insert keys: (number of each, int32 [N]; position of each new key, ascending)."""
        numbers, positions = np.empty(keys.shape[0], np.int32), np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] number = numbers, new = positions
        cdef Py_ssize_t i, before = self.count, inserted = 0
        with nogil:
            for i in range(keys.shape[0]):
                number[i] = <int32_t>self.insert(keys[i])
                if self.count > before + inserted:
                    new[inserted] = <int32_t>i
                    inserted += 1
        return numbers, positions[:inserted]

    def has_all(self, const uint64_t[::1] keys):
        """Return True if all of these keys are in the table."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(keys.shape[0]):
                if self.find(keys[i]) < 0:
                    break
            else:
                i = -1
        return i == -1

    def table(self):
        """Return the keys in order of insertion, uint64 [count]."""
        return np.array(self.keys[: self.count])


@cython.final
cdef class SumTable:
    """Hash table with a row of `width` int64 sums for each key."""

    def __init__(
        self,
        Py_ssize_t width,
        Py_ssize_t allowed,
        str limit,
        Py_ssize_t expected=INITIAL_CAPACITY,
    ):
        self.keys = KeyTable(allowed, limit, expected)
        self.values = np.zeros((self.keys.keys.shape[0], width), np.int64)

    cdef int grow(self, Py_ssize_t capacity) except -1 nogil:
        with gil:
            self.values = grow_rows(self.values, capacity)
        return 0

    def add_rows(
        self,
        const uint64_t[::1] keys,
        const int64_t[:, :] values,
        const int32_t[::1] columns,
    ):
        """Add values [K, L] to the rows of `keys` [L]; columns [K] are the columns of the sums."""
        cdef Py_ssize_t i, k, row
        with nogil:
            for i in range(keys.shape[0]):
                row = self.row(keys[i])
                for k in range(columns.shape[0]):
                    self.add(row, columns[k], values[k, i])

    def clear(self):
        """Reset all sums to zero; the keys stay."""
        self.values[:, :] = 0

    def table(self):
        """Return (keys uint64 [count], sums int64 [width, count])."""
        values = np.asarray(self.values)[: self.keys.count]
        return self.keys.table(), np.ascontiguousarray(values.T)


cdef grow_rows(old, Py_ssize_t capacity):
    """Return a copy with `capacity` rows; new rows are zero."""
    old = np.asarray(old)
    new = np.zeros((capacity, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new
