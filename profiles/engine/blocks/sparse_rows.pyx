"""Loops over the sparse values of blocks: decoding, sorting, sums, and sums of squares.

Row r (a profile, or a group of them) has the values starts[r] to starts[r + 1], each at a node.
Sums of squares are in float64, for the square of one profile's total may pass 2^63.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from profiles.engine.hashing cimport raise_out_of_bounds, raise_overflow

import numpy as np


def decode_nodes(int32_t[::1] steps, const int64_t[::1] starts, int64_t below):
    """Replace steps by the nodes that they lead to, in target; each row starts from -1.

    Raise `ValueError` if a node is not less than `below`.
    """
    cdef Py_ssize_t r, i
    cdef int64_t at
    with nogil:
        for r in range(starts.shape[0] - 1):
            at = -1
            for i in range(starts[r], starts[r + 1]):
                at += <int64_t>steps[i] + 1
                if at >= below or steps[i] < 0:
                    with gil:
                        raise ValueError(f"index {at} out of range: {below} rows")
                steps[i] = <int32_t>at


def sum_rows(
    const int64_t[::1] starts,
    const int32_t[::1] nodes,
    const int64_t[::1] values,
    const uint8_t[::1] rows,
    const int32_t[::1] target,
    int64_t[::1] sums,
    uint8_t[::1] used,
):
    """Add the values of the marked rows to sums[target[node]], and mark these entries in `used`."""
    cdef Py_ssize_t r, i, targets = min(sums.shape[0], used.shape[0])
    with nogil:
        for i in range(target.shape[0]):
            if not 0 <= target[i] < targets:
                raise_out_of_bounds()
        for r in range(rows.shape[0]):
            if rows[r]:
                sum_row(nodes, values, starts[r], starts[r + 1], target, sums, used)


cdef int sum_row(
    const int32_t[::1] nodes,
    const int64_t[::1] values,
    Py_ssize_t first,
    Py_ssize_t last,
    const int32_t[::1] target,
    int64_t[::1] sums,
    uint8_t[::1] used,
) except -1 nogil:
    """Add the values first to last of one row.

    The range of the row and each node are checked here, so that the loop, which takes most of the
    time of a query, can use pointers. The caller has checked the targets.
    """
    cdef Py_ssize_t i
    cdef uint32_t count = <uint32_t>target.shape[0]
    cdef const int32_t* node
    cdef const int32_t* targets
    cdef const int64_t* number
    cdef int64_t before, after, value
    cdef int64_t* sum_of
    cdef uint8_t* mark
    cdef int32_t at
    if last <= first:
        return 0
    if first < 0 or last > nodes.shape[0] or last > values.shape[0] or not count:
        raise_out_of_bounds()
    node, number, targets, sum_of, mark = &nodes[0], &values[0], &target[0], &sums[0], &used[0]
    for i in range(first, last):
        if <uint32_t>node[i] >= count:
            raise_out_of_bounds()
        at = targets[node[i]]
        value = number[i]
        before = sum_of[at]
        after = <int64_t>(<uint64_t>before + <uint64_t>value)
        if ((before ^ after) & (value ^ after)) < 0:
            raise_overflow()
        sum_of[at] = after
        mark[at] = 1
    return 0


def mark_ancestors(const int32_t[::1] parent, uint8_t[::1] used):
    """Mark all ancestors of marked nodes."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0] - 1, -1, -1):
            if used[i] and parent[i] >= 0:
                used[parent[i]] = 1


def groups_from_ends(const int64_t[::1] ends, Py_ssize_t count):
    """Return the group of each of `count` rows, int32; group g has the rows up to ends[g]."""
    cdef Py_ssize_t g, i = 0
    groups = np.empty(count, np.int32)
    cdef int32_t[::1] out = groups
    with nogil:
        for g in range(ends.shape[0]):
            while i < ends[g]:
                out[i] = <int32_t>g
                i += 1
    return groups


def sort_by_group(const int32_t[::1] group, Py_ssize_t groups):
    """Sort rows by group, stably: (starts int64 [groups + 1], position of each row int32 [N])."""
    all_starts, positions = np.zeros(groups + 1, np.int64), np.empty(group.shape[0], np.int32)
    cdef int64_t[::1] starts = all_starts, next
    cdef int32_t[::1] position = positions
    cdef Py_ssize_t i
    with nogil:
        for i in range(group.shape[0]):
            starts[group[i] + 1] += 1
        for i in range(groups):
            starts[i + 1] += starts[i]
    next = all_starts.copy()
    with nogil:
        for i in range(group.shape[0]):
            position[i] = <int32_t>next[group[i]]
            next[group[i]] += 1
    return all_starts, positions


def sort_values(
    const int64_t[::1] rank, const int64_t[::1] lengths, const int32_t[::1] node, Py_ssize_t nodes
):
    """Return the order of sparse values by the rank of their row, then by node: int64 [C].

    The input is row by row, with lengths[r] values in row r; nodes are less than `nodes`.
    """
    cdef Py_ssize_t values = node.shape[0], rows = lengths.shape[0], r, i, at = 0
    order = np.empty(values, np.int64)
    cdef int64_t[::1] out = order, next = np.zeros(rows + 1, np.int64)
    cdef int64_t[::1] ends = np.zeros(nodes + 1, np.int64)
    cdef int32_t[::1] by_node = np.empty(values, np.int32), row = np.empty(values, np.int32)
    with nogil:
        for r in range(rows):
            next[rank[r] + 1] = lengths[r]
            for i in range(at, at + lengths[r]):
                row[i] = <int32_t>rank[r]
                ends[node[i] + 1] += 1
            at += lengths[r]
        for r in range(rows):
            next[r + 1] += next[r]
        for i in range(nodes):
            ends[i + 1] += ends[i]
        for i in range(values):
            by_node[ends[node[i]]] = <int32_t>i
            ends[node[i]] += 1
        for i in range(values):
            at = by_node[i]
            out[next[row[at]]] = at
            next[row[at]] += 1
    return order


cdef enum:
    # Columns of each function.
    SELF_SQUARE = 0
    SELF_COUNT = 1
    TOTAL_SQUARE = 2
    TOTAL_COUNT = 3
    FUNCTION_COLUMNS = 4
    LANES = 16  # rows that are summed side by side (SIMD)


# All lanes are read before any is written, so that the compiler can vectorise.
cdef inline void add_lanes(double* into, const double* row) noexcept nogil:
    cdef double[LANES] sums
    cdef int j
    for j in range(LANES):
        sums[j] = into[j] + row[j]
    for j in range(LANES):
        into[j] = sums[j]


cdef inline void add_squares(const double* row, double* square, double* count) noexcept nogil:
    """Add the squares and the count of nonzero values of LANES numbers.

    Four partial sums allow the compiler to vectorise.
    """
    cdef double[4] sums, nonzero
    cdef int j
    for j in range(4):
        sums[j] = row[j] * row[j] + row[4 + j] * row[4 + j]
    for j in range(4):
        sums[j] += row[8 + j] * row[8 + j]
    for j in range(4):
        sums[j] += row[12 + j] * row[12 + j]
    for j in range(4):
        nonzero[j] = <double>(row[j] != 0) + <double>(row[4 + j] != 0)
    for j in range(4):
        nonzero[j] += <double>(row[8 + j] != 0) + <double>(row[12 + j] != 0)
    square[0] += (sums[0] + sums[1]) + (sums[2] + sums[3])
    count[0] += (nonzero[0] + nonzero[1]) + (nonzero[2] + nonzero[3])


cdef int add_all_squares(
    const double[:, ::1] table, double[::1] squares, double[::1] counts
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(table.shape[0]):
        add_squares(&table[i, 0], &squares[i], &counts[i])
    return 0


cdef int add_chains(
    double[:, ::1] total, const int32_t[::1] caller, double[::1] squares, double[::1] counts
) except -1 nogil:
    """Add the squares of each chain's totals, and the totals to those of the calling chain.

    Chains are visited from last to first, so that totals are complete when they are squared.
    """
    cdef Py_ssize_t i
    for i in range(total.shape[0] - 1, -1, -1):
        add_squares(&total[i, 0], &squares[i], &counts[i])
        if caller[i] >= 0:
            add_lanes(&total[caller[i], 0], &total[i, 0])
    return 0


cdef int add_calls(
    double[:, ::1] into,
    const int32_t[::1] rows,
    const double[:, ::1] total,
    const int32_t[::1] chains,
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        add_lanes(&into[rows[i], 0], &total[chains[i], 0])
    return 0


cdef int add_row(
    double[:, ::1] into,
    Py_ssize_t lane,
    const int32_t[::1] row_of_line,
    const int32_t[::1] lines,
    const int64_t[::1] values,
    Py_ssize_t first,
    Py_ssize_t last,
) except -1 nogil:
    """Add the values of one row to its lane; bounds are checked as in sum_row."""
    cdef Py_ssize_t i
    cdef uint32_t count = <uint32_t>row_of_line.shape[0], rows = <uint32_t>into.shape[0], row
    cdef const int32_t* line
    cdef const int32_t* row_of
    cdef const int64_t* value
    cdef double* lanes
    if last <= first:
        return 0
    if first < 0 or last > lines.shape[0] or last > values.shape[0] or not count:
        raise_out_of_bounds()
    line, value, row_of, lanes = &lines[0], &values[0], &row_of_line[0], &into[0, lane]
    for i in range(first, last):
        if <uint32_t>line[i] >= count:
            raise_out_of_bounds()
        row = <uint32_t>row_of[line[i]]
        if row >= rows:
            raise_out_of_bounds()
        lanes[<Py_ssize_t>row * LANES] += <double>value[i]
    return 0


@cython.final
cdef class RowVarianceSums:
    """Sums of squares and counts over rows of sparse values in a function tree, by group of rows.

    The totals of LANES rows of a group are side by side: an array for each chain, which is added to
    that of its caller. A chain consists of nodes with the same total in every row: most callers
    have one callee and no values of their own. Pointers refer to rows of LANES numbers, where the
    bounds are checked.
    """

    cdef const int32_t[::1] function
    cdef int32_t[::1] chain  # chain of each node; chains are in the order of their last nodes
    cdef int32_t[::1] calling_chain  # calling chain of each chain; -1 for roots
    cdef int32_t[::1] own  # row of `of_own` of each function; -1 if it has no values
    cdef int32_t[::1] several_chain  # chains of the outermost nodes of functions with several
    cdef int32_t[::1] several_row  # row of `of_several` of each of these
    cdef int32_t[::1] several  # function of each row of `of_several`
    cdef int32_t[::1] only  # outermost node of each function; -1 if there are several
    cdef double[:, ::1] total  # [chains, LANES]
    cdef double[:, ::1] of_own, of_several  # [rows, LANES]
    cdef double[:, ::1] squares, counts  # [G, chains]
    cdef double[:, ::1] own_squares, own_counts, several_squares, several_counts  # [G, rows]

    def __init__(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] function,
        const uint8_t[::1] has_values,
        Py_ssize_t functions,
        Py_ssize_t groups,
    ):
        cdef Py_ssize_t count = parent.shape[0]
        self.function = function
        self.chain = np.empty(count, np.int32)
        children, end = np.zeros(count, np.int32), np.empty(count, np.int32)
        chains = self.find_chains(parent, has_values, children, end)
        self.total = np.zeros((chains, LANES))
        self.squares, self.counts = np.zeros((groups, chains)), np.zeros((groups, chains))
        self.find_own(has_values, functions, groups)
        self.find_several(parent, functions, groups)

    cdef find_chains(
        self,
        const int32_t[::1] parent,
        const uint8_t[::1] has_values,
        int32_t[::1] children,
        int32_t[::1] end,
    ):
        """Assign nodes to chains and return the number of chains.

        A node without values has the total of its child if it has exactly one. `children` are
        zeros and become the number of children of each node; `end` becomes the last node of the
        chain of each node.
        """
        cdef Py_ssize_t i, caller, chains = 0
        cdef int32_t[::1] chain = self.chain, calling_chain
        with nogil:
            for i in range(parent.shape[0]):
                end[i] = <int32_t>i
                if parent[i] >= 0:
                    children[parent[i]] += 1
            for i in range(parent.shape[0] - 1, -1, -1):
                caller = parent[i]
                if caller >= 0 and children[caller] == 1 and not has_values[caller]:
                    end[caller] = end[i]
            for i in range(parent.shape[0]):
                if end[i] == i:
                    chain[i] = <int32_t>chains
                    chains += 1
            for i in range(parent.shape[0]):
                chain[i] = chain[end[i]]
        self.calling_chain = calling_chain = np.empty(chains, np.int32)
        with nogil:
            for i in range(parent.shape[0] - 1, -1, -1):  # the first node of a chain comes last
                calling_chain[chain[i]] = chain[parent[i]] if parent[i] >= 0 else -1
        return chains

    cdef find_own(self, const uint8_t[::1] has_values, Py_ssize_t functions, Py_ssize_t groups):
        has = np.zeros(functions, bool)
        has[np.asarray(self.function)[np.flatnonzero(has_values)]] = True
        count = np.count_nonzero(has)
        self.own = np.where(has, np.cumsum(has) - 1, -1).astype(np.int32)
        self.of_own = np.zeros((count, LANES))
        self.own_squares = np.zeros((groups, count))
        self.own_counts = np.zeros((groups, count))

    cdef find_several(self, const int32_t[::1] parent, Py_ssize_t functions, Py_ssize_t groups):
        outermost = np.zeros(parent.shape[0], np.uint8)
        mark_outermost(parent, self.function, outermost, np.zeros(functions, np.int32))
        nodes = np.flatnonzero(outermost)
        of_node = np.asarray(self.function)[nodes]
        several = np.bincount(of_node, minlength=functions) > 1
        at_several = several[of_node]
        self.several_chain = np.asarray(self.chain)[nodes[at_several]]
        self.several_row = (np.cumsum(several) - 1)[of_node[at_several]].astype(np.int32)
        self.several = np.flatnonzero(several).astype(np.int32)
        only = np.full(functions, -1, np.int32)
        only[of_node] = nodes
        only[several] = -1
        self.only = only
        count = len(self.several)
        self.of_several = np.zeros((count, LANES))
        self.several_squares = np.zeros((groups, count))
        self.several_counts = np.zeros((groups, count))

    def add(
        self,
        const int64_t[::1] starts,
        const int32_t[::1] nodes,
        const int64_t[::1] values,
        const int32_t[::1] node_of_line,
        const int64_t[::1] rows,
        const int32_t[::1] group,
    ):
        """Add rows of sparse values at line nodes; group [R] is the group of each row of the chunk.

        Rows of one group must be adjacent in `rows`.
        """
        cdef Py_ssize_t first = 0, last, lane, row, start, stop
        cdef const int32_t[::1] chain, own
        if not self.total.shape[0]:
            return
        node = np.asarray(node_of_line)
        unused = node < 0  # lines without values in any row
        chain = np.where(unused, -1, np.asarray(self.chain)[node]).astype(np.int32)
        own_row = np.asarray(self.own)[np.asarray(self.function)[node]]
        own = np.where(unused, -1, own_row).astype(np.int32)
        with nogil:
            while first < rows.shape[0]:
                last = first
                clear(self.total)
                clear(self.of_own)
                clear(self.of_several)
                for lane in range(min(LANES, rows.shape[0] - first)):
                    row = rows[last]
                    if group[row] != group[rows[first]]:
                        break
                    start, stop = starts[row], starts[row + 1]
                    add_row(self.total, lane, chain, nodes, values, start, stop)
                    add_row(self.of_own, lane, own, nodes, values, start, stop)
                    last += 1
                self.add_lane_squares(group[rows[first]])
                first = last

    def tables(self):
        """Return (squares [G, N], counts [G, N], functions [G, 4, P])."""
        squares = np.take(self.squares, self.chain, axis=1)
        counts = np.take(self.counts, self.chain, axis=1)
        only, own = np.asarray(self.only), np.flatnonzero(np.asarray(self.own) >= 0)
        functions = np.zeros((self.squares.shape[0], FUNCTION_COLUMNS, only.shape[0]))
        functions[:, SELF_SQUARE, own] = self.own_squares
        functions[:, SELF_COUNT, own] = self.own_counts
        functions[:, TOTAL_SQUARE, self.several] = self.several_squares
        functions[:, TOTAL_COUNT, self.several] = self.several_counts
        once = np.flatnonzero(only >= 0)
        functions[:, TOTAL_SQUARE, once] = squares[:, only[once]]
        functions[:, TOTAL_COUNT, once] = counts[:, only[once]]
        return squares, counts, functions

    cdef int add_lane_squares(self, int32_t group) except -1 nogil:
        """Add the totals of the rows in the lanes to the sums of their group."""
        add_chains(self.total, self.calling_chain, self.squares[group], self.counts[group])
        add_calls(self.of_several, self.several_row, self.total, self.several_chain)
        add_all_squares(self.of_own, self.own_squares[group], self.own_counts[group])
        add_all_squares(self.of_several, self.several_squares[group], self.several_counts[group])
        return 0


cdef inline int clear(double[:, ::1] table) except -1 nogil:
    if table.shape[0]:
        memset(&table[0, 0], 0, table.shape[0] * LANES * sizeof(double))
    return 0


def mark_nodes(
    const int64_t[::1] starts,
    const int32_t[::1] nodes,
    const int32_t[::1] target,
    const int64_t[::1] rows,
    uint8_t[::1] marks,
):
    """Mark `target`[node] for each node at which these rows have values."""
    cdef Py_ssize_t r, i
    with nogil:
        for r in range(rows.shape[0]):
            for i in range(starts[rows[r]], starts[rows[r] + 1]):
                marks[target[nodes[i]]] = 1


cdef int mark_outermost(
    const int32_t[::1] parent,
    const int32_t[::1] function,
    uint8_t[::1] outermost,
    int32_t[::1] calls,
) except -1 nogil:
    """Mark the outermost nodes in a tree in pre-order: no ancestor is of the same function.

    `calls` are zeros, one for each function.
    """
    cdef Py_ssize_t i, caller = -1
    for i in range(parent.shape[0]):
        while caller != parent[i]:
            if caller < 0:
                raise_out_of_bounds()
            calls[function[caller]] -= 1
            caller = parent[caller]
        outermost[i] = calls[function[i]] == 0
        calls[function[i]] += 1
        caller = i
    return 0


def outermost_nodes(const int32_t[::1] parent, const int32_t[::1] function, Py_ssize_t functions):
    """Return (count, last), int32 [functions], of the outermost nodes of each function.

    A node is outermost if no ancestor is of the same function. The tree is in pre-order.
    """
    counts, lasts = np.zeros(functions, np.int32), np.full(functions, -1, np.int32)
    cdef int32_t[::1] count = counts, last = lasts, calls = np.zeros(functions, np.int32)
    cdef uint8_t[::1] outermost = np.zeros(parent.shape[0], np.uint8)
    cdef Py_ssize_t i
    with nogil:
        mark_outermost(parent, function, outermost, calls)
        for i in range(parent.shape[0]):
            if outermost[i]:
                count[function[i]] += 1
                last[function[i]] = <int32_t>i
    return counts, lasts


def add_table(
    double[:, :] sums,
    const int64_t[::1] rows,
    const int64_t[::1] columns,
    const double[:, :] values,
):
    """Add values [len(rows), len(columns)] at these rows and columns, which are distinct."""
    cdef Py_ssize_t r, c
    with nogil:
        for r in range(rows.shape[0]):
            for c in range(columns.shape[0]):
                sums[rows[r], columns[c]] += values[r, c]
