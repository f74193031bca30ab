# Blocks: columns with shuffled bytes, trees in pre-order, and sparse values by row and node.

cdef check_column(Py_ssize_t size, Py_ssize_t at, Py_ssize_t count, Py_ssize_t width):
    if at < 0 or count < 0 or not 0 <= width <= 8 or count > MOST_ROWS or count * width > size - at:
        raise ValueError("a column reaches beyond the end")

cdef enum:
    MOST_ROWS = 0x8000000  # rows of one column


def unshuffle(
    const uint8_t[::1] data, Py_ssize_t at, Py_ssize_t count, Py_ssize_t width, uint64_t base, uint64_t factor
):
    """Read `count` numbers of `width` bytes, stored as planes of bytes; uint64 [count].

    The first bytes of all numbers come before all second ones, and so on. Each number is multiplied
    by `factor` and added to `base`, modulo 2^64.
    """
    check_column(data.shape[0], at, count, width)
    column = np.zeros(count, np.uint64)
    cdef uint64_t[::1] out = column
    cdef Py_ssize_t i, byte, start
    with nogil:
        for byte in range(width):
            start = at + byte * count
            for i in range(count):
                out[i] |= <uint64_t>data[start + i] << (8 * byte)
        if factor != 1 or base != 0:
            for i in range(count):
                out[i] = out[i] * factor + base
    return column


def unshuffle_index(
    const uint8_t[::1] data, Py_ssize_t at, Py_ssize_t count, Py_ssize_t width, uint64_t base, uint64_t factor,
    uint64_t below,
):
    """Read numbers like `unshuffle`, as int32 [count].

    Raise `ValueError` if a number is not less than `below` (at most 2^31).
    """
    check_column(data.shape[0], at, count, width)
    column = np.empty(count, np.int32)
    cdef int32_t[::1] out = column
    cdef Py_ssize_t i, byte
    cdef uint64_t value, highest = 0
    with nogil:
        for i in range(count):
            value = 0
            for byte in range(width):
                value |= <uint64_t>data[at + byte * count + i] << (8 * byte)
            value = value * factor + base
            highest = max(highest, value)
            out[i] = <int32_t>value
    if count and highest >= below:
        raise ValueError(f"{highest} points at nothing: there are {below}")
    return column


def unfold(const int32_t[::1] ups, const int32_t[::1] refs, Py_ssize_t functions):
    """Decode a tree in pre-order: (parent, function), int32 [N] each.

    ups [N] is the number of levels to go up before the node is entered (0 for the first node). refs
    [N] is 0 for the first function that has not occurred yet, otherwise the distance back from it
    in the numbering of functions. Raise `ValueError` if the numbers are not a tree, or if not all
    `functions` occur.
    """
    cdef Py_ssize_t count = ups.shape[0], i, depth = 0, met = 0
    parents_, functions_ = np.empty(count, np.int32), np.empty(count, np.int32)
    cdef int32_t[::1] parent = parents_, function = functions_, path = np.empty(count, np.int32)
    if refs.shape[0] != count:
        raise ValueError("columns of one table differ in length")
    with nogil:
        for i in range(count):
            if not (0 <= ups[i] <= depth and 0 <= refs[i] <= met) or (refs[i] == 0 and met >= functions):
                with gil:
                    raise ValueError(f"node {i} has no place in its tree")
            depth -= ups[i]
            parent[i] = path[depth - 1] if depth else -1
            path[depth] = <int32_t>i
            depth += 1
            function[i] = <int32_t>(met - refs[i])
            met += refs[i] == 0
    if met != functions:
        raise ValueError(f"there are {functions} functions, and {met} of them in the tree")
    return parents_, functions_


def cell_nodes(int32_t[::1] steps, const int64_t[::1] starts, int64_t below):
    """Replace steps by the nodes that they lead to, in place; each row starts from -1.

    Row r has the values starts[r] to starts[r + 1]. Raise `ValueError` if a node is not less than
    `below`.
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
                        raise ValueError(f"{at} points at nothing: there are {below}")
                steps[i] = <int32_t>at


def sum_cells(
    const int64_t[::1] starts,
    const int32_t[::1] nodes,
    const int64_t[::1] values,
    const uint8_t[::1] rows,
    const int32_t[::1] place,
    int64_t[::1] sums,
    uint8_t[::1] used,
):
    """Add the values of the marked rows to sums[place[node]], and mark these entries in `used`."""
    cdef Py_ssize_t r, i, places = min(sums.shape[0], used.shape[0])
    with nogil:
        for i in range(place.shape[0]):
            if not 0 <= place[i] < places:
                out_of_bounds()
        for r in range(rows.shape[0]):
            if rows[r]:
                sum_row(nodes, values, starts[r], starts[r + 1], place, sums, used)


# Checks the range of the row and each node, and then uses pointers: this loop takes most of the
# time.
cdef int sum_row(
    const int32_t[::1] nodes, const int64_t[::1] values, Py_ssize_t first, Py_ssize_t last,
    const int32_t[::1] place, int64_t[::1] sums, uint8_t[::1] used,
) except -1 nogil:
    cdef Py_ssize_t i
    cdef uint32_t count = <uint32_t>place.shape[0]
    cdef const int32_t* node
    cdef const int32_t* places
    cdef const int64_t* number
    cdef int64_t before, after, value
    cdef int64_t* sum_of
    cdef uint8_t* mark
    cdef int32_t at
    if last <= first:
        return 0
    if first < 0 or last > nodes.shape[0] or last > values.shape[0] or not count:
        out_of_bounds()
    node, number, places, sum_of, mark = &nodes[0], &values[0], &place[0], &sums[0], &used[0]
    for i in range(first, last):
        if <uint32_t>node[i] >= count:
            out_of_bounds()
        at = places[node[i]]
        value = number[i]
        before = sum_of[at]
        after = <int64_t>(<uint64_t>before + <uint64_t>value)
        if ((before ^ after) & (value ^ after)) < 0:
            with gil:
                raise BadProfile("The values of a stack add up to more than 64 bits hold.")
        sum_of[at] = after
        mark[at] = 1
    return 0


def mark_parents(const int32_t[::1] parent, uint8_t[::1] used):
    """Mark all ancestors of marked nodes."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0] - 1, -1, -1):
            if used[i] and parent[i] >= 0:
                used[parent[i]] = 1


def place_in(const int64_t[::1] ends, Py_ssize_t count):
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


def in_groups(const int32_t[::1] group, Py_ssize_t groups):
    """Sort rows by group, stably: (starts int64 [groups + 1], position of each row int32 [N])."""
    all_starts, places = np.zeros(groups + 1, np.int64), np.empty(group.shape[0], np.int32)
    cdef int64_t[::1] starts = all_starts, next
    cdef int32_t[::1] place = places
    cdef Py_ssize_t i
    with nogil:
        for i in range(group.shape[0]):
            starts[group[i] + 1] += 1
        for i in range(groups):
            starts[i + 1] += starts[i]
    next = all_starts.copy()
    with nogil:
        for i in range(group.shape[0]):
            place[i] = <int32_t>next[group[i]]
            next[group[i]] += 1
    return all_starts, places


def sorted_cells(
    const int64_t[::1] rank, const int64_t[::1] lengths, const int32_t[::1] node, Py_ssize_t nodes
):
    """Return the order of sparse values by the rank of their row, then by node: int64 [C].

    The input is row by row, with lengths[r] values in row r; nodes are less than `nodes`.
    """
    cdef Py_ssize_t cells = node.shape[0], rows = lengths.shape[0], r, i, at = 0
    order = np.empty(cells, np.int64)
    cdef int64_t[::1] out = order, next = np.zeros(rows + 1, np.int64), ends = np.zeros(nodes + 1, np.int64)
    cdef int32_t[::1] by_node = np.empty(cells, np.int32), row = np.empty(cells, np.int32)
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
        for i in range(cells):
            by_node[ends[node[i]]] = <int32_t>i
            ends[node[i]] += 1
        for i in range(cells):
            at = by_node[i]
            out[next[row[at]]] = at
            next[row[at]] += 1
    return order


def add_table(
    double[:, :] sums, const int64_t[::1] rows, const int64_t[::1] columns, const double[:, :] values
):
    """Add values [len(rows), len(columns)] at these rows and columns, which are distinct."""
    cdef Py_ssize_t r, c
    with nogil:
        for r in range(rows.shape[0]):
            for c in range(columns.shape[0]):
                sums[rows[r], columns[c]] += values[r, c]
