"""Merging of call trees, and passes over the nodes of one.

Equal stacks have equal ids, so trees are summed by id. Nothing is recursive: stacks may be 10,000
frames deep. Parents come before their children, and roots have parent -1.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from profiles.engine.hashing cimport (
    INITIAL_CAPACITY,
    KeyTable,
    SumTable,
    grow_rows,
    pair_id,
    string_id,
)

import numpy as np


@cython.final
cdef class NodeTable:
    """Nodes of a call tree with their sums, found by (parent, frame)."""

    def __init__(self, Py_ssize_t width, Py_ssize_t allowed, str limit):
        self.sums = SumTable(width, allowed, limit)
        self.id = np.empty(self.sums.keys.keys.shape[0], np.uint64)
        self.parent = np.empty(self.id.shape[0], np.int32)
        self.frame = np.empty(self.id.shape[0], np.int32)
        self.successor = np.zeros(self.id.shape[0], np.int32)

    cdef Py_ssize_t child(
        self, Py_ssize_t parent, Py_ssize_t frame, uint64_t frame_id
    ) except -1 nogil:
        """Return the node of `frame` below `parent` (-1: a root); frame_id is the frame's id."""
        cdef Py_ssize_t before = self.sums.keys.count
        cdef Py_ssize_t node = self.sums.row(<uint64_t>(parent + 1) << 32 | <uint64_t>frame)
        if node < before:
            return node
        if node >= self.id.shape[0]:
            self.grow(2 * node)
        self.id[node] = pair_id(self.id[parent] if parent >= 0 else 0, frame_id)
        self.parent[node] = <int32_t>parent
        self.frame[node] = <int32_t>frame
        return node

    # Not a part of `child`, which would then clear the temporary memoryviews on each call.
    cdef int grow(self, Py_ssize_t capacity) except -1 nogil:
        with gil:
            self.id = grow_rows(self.id, capacity)
            self.parent = grow_rows(self.parent, capacity)
            self.frame = grow_rows(self.frame, capacity)
            self.successor = grow_rows(self.successor, capacity)
        return 0

    @property
    def count(self):
        """Number of nodes."""
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


@cython.final
cdef class Forest:
    """Sum of call trees, with at most `max_nodes` nodes and as many frames."""

    def __init__(self, Py_ssize_t width, Py_ssize_t max_nodes, str limit):
        self.nodes = NodeTable(width, max_nodes, limit)
        self.frames = KeyTable(max_nodes, limit)

    def add_frames(self, const uint64_t[::1] ids):
        """Add frames: (index of each, int32 [F]; position in `ids` of each new one, in order)."""
        return self.frames.insert_all(ids)

    def add(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] frame,
        const int32_t[::1] forest_frame,
        const int32_t[::1] sampled,
        const int64_t[:, :] values,
        const int32_t[::1] columns,
    ):
        """Add a tree and return the index in the forest of each of its nodes, int32 [N].

        forest_frame is the result of add_frames for the frames of the tree. sampled [M] are the
        nodes with values, and values is [K, M]. columns [K] is the column of each metric in the
        forest.
        """
        forest_nodes = np.empty(parent.shape[0], np.int32)
        cdef int32_t[::1] forest_node = forest_nodes
        cdef Py_ssize_t i, k, caller, last = -1
        cdef int32_t row
        with nogil:
            for i in range(parent.shape[0]):
                caller = forest_node[parent[i]] if parent[i] >= 0 else -1
                row = forest_frame[frame[i]]
                last = self.nodes.child_after(last, caller, row, self.frames.keys[row])
                forest_node[i] = <int32_t>last
            for i in range(sampled.shape[0]):
                for k in range(columns.shape[0]):
                    self.nodes.sums.add(forest_node[sampled[i]], columns[k], values[k, i])
        return forest_nodes


@cython.final
cdef class StringPool:
    """Pool of distinct strings, identified by their ids and numbered from 0 in order of entry."""

    def __init__(self):
        self.ids = KeyTable(2**30, "texts")
        self.data = np.zeros(INITIAL_CAPACITY, np.uint8)
        self.ends = np.zeros(INITIAL_CAPACITY, np.int64)

    def insert(
        self, const unsigned char[::1] data, const int64_t[::1] ends, const int32_t[::1] index
    ):
        """Insert the strings that `index` refers to; return their numbers, int32 [len(index)].

        The source strings are contiguous and end at `ends`.
        """
        numbers = np.empty(index.shape[0], np.int32)
        cdef int32_t[::1] number = numbers
        cdef Py_ssize_t i, start
        with nogil:
            for i in range(index.shape[0]):
                start = ends[index[i] - 1] if index[i] > 0 else 0
                number[i] = self.insert_one(data, start, ends[index[i]])
        return numbers

    def take(self, const int64_t[::1] numbers):
        """Return (these strings, concatenated; the end of each, int64 [len(numbers)])."""
        all_ends = np.empty(numbers.shape[0], np.int64)
        cdef int64_t[::1] ends = all_ends
        cdef Py_ssize_t i, start, size = 0
        for i in range(numbers.shape[0]):
            size += self.ends[numbers[i]] - (self.ends[numbers[i] - 1] if numbers[i] else 0)
            ends[i] = size
        data = np.empty(size, np.uint8)
        cdef uint8_t[::1] out = data
        size = 0
        for i in range(numbers.shape[0]):
            start = self.ends[numbers[i] - 1] if numbers[i] else 0
            if ends[i] > size:
                memcpy(&out[size], &self.data[start], ends[i] - size)
            size = ends[i]
        return data.tobytes(), all_ends

    def table(self):
        """Return (all strings, concatenated; the end of each, int64)."""
        ends = np.array(self.ends[: self.ids.count])
        return bytes(self.data[: ends[len(ends) - 1] if len(ends) else 0]), ends

    cdef int32_t insert_one(
        self, const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Insert the string between start and stop; return its number."""
        cdef uint64_t special = 0
        cdef Py_ssize_t before = self.ids.count
        cdef Py_ssize_t number = self.ids.insert(string_id(data, start, stop, &special))
        if number == before:
            self.append(data, start, stop)
        return <int32_t>number

    cdef int append(
        self, const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        cdef Py_ssize_t number = self.ids.count - 1
        cdef Py_ssize_t at = self.ends[number - 1] if number else 0
        cdef Py_ssize_t size = stop - start
        if number >= self.ends.shape[0] or at + size > self.data.shape[0]:
            self.reserve(number, at + size)
        if size:
            memcpy(&self.data[at], &data[start], size)
        self.ends[number] = at + size
        return 0

    cdef int reserve(self, Py_ssize_t number, Py_ssize_t end) except -1 nogil:
        """Make room for the string `number`, which ends at `end`."""
        with gil:
            if number >= self.ends.shape[0]:
                self.ends = grow_rows(self.ends, 2 * number)
            if end > self.data.shape[0]:
                self.data = grow_rows(self.data, 2 * end)
        return 0


def node_totals(const int32_t[::1] parent, const int64_t[::1] own):
    """Return the total of each node, int64 [N]: its self value and those of its descendants."""
    cdef int64_t[::1] total = np.array(own)
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0] - 1, -1, -1):
            if parent[i] >= 0:
                total[parent[i]] += total[i]
    return np.asarray(total)


def node_depths(const int32_t[::1] parent):
    """Return the depth of each node, int32 [N]; roots have depth 0."""
    cdef int32_t[::1] depth = np.zeros(parent.shape[0], np.int32)
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0]):
            if parent[i] >= 0:
                depth[i] = depth[parent[i]] + 1
    return np.asarray(depth)


cpdef preorder_nodes(const int32_t[::1] parent, const int64_t[::1] ranked):
    """Return the nodes in pre-order, int64 [N]; siblings are in the order of `ranked`."""
    cdef Py_ssize_t count = parent.shape[0], i, node, caller, at = 0
    # First child of each node (the last entry: first root), and the next sibling of each node.
    cdef int64_t[::1] first = np.full(count + 1, -1, np.int64)
    cdef int64_t[::1] sibling = np.full(count, -1, np.int64)
    cdef int64_t[::1] order = np.empty(count, np.int64)
    with nogil:
        for i in range(count - 1, -1, -1):
            node = ranked[i]
            caller = parent[node] if parent[node] >= 0 else count
            sibling[node] = first[caller]
            first[caller] = node
        node = first[count]
        while node >= 0:
            order[at] = node
            at += 1
            if first[node] >= 0:
                node = first[node]
                continue
            while node >= 0 and sibling[node] < 0:
                node = parent[node]
            if node >= 0:
                node = sibling[node]
    return np.asarray(order[:at])


def sum_by_function(
    const int32_t[::1] parent,
    const int64_t[::1] order,
    const int32_t[::1] function,
    const int64_t[::1] own,
    const int64_t[::1] total,
    const int64_t[::1] stacks,
    Py_ssize_t functions,
):
    """Return (self, total, stacks) of each function, int64 [3, functions]; recursion counts once.

    order is the pre-order of the nodes, function [N] the function of each node, and stacks [N] the
    number of stacks with a value that end in or below each node.
    """
    cdef int64_t[:, ::1] sums = np.zeros((3, functions), np.int64)
    cdef int32_t[::1] open_calls = np.zeros(functions, np.int32)
    cdef Py_ssize_t i, node, last = -1
    cdef int32_t f
    with nogil:
        for i in range(order.shape[0]):
            node = order[i]
            while last != parent[node]:  # leave calls that are not ancestors of this node
                open_calls[function[last]] -= 1
                last = parent[last]
            f = function[node]
            sums[0, f] += own[node]
            if open_calls[f] == 0:
                sums[1, f] += total[node]
                sums[2, f] += stacks[node]
            open_calls[f] += 1
            last = node
    return np.asarray(sums)


def mark_outermost(const int32_t[::1] parent, const int32_t[::1] function, Py_ssize_t functions):
    """Mark the nodes that have no ancestor of the same function, uint8 [N]."""
    cdef const int64_t[::1] order = preorder_nodes(parent, np.arange(parent.shape[0]))
    cdef int32_t[::1] open_calls = np.zeros(functions, np.int32)
    cdef uint8_t[::1] outermost = np.zeros(parent.shape[0], np.uint8)
    cdef Py_ssize_t i, node, last = -1
    with nogil:
        for i in range(order.shape[0]):
            node = order[i]
            while last != parent[node]:  # leave calls that are not ancestors of this node
                open_calls[function[last]] -= 1
                last = parent[last]
            outermost[node] = open_calls[function[node]] == 0
            open_calls[function[node]] += 1
            last = node
    return np.asarray(outermost)


def number_by_first_use(const int32_t[::1] values, Py_ssize_t below):
    """Number the distinct values from 0 to `below` - 1 in order of first use.

    Return (position of the first use of each number, int64 [M]; number of each value, int32
    [len(values)]).
    """
    cdef int32_t[::1] number_of = np.full(below, -1, np.int32)
    all_first = np.empty(min(values.shape[0], below), np.int64)
    numbers = np.empty(values.shape[0], np.int32)
    cdef int64_t[::1] first = all_first
    cdef int32_t[::1] number = numbers
    cdef Py_ssize_t i
    cdef int32_t count = 0
    with nogil:
        for i in range(values.shape[0]):
            if number_of[values[i]] < 0:
                number_of[values[i]] = count
                first[count] = i
                count += 1
            number[i] = number_of[values[i]]
    return all_first[:count], numbers
