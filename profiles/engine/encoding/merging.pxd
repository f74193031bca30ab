"""Reader of stored trees, for sums of squares over the trees that it merged."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from profiles.engine.calltree.forest cimport Forest, NodeTable
from profiles.engine.hashing cimport KeyTable, raise_out_of_bounds


cdef class StoredTreeReader:
    cdef const uint8_t[::1] data
    cdef Py_ssize_t[::1] at  # offset of each column
    cdef Py_ssize_t[::1] count  # length of each column
    cdef int[::1] width  # bytes per number; -8 for signed ones
    cdef Py_ssize_t columns
    cdef Py_ssize_t functions, frames, nodes, sampled  # of the tree
    cdef int32_t[::1] forest_function  # index in the forest of each function
    cdef int32_t[::1] frame_function  # function of each frame; once added, its index in the forest
    cdef int32_t[::1] parent
    cdef int32_t[::1] frame  # frame of each node; once added, its index in the forest
    cdef int32_t[::1] node  # nodes with values
    cdef int32_t[::1] forest_node  # index in the forest of each node
    cdef int64_t[::1] value  # of each of `node`, for the metric that was read last

    cdef open_tree(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics)
    cdef find_columns(self, Py_ssize_t at, list columns)
    cdef check_shape(self, Py_ssize_t metrics)
    cdef reserve_arrays(self)
    cdef int read_nodes(self) except -1 nogil
    cdef int read_index(self, Py_ssize_t column, int64_t below, int32_t[::1] into) except -1 nogil
    cdef int read_values(self, Py_ssize_t column, int64_t factor) except -1 nogil
    cdef int add_nodes(self, NodeTable nodes, const uint64_t[::1] ids) except -1 nogil

    @cython.final
    cdef inline int64_t number(self, Py_ssize_t column, Py_ssize_t i) except? 7 nogil:
        """Read number i of a column."""
        cdef int width = self.width[column]
        cdef Py_ssize_t at, byte
        cdef uint64_t value = 0
        if width < 0:
            width = -width
        at = self.at[column] + i * width
        if width == 8:
            if at + 8 > self.data.shape[0]:
                raise_out_of_bounds()
            memcpy(&value, &self.data[at], 8)
            return <int64_t>value
        for byte in range(width):
            value |= <uint64_t>self.data[at + byte] << (8 * byte)
        return <int64_t>value


@cython.final
cdef class FunctionMerger(StoredTreeReader):
    cdef Forest forest
    cdef int32_t[::1] successor  # frame that followed each frame of the forest in the last tree

    cdef Py_ssize_t find_functions(self, KeyTable frames) except -1 nogil
    cdef int add_values(self, Py_ssize_t column) except -1 nogil
