# Moments: Σ of squares over profiles, of the totals of nodes and of functions.
#
# In float64, for the square of one profile's total may pass 2^63.

cdef enum:
    SELF_SQUARE = 0  # what is kept of each function
    SELF_PRESENT = 1
    TOTAL_SQUARE = 2
    TOTAL_PRESENT = 3
    FUNCTION_COLUMNS = 4
    LANES = 16  # rows that are added up side by side


cdef inline void add_lanes(double* into, const double* row) noexcept nogil:
    cdef int j
    for j in range(LANES):
        into[j] += row[j]


cdef inline void add_squares(const double* row, double* square, double* present) noexcept nogil:
    """In four sums, which the compiler can keep side by side."""
    cdef double[4] sums
    cdef int j, count = 0
    sums[0] = sums[1] = sums[2] = sums[3] = 0
    for j in range(0, LANES, 4):
        sums[0] += row[j] * row[j]
        sums[1] += row[j + 1] * row[j + 1]
        sums[2] += row[j + 2] * row[j + 2]
        sums[3] += row[j + 3] * row[j + 3]
    for j in range(LANES):
        count += row[j] != 0
    square[0] += (sums[0] + sums[1]) + (sums[2] + sums[3])
    present[0] += count


@cython.final
cdef class RowMoments:
    """Moments of rows of cells over a function tree, by group of rows.

    Of LANES rows of a group the totals stand side by side: an array for each node, which is
    added to its caller's. Pointers go to rows of LANES numbers, where the bounds are checked.
    """

    cdef const int32_t[::1] function
    cdef int32_t[::1] equal  # the node with the same total in every row: the end of a chain
    cdef int32_t[::1] above  # of such a node: that of the node which calls the chain; -1: none
    cdef int32_t[::1] calling  # nodes of functions that are outermost at several nodes
    cdef int32_t[::1] only  # the node of a function that is at one; -1: at several
    cdef double[:, ::1] total  # [N, LANES]
    cdef double[:, ::1] of_function  # [2 P, LANES]: self of each, then total of each
    cdef double[:, ::1] square  # [G, N]
    cdef double[:, ::1] present
    cdef double[:, :, ::1] functions  # [G, FUNCTION_COLUMNS, P]

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
        self.equal, self.above = np.empty(count, np.int32), np.empty(count, np.int32)
        self.find_chains(parent, has_values, np.zeros(count, np.int32))
        outermost = np.zeros(count, np.uint8)
        mark_outermost(parent, function, outermost, np.zeros(functions, np.int32))
        nodes = np.flatnonzero(outermost).astype(np.int32)
        of_node = np.asarray(function)[nodes]
        several = np.bincount(of_node, minlength=functions) > 1
        self.calling = nodes[several[of_node]]
        only = np.full(functions, -1, np.int32)
        only[of_node] = nodes
        only[several] = -1
        self.only = only
        self.total = np.zeros((count, LANES))
        self.of_function = np.zeros((2 * functions, LANES))
        self.square, self.present = np.zeros((groups, count)), np.zeros((groups, count))
        self.functions = np.zeros((groups, FUNCTION_COLUMNS, functions))

    cdef int find_chains(
        self, const int32_t[::1] parent, const uint8_t[::1] has_values, int32_t[::1] children
    ) except -1:
        """A node without values has the total of its child, if it has but one."""
        cdef Py_ssize_t i, above
        with nogil:
            for i in range(parent.shape[0]):
                self.equal[i] = <int32_t>i
                if parent[i] >= 0:
                    children[parent[i]] += 1
            for i in range(parent.shape[0] - 1, -1, -1):
                above = parent[i]
                self.above[self.equal[i]] = <int32_t>above
                if above >= 0 and children[above] == 1 and not has_values[above]:
                    self.equal[above] = self.equal[i]
        return 0

    def add(
        self,
        const int64_t[::1] starts,
        const int32_t[::1] nodes,
        const int64_t[::1] values,
        const int32_t[::1] node_of_line,
        const int64_t[::1] rows,
        const int32_t[::1] group,
    ):
        """Add these rows of cells at lines; group [R] of each row, those of one stand together."""
        cdef Py_ssize_t first = 0, last, i
        if not self.total.shape[0]:
            return
        with nogil:
            while first < rows.shape[0]:
                last = first
                memset(&self.total[0, 0], 0, self.total.shape[0] * LANES * sizeof(double))
                memset(&self.of_function[0, 0], 0, self.of_function.shape[0] * LANES * sizeof(double))
                while last < rows.shape[0] and last - first < LANES and group[rows[last]] == group[rows[first]]:
                    for i in range(starts[rows[last]], starts[rows[last] + 1]):
                        self.enter(node_of_line[nodes[i]], last - first, <double>values[i])
                    last += 1
                self.take(group[rows[first]])
                first = last

    def tables(self):
        """(squares [G, N], present [G, N], functions [G, 4, P])."""
        square = np.take(self.square, self.equal, axis=1)
        present = np.take(self.present, self.equal, axis=1)
        functions, only = np.array(self.functions), np.asarray(self.only)
        once = np.flatnonzero(only >= 0)
        functions[:, TOTAL_SQUARE, once] = square[:, only[once]]
        functions[:, TOTAL_PRESENT, once] = present[:, only[once]]
        return square, present, functions

    cdef inline int enter(self, int32_t node, Py_ssize_t lane, double value) except -1 nogil:
        self.total[node, lane] += value
        self.of_function[self.function[node], lane] += value
        return 0

    cdef int take(self, int32_t group) except -1 nogil:
        cdef Py_ssize_t i, functions = self.functions.shape[2]
        cdef int32_t node
        for i in range(self.equal.shape[0] - 1, -1, -1):
            if self.equal[i] != i:
                continue
            add_squares(&self.total[i, 0], &self.square[group, i], &self.present[group, i])
            if self.above[i] >= 0:
                add_lanes(&self.total[self.above[i], 0], &self.total[i, 0])
        for i in range(self.calling.shape[0]):
            node = self.calling[i]
            add_lanes(
                &self.of_function[functions + self.function[node], 0],
                &self.total[self.equal[node], 0],
            )
        for i in range(functions):
            add_squares(
                &self.of_function[i, 0],
                &self.functions[group, SELF_SQUARE, i],
                &self.functions[group, SELF_PRESENT, i],
            )
            if self.only[i] < 0:
                add_squares(
                    &self.of_function[functions + i, 0],
                    &self.functions[group, TOTAL_SQUARE, i],
                    &self.functions[group, TOTAL_PRESENT, i],
                )
        return 0


def mark_cells(
    const int64_t[::1] starts,
    const int32_t[::1] nodes,
    const int32_t[::1] place,
    const int64_t[::1] rows,
    uint8_t[::1] marks,
):
    """Mark the places of the nodes that these rows have cells at."""
    cdef Py_ssize_t r, i
    with nogil:
        for r in range(rows.shape[0]):
            for i in range(starts[rows[r]], starts[rows[r] + 1]):
                marks[place[nodes[i]]] = 1


cdef int mark_outermost(
    const int32_t[::1] parent, const int32_t[::1] function, uint8_t[::1] outermost, int32_t[::1] calls
) except -1 nogil:
    """Mark the nodes of a tree in pre-order whose function does not call them.

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
    """Moments of the nodes and functions of a Forest that is grouped by function."""

    cdef double[:, ::1] nodes  # square, present
    cdef double[:, ::1] functions  # [FUNCTION_COLUMNS, P]
    cdef uint8_t[::1] outermost  # of each node: its function does not call it
    cdef double[::1] total  # of the nodes in the tree at hand
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
        """Make room for so many."""
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
        """Add one profile: the place of each node and its function's row, [N]; [M] have values.

        `functions` are the rows of all functions, each once; is_new: some of the places are.
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
        """Square its total; another node of the tree at the same place finds it zero."""
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
        """Add sums of many profiles at once; arguments as in add_tree."""
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
        """(square, present) of nodes, float64 [2, nodes], and the columns [4, functions]."""
        return np.array(self.nodes[:, :nodes]), np.array(self.functions[:, :functions])


cdef wider(old, Py_ssize_t capacity):
    """A copy with `capacity` columns, the new ones zero."""
    old = np.asarray(old)
    new = np.zeros((old.shape[0], capacity))
    new[:, : old.shape[1]] = old
    return new


def outermost_nodes(const int32_t[::1] parent, const int32_t[::1] function, Py_ssize_t functions):
    """(count, last), int32 [functions]: of the nodes of each function those that it does not call.

    The tree is in pre-order.
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
