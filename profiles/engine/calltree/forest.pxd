"""Tables of merged call trees, for the readers of stored trees."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from profiles.engine.hashing cimport KeyTable, SumTable


@cython.final
cdef class NodeTable:
    cdef readonly SumTable sums  # keyed by parent + 1 and frame, 32 bits each
    cdef uint64_t[::1] id
    cdef int32_t[::1] parent
    cdef int32_t[::1] frame
    cdef int32_t[::1] successor  # node that followed each node in the last tree that had it

    cdef Py_ssize_t child(
        self, Py_ssize_t parent, Py_ssize_t frame, uint64_t frame_id
    ) except -1 nogil
    cdef int grow(self, Py_ssize_t capacity) except -1 nogil

    cdef inline Py_ssize_t child_after(
        self, Py_ssize_t last, Py_ssize_t parent, Py_ssize_t frame, uint64_t frame_id
    ) except -1 nogil:
        """Return the same as `child`; fast if it follows the `last` node as in an earlier tree."""
        cdef Py_ssize_t next
        if last < 0:
            return self.child(parent, frame, frame_id)
        next = self.successor[last]
        if self.parent[next] == parent and self.frame[next] == frame:
            return next
        next = self.child(parent, frame, frame_id)
        self.successor[last] = <int32_t>next
        return next


@cython.final
cdef class Forest:
    cdef readonly NodeTable nodes
    cdef readonly KeyTable frames


@cython.final
cdef class StringPool:
    cdef readonly KeyTable ids
    cdef uint8_t[::1] data
    cdef int64_t[::1] ends

    cdef int32_t insert_one(
        self, const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
    cdef int append(
        self, const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
    cdef int reserve(self, Py_ssize_t number, Py_ssize_t end) except -1 nogil


cpdef preorder_nodes(const int32_t[::1] parent, const int64_t[::1] ranked)
