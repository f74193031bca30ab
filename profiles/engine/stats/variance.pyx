"""Sums of squares and counts of the totals of merged profiles, and the normal distribution.

Sums are in float64, for the square of one profile's total may pass 2^63.
"""

cimport cython
from libc cimport math
from libc.stdint cimport int32_t, int64_t, uint8_t

from profiles.engine.calltree.forest cimport preorder_nodes
from profiles.engine.encoding.merging cimport FunctionMerger
from profiles.engine.hashing cimport INITIAL_CAPACITY, grow_rows

import numpy as np

cdef enum:
    # Columns of each function: sum of squares and count of self values, and of totals.
    FUNCTION_COLUMNS = 4


@cython.final
cdef class VarianceSums:
    """Sums of squares and counts of the nodes and functions of a Forest merged by function."""

    cdef double[:, ::1] nodes  # [2, N]: sums of squares, counts
    cdef double[:, ::1] functions  # [FUNCTION_COLUMNS, P]
    cdef uint8_t[::1] outermost  # 1 for nodes with no ancestor of the same function
    cdef double[::1] node_total  # in the current tree; zeros between trees
    cdef double[:, ::1] function_total  # [2, P]: self and total in the current tree
    cdef int32_t[::1] open_calls  # of each function on the current path; zeros between trees

    def __init__(self):
        self.nodes = np.zeros((2, INITIAL_CAPACITY))
        self.functions = np.zeros((FUNCTION_COLUMNS, INITIAL_CAPACITY))
        self.outermost = np.zeros(INITIAL_CAPACITY, np.uint8)
        self.node_total = np.zeros(INITIAL_CAPACITY)
        self.function_total = np.zeros((2, INITIAL_CAPACITY))
        self.open_calls = np.zeros(INITIAL_CAPACITY, np.int32)

    def reserve(self, Py_ssize_t nodes, Py_ssize_t functions):
        """Make room for this many nodes and functions of the forest."""
        if nodes > self.node_total.shape[0]:
            self.nodes = grow_columns(self.nodes, 2 * nodes)
            self.outermost = grow_rows(self.outermost, 2 * nodes)
            self.node_total = grow_rows(self.node_total, 2 * nodes)
        if functions > self.open_calls.shape[0]:
            self.functions = grow_columns(self.functions, 2 * functions)
            self.function_total = grow_columns(self.function_total, 2 * functions)
            self.open_calls = grow_rows(self.open_calls, 2 * functions)

    def add_tree(self, FunctionMerger trees, bint is_new):
        """Add the tree that `trees` added last, with the values of its last metric, as one profile.

        is_new is set if the forest got new nodes from this tree.
        """
        cdef const int32_t[::1] parent = trees.parent[: trees.nodes]
        cdef const int32_t[::1] forest_node = trees.forest_node[: trees.nodes]
        cdef const int32_t[::1] function = trees.frame[: trees.nodes]
        cdef const int32_t[::1] functions = trees.forest_function[: trees.functions]
        cdef const int32_t[::1] sampled = trees.node[: trees.sampled]
        cdef const int64_t[::1] values = trees.value[: trees.sampled]
        cdef double[::1] total = np.zeros(trees.nodes)
        cdef Py_ssize_t i
        self.reserve(trees.forest.nodes.sums.keys.count, trees.forest.frames.count)
        if is_new:
            self.find_outermost(parent, forest_node, function)
        with nogil:
            for i in range(sampled.shape[0]):
                total[sampled[i]] += <double>values[i]
                self.function_total[0, function[sampled[i]]] += <double>values[i]
            for i in range(parent.shape[0] - 1, -1, -1):
                if parent[i] >= 0:
                    total[parent[i]] += total[i]
                self.node_total[forest_node[i]] += total[i]
            for i in range(parent.shape[0]):
                self.square_node(forest_node[i], function[i])
            for i in range(functions.shape[0]):
                self.square_function(functions[i])

    cdef int square_node(self, int32_t node, int32_t function) except -1 nogil:
        """Add the square of the node's total, and reset the total.

        If several nodes of the tree have the same index, only the first finds a total.
        """
        cdef double total = self.node_total[node]
        if total != 0:
            self.nodes[0, node] += total * total
            self.nodes[1, node] += 1
            if self.outermost[node]:
                self.function_total[1, function] += total
            self.node_total[node] = 0
        return 0

    cdef int square_function(self, int32_t function) except -1 nogil:
        """Add the squares of the function's self value and total, and reset these."""
        cdef Py_ssize_t k
        cdef double value
        for k in range(2):
            value = self.function_total[k, function]
            if value != 0:
                self.functions[2 * k, function] += value * value
                self.functions[2 * k + 1, function] += 1
                self.function_total[k, function] = 0
        return 0

    cdef find_outermost(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] forest_node,
        const int32_t[::1] function,
    ):
        cdef const int64_t[::1] order = preorder_nodes(parent, np.arange(parent.shape[0]))
        cdef Py_ssize_t i, node, last = -1
        with nogil:
            for i in range(order.shape[0]):
                node = order[i]
                while last != parent[node]:  # leave calls that are not ancestors of this node
                    self.open_calls[function[last]] -= 1
                    last = parent[last]
                self.outermost[forest_node[node]] = self.open_calls[function[node]] == 0
                self.open_calls[function[node]] += 1
                last = node
            while last >= 0:
                self.open_calls[function[last]] -= 1
                last = parent[last]

    def add_nodes(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] forest_node,
        const int32_t[::1] function,
        const double[::1] squares,
        const double[::1] counts,
    ):
        """Add sums of squares and counts of a tree of many profiles.

        forest_node and function [N] are the index in the forest of each node and of its function.
        """
        cdef Py_ssize_t i
        self.find_outermost(parent, forest_node, function)
        with nogil:
            for i in range(forest_node.shape[0]):
                self.nodes[0, forest_node[i]] += squares[i]
                self.nodes[1, forest_node[i]] += counts[i]

    def add_functions(self, const int32_t[::1] functions, const double[:, :] columns):
        """Add columns [FUNCTION_COLUMNS, len(functions)] to these functions of the forest."""
        cdef Py_ssize_t i, k
        with nogil:
            for k in range(columns.shape[0]):
                for i in range(functions.shape[0]):
                    self.functions[k, functions[i]] += columns[k, i]

    def tables(self, Py_ssize_t nodes, Py_ssize_t functions):
        """Return (squares, counts) of nodes, float64 [2, nodes], and the columns [4, functions]."""
        return np.array(self.nodes[:, :nodes]), np.array(self.functions[:, :functions])


cdef grow_columns(old, Py_ssize_t capacity):
    """Return a copy with `capacity` columns; new columns are zero."""
    old = np.asarray(old)
    new = np.zeros((old.shape[0], capacity))
    new[:, : old.shape[1]] = old
    return new


def erfc(const double[::1] x):
    """Return the complementary error function of each number, float64 [len(x)]."""
    result = np.empty(x.shape[0])
    cdef double[::1] out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = math.erfc(x[i])
    return result
