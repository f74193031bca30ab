# Sums of squares over profiles, of the totals of nodes and of functions, and their counts.
#
# In float64, for the square of one profile's total may pass 2^63.

cdef enum:
    SELF_SQUARE = 0  # columns of each function
    SELF_PRESENT = 1
    TOTAL_SQUARE = 2
    TOTAL_PRESENT = 3
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


cdef inline void add_squares(const double* row, double* square, double* present) noexcept nogil:
    """Add the squares and the count of nonzero values of LANES numbers.

    Four partial sums allow the compiler to vectorise.
    """
    cdef double[4] sums, counts
    cdef int j
    for j in range(4):
        sums[j] = row[j] * row[j] + row[4 + j] * row[4 + j]
    for j in range(4):
        sums[j] += row[8 + j] * row[8 + j]
    for j in range(4):
        sums[j] += row[12 + j] * row[12 + j]
    for j in range(4):
        counts[j] = <double>(row[j] != 0) + <double>(row[4 + j] != 0)
    for j in range(4):
        counts[j] += <double>(row[8 + j] != 0) + <double>(row[12 + j] != 0)
    square[0] += (sums[0] + sums[1]) + (sums[2] + sums[3])
    present[0] += (counts[0] + counts[1]) + (counts[2] + counts[3])


cdef int add_all_squares(
    const double[:, ::1] table, double[::1] square, double[::1] present
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(table.shape[0]):
        add_squares(&table[i, 0], &square[i], &present[i])
    return 0


cdef int add_chains(
    double[:, ::1] total, const int32_t[::1] above, double[::1] square, double[::1] present
) except -1 nogil:
    """Add the squares of each chain's totals, and the totals to those of the calling chain.

    Chains are visited from last to first, so that totals are complete when they are squared.
    """
    cdef Py_ssize_t i
    for i in range(total.shape[0] - 1, -1, -1):
        add_squares(&total[i, 0], &square[i], &present[i])
        if above[i] >= 0:
            add_lanes(&total[above[i], 0], &total[i, 0])
    return 0


cdef int add_calls(
    double[:, ::1] into, const int32_t[::1] rows, const double[:, ::1] total, const int32_t[::1] chains
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        add_lanes(&into[rows[i], 0], &total[chains[i], 0])
    return 0


cdef int add_cells(
    double[:, ::1] into, Py_ssize_t lane, const int32_t[::1] row_of_line,
    const int32_t[::1] lines, const int64_t[::1] values, Py_ssize_t first, Py_ssize_t last,
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
        out_of_bounds()
    line, value, row_of, lanes = &lines[0], &values[0], &row_of_line[0], &into[0, lane]
    for i in range(first, last):
        if <uint32_t>line[i] >= count:
            out_of_bounds()
        row = <uint32_t>row_of[line[i]]
        if row >= rows:
            out_of_bounds()
        lanes[<Py_ssize_t>row * LANES] += <double>value[i]
    return 0


@cython.final
cdef class RowMoments:
    """Sums of squares and counts of rows of sparse values over a function tree, by group of rows.

    The totals of LANES rows of a group are side by side: an array for each chain, which is added to
    that of its caller. A chain consists of nodes with the same total in every row: most callers
    have one callee and no values of their own. Pointers refer to rows of LANES numbers, where the
    bounds are checked.
    """

    cdef const int32_t[::1] function
    cdef int32_t[::1] chain  # chain of each node; chains are in the order of their last nodes
    cdef int32_t[::1] above  # calling chain of each chain; -1 for roots
    cdef int32_t[::1] own  # row of `of_own` of each function; -1 if it has no values
    cdef int32_t[::1] calling  # chains of the outermost nodes of functions that have several
    cdef int32_t[::1] called  # row of `of_several` of each of these
    cdef int32_t[::1] several  # function of each row of `of_several`
    cdef int32_t[::1] only  # outermost node of each function; -1 if there are several
    cdef double[:, ::1] total  # [chains, LANES]
    cdef double[:, ::1] of_own, of_several  # [rows, LANES]
    cdef double[:, ::1] square, present  # [G, chains]
    cdef double[:, ::1] own_square, own_present, several_square, several_present  # [G, rows]

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
        chains = self.find_chains(parent, has_values, np.zeros(count, np.int32), np.empty(count, np.int32))
        self.total = np.zeros((chains, LANES))
        self.square, self.present = np.zeros((groups, chains)), np.zeros((groups, chains))
        self.find_own(has_values, functions, groups)
        self.find_several(parent, functions, groups)

    cdef find_chains(
        self, const int32_t[::1] parent, const uint8_t[::1] has_values, int32_t[::1] children, int32_t[::1] end
    ):
        """Assign nodes to chains and return the number of chains.

        A node without values has the total of its child if it has exactly one.
        """
        cdef Py_ssize_t i, above, chains = 0
        cdef int32_t[::1] chain = self.chain, caller
        with nogil:
            for i in range(parent.shape[0]):
                end[i] = <int32_t>i
                if parent[i] >= 0:
                    children[parent[i]] += 1
            for i in range(parent.shape[0] - 1, -1, -1):
                above = parent[i]
                if above >= 0 and children[above] == 1 and not has_values[above]:
                    end[above] = end[i]
            for i in range(parent.shape[0]):
                if end[i] == i:
                    chain[i] = <int32_t>chains
                    chains += 1
            for i in range(parent.shape[0]):
                chain[i] = chain[end[i]]
        self.above = caller = np.empty(chains, np.int32)
        with nogil:
            for i in range(parent.shape[0] - 1, -1, -1):  # the first node of a chain comes last
                caller[chain[i]] = chain[parent[i]] if parent[i] >= 0 else -1
        return chains

    cdef find_own(self, const uint8_t[::1] has_values, Py_ssize_t functions, Py_ssize_t groups):
        has = np.zeros(functions, bool)
        has[np.asarray(self.function)[np.flatnonzero(has_values)]] = True
        count = np.count_nonzero(has)
        self.own = np.where(has, np.cumsum(has) - 1, -1).astype(np.int32)
        self.of_own = np.zeros((count, LANES))
        self.own_square, self.own_present = np.zeros((groups, count)), np.zeros((groups, count))

    cdef find_several(self, const int32_t[::1] parent, Py_ssize_t functions, Py_ssize_t groups):
        outermost = np.zeros(parent.shape[0], np.uint8)
        mark_outermost(parent, self.function, outermost, np.zeros(functions, np.int32))
        nodes = np.flatnonzero(outermost)
        of_node = np.asarray(self.function)[nodes]
        several = np.bincount(of_node, minlength=functions) > 1
        at_several = several[of_node]
        self.calling = np.asarray(self.chain)[nodes[at_several]]
        self.called = (np.cumsum(several) - 1)[of_node[at_several]].astype(np.int32)
        self.several = np.flatnonzero(several).astype(np.int32)
        only = np.full(functions, -1, np.int32)
        only[of_node] = nodes
        only[several] = -1
        self.only = only
        count = len(self.several)
        self.of_several = np.zeros((count, LANES))
        self.several_square, self.several_present = np.zeros((groups, count)), np.zeros((groups, count))

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
        cdef Py_ssize_t first = 0, last, row
        cdef const int32_t[::1] chain, own
        if not self.total.shape[0]:
            return
        node = np.asarray(node_of_line)
        nowhere = node < 0  # lines without values in any row
        chain = np.where(nowhere, -1, np.asarray(self.chain)[node]).astype(np.int32)
        own = np.where(nowhere, -1, np.asarray(self.own)[np.asarray(self.function)[node]]).astype(np.int32)
        with nogil:
            while first < rows.shape[0]:
                last = first
                clear(self.total)
                clear(self.of_own)
                clear(self.of_several)
                while last < rows.shape[0] and last - first < LANES and group[rows[last]] == group[rows[first]]:
                    row = rows[last]
                    add_cells(self.total, last - first, chain, nodes, values, starts[row], starts[row + 1])
                    add_cells(self.of_own, last - first, own, nodes, values, starts[row], starts[row + 1])
                    last += 1
                self.take(group[rows[first]])
                first = last

    def tables(self):
        """Return (squares [G, N], counts [G, N], functions [G, 4, P])."""
        square = np.take(self.square, self.chain, axis=1)
        present = np.take(self.present, self.chain, axis=1)
        only, own = np.asarray(self.only), np.flatnonzero(np.asarray(self.own) >= 0)
        functions = np.zeros((self.square.shape[0], FUNCTION_COLUMNS, only.shape[0]))
        functions[:, SELF_SQUARE, own] = self.own_square
        functions[:, SELF_PRESENT, own] = self.own_present
        functions[:, TOTAL_SQUARE, self.several] = self.several_square
        functions[:, TOTAL_PRESENT, self.several] = self.several_present
        once = np.flatnonzero(only >= 0)
        functions[:, TOTAL_SQUARE, once] = square[:, only[once]]
        functions[:, TOTAL_PRESENT, once] = present[:, only[once]]
        return square, present, functions

    cdef int take(self, int32_t group) except -1 nogil:
        add_chains(self.total, self.above, self.square[group], self.present[group])
        add_calls(self.of_several, self.called, self.total, self.calling)
        add_all_squares(self.of_own, self.own_square[group], self.own_present[group])
        add_all_squares(self.of_several, self.several_square[group], self.several_present[group])
        return 0


cdef inline int clear(double[:, ::1] table) except -1 nogil:
    if table.shape[0]:
        memset(&table[0, 0], 0, table.shape[0] * LANES * sizeof(double))
    return 0


def mark_cells(
    const int64_t[::1] starts,
    const int32_t[::1] nodes,
    const int32_t[::1] place,
    const int64_t[::1] rows,
    uint8_t[::1] marks,
):
    """Mark `place`[node] for each node at which these rows have values."""
    cdef Py_ssize_t r, i
    with nogil:
        for r in range(rows.shape[0]):
            for i in range(starts[rows[r]], starts[rows[r] + 1]):
                marks[place[nodes[i]]] = 1


cdef int mark_outermost(
    const int32_t[::1] parent, const int32_t[::1] function, uint8_t[::1] outermost, int32_t[::1] calls
) except -1 nogil:
    """Mark the outermost nodes in a tree in pre-order: no ancestor is of the same function.

    `calls` are zeros, one for each function.
    """
    cdef Py_ssize_t i, above = -1
    for i in range(parent.shape[0]):
        while above != parent[i]:
            if above < 0:
                out_of_bounds()
            calls[function[above]] -= 1
            above = parent[above]
        outermost[i] = calls[function[i]] == 0
        calls[function[i]] += 1
        above = i
    return 0


@cython.final
cdef class MomentSums:
    """Sums of squares and counts of the nodes and functions of a Forest grouped by function."""

    cdef double[:, ::1] nodes  # [2, N]: squares, counts
    cdef double[:, ::1] functions  # [FUNCTION_COLUMNS, P]
    cdef uint8_t[::1] outermost  # 1 for nodes with no ancestor of the same function
    cdef double[::1] total  # totals of the nodes in the current tree
    cdef double[:, ::1] of_function
    cdef int32_t[::1] calls

    def __init__(self):
        self.nodes = np.zeros((2, FIRST))
        self.functions = np.zeros((FUNCTION_COLUMNS, FIRST))
        self.outermost = np.zeros(FIRST, np.uint8)
        self.total = np.zeros(FIRST)
        self.of_function = np.zeros((2, FIRST))
        self.calls = np.zeros(FIRST, np.int32)

    def grow(self, Py_ssize_t nodes, Py_ssize_t functions):
        """Make room for this many nodes and functions."""
        if nodes > self.total.shape[0]:
            self.nodes = wider(self.nodes, 2 * nodes)
            self.outermost = enlarged(self.outermost, 2 * nodes)
            self.total = enlarged(self.total, 2 * nodes)
        if functions > self.calls.shape[0]:
            self.functions = wider(self.functions, 2 * functions)
            self.of_function = wider(self.of_function, 2 * functions)
            self.calls = enlarged(self.calls, 2 * functions)

    def add_tree(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] place,
        const int32_t[::1] function,
        const int32_t[::1] functions,
        const int32_t[::1] sampled,
        const int64_t[::1] values,
        bint is_new,
    ):
        """Add one profile of N nodes, M of which have values.

        place and function [N] are the index in the forest of each node and of its function;
        functions are the indexes of all functions of the tree, each once. is_new is set if the
        forest got new nodes from this tree.
        """
        cdef double[::1] own = np.zeros(parent.shape[0])
        cdef Py_ssize_t i
        if is_new:
            self.find_outermost(parent, place, function)
        with nogil:
            for i in range(sampled.shape[0]):
                own[sampled[i]] += <double>values[i]
                self.of_function[0, function[sampled[i]]] += <double>values[i]
            for i in range(parent.shape[0] - 1, -1, -1):
                if parent[i] >= 0:
                    own[parent[i]] += own[i]
                self.total[place[i]] += own[i]
            for i in range(parent.shape[0]):
                self.take_node(place[i], function[i])
            for i in range(functions.shape[0]):
                self.take_function(functions[i])

    cdef int take_node(self, int32_t node, int32_t function) except -1 nogil:
        """Add the square of the node's total, and reset the total.

        If several nodes of the tree have the same index, only the first finds a total.
        """
        cdef double total = self.total[node]
        if total != 0:
            self.nodes[0, node] += total * total
            self.nodes[1, node] += 1
            if self.outermost[node]:
                self.of_function[1, function] += total
            self.total[node] = 0
        return 0

    cdef int take_function(self, int32_t function) except -1 nogil:
        cdef Py_ssize_t k
        cdef double value
        for k in range(2):
            value = self.of_function[k, function]
            if value != 0:
                self.functions[2 * k, function] += value * value
                self.functions[2 * k + 1, function] += 1
                self.of_function[k, function] = 0
        return 0

    cdef find_outermost(
        self, const int32_t[::1] parent, const int32_t[::1] place, const int32_t[::1] function
    ):
        cdef const int64_t[::1] order = follow(parent, np.arange(parent.shape[0]))
        cdef Py_ssize_t i, node, above = -1
        with nogil:
            for i in range(order.shape[0]):
                node = order[i]
                while above != parent[node]:
                    self.calls[function[above]] -= 1
                    above = parent[above]
                self.outermost[place[node]] = self.calls[function[node]] == 0
                self.calls[function[node]] += 1
                above = node
            while above >= 0:
                self.calls[function[above]] -= 1
                above = parent[above]

    def add_nodes(
        self, const int32_t[::1] parent, const int32_t[::1] place, const int32_t[::1] function,
        const double[::1] square, const double[::1] present,
    ):
        """Add squares and counts of many profiles at once; other arguments are as in add_tree."""
        cdef Py_ssize_t i
        self.find_outermost(parent, place, function)
        with nogil:
            for i in range(place.shape[0]):
                self.nodes[0, place[i]] += square[i]
                self.nodes[1, place[i]] += present[i]

    def add_functions(self, const int32_t[::1] rows, const double[:, :] columns):
        """Add columns [4, len(rows)] to the functions of these rows."""
        cdef Py_ssize_t i, k
        with nogil:
            for k in range(columns.shape[0]):
                for i in range(rows.shape[0]):
                    self.functions[k, rows[i]] += columns[k, i]

    def tables(self, Py_ssize_t nodes, Py_ssize_t functions):
        """Return (squares, counts) of nodes, float64 [2, nodes], and the columns [4, functions]."""
        return np.array(self.nodes[:, :nodes]), np.array(self.functions[:, :functions])


cdef wider(old, Py_ssize_t capacity):
    """Return a copy with `capacity` columns; new columns are zero."""
    old = np.asarray(old)
    new = np.zeros((old.shape[0], capacity))
    new[:, : old.shape[1]] = old
    return new


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
