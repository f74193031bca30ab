# Passes over the nodes of a call tree, without recursion: stacks may be 10,000 frames deep.

def sum_up(const int32_t[::1] parent, const int64_t[::1] own):
    """Return the total of each node, int64 [N]: its self value and those of its descendants."""
    cdef int64_t[::1] total = np.array(own)
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0] - 1, -1, -1):
            if parent[i] >= 0:
                total[parent[i]] += total[i]
    return np.asarray(total)


def count_down(const int32_t[::1] parent):
    """Return the depth of each node, int32 [N]; roots have depth 0."""
    cdef int32_t[::1] depth = np.zeros(parent.shape[0], np.int32)
    cdef Py_ssize_t i
    with nogil:
        for i in range(parent.shape[0]):
            if parent[i] >= 0:
                depth[i] = depth[parent[i]] + 1
    return np.asarray(depth)


def follow(const int32_t[::1] parent, const int64_t[::1] ranked):
    """Return the nodes in pre-order, int64 [N]; siblings are in the order of `ranked`."""
    cdef Py_ssize_t count = parent.shape[0], i, node, above, at = 0
    # First child of each node (the last entry: first root), and the next sibling of each node.
    cdef int64_t[::1] first = np.full(count + 1, -1, np.int64)
    cdef int64_t[::1] following = np.full(count, -1, np.int64)
    cdef int64_t[::1] order = np.empty(count, np.int64)
    with nogil:
        for i in range(count - 1, -1, -1):
            node = ranked[i]
            above = parent[node] if parent[node] >= 0 else count
            following[node] = first[above]
            first[above] = node
        node = first[count]
        while node >= 0:
            order[at] = node
            at += 1
            if first[node] >= 0:
                node = first[node]
                continue
            while node >= 0 and following[node] < 0:
                node = parent[node]
            if node >= 0:
                node = following[node]
    return np.asarray(order[:at])


def gather(
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
    cdef Py_ssize_t i, node, above = -1
    cdef int32_t f
    with nogil:
        for i in range(order.shape[0]):
            node = order[i]
            while above != parent[node]:  # leave calls that are not ancestors of this node
                open_calls[function[above]] -= 1
                above = parent[above]
            f = function[node]
            sums[0, f] += own[node]
            if open_calls[f] == 0:
                sums[1, f] += total[node]
                sums[2, f] += stacks[node]
            open_calls[f] += 1
            above = node
    return np.asarray(sums)


def outermost(const int32_t[::1] parent, const int32_t[::1] function, Py_ssize_t functions):
    """Mark the nodes that have no ancestor of the same function, uint8 [N]."""
    cdef const int64_t[::1] order = follow(parent, np.arange(parent.shape[0]))
    cdef int32_t[::1] open_calls = np.zeros(functions, np.int32)
    cdef uint8_t[::1] outer = np.zeros(parent.shape[0], np.uint8)
    cdef Py_ssize_t i, node, above = -1
    with nogil:
        for i in range(order.shape[0]):
            node = order[i]
            while above != parent[node]:  # leave calls that are not ancestors of this node
                open_calls[function[above]] -= 1
                above = parent[above]
            outer[node] = open_calls[function[node]] == 0
            open_calls[function[node]] += 1
            above = node
    return np.asarray(outer)


def first_uses(const int32_t[::1] values, Py_ssize_t below):
    """Number the distinct values from 0 to `below` - 1 in order of first use.

    Return (position of the first use of each number, int64 [M]; number of each value, int32
    [len(values)]).
    """
    cdef int32_t[::1] known = np.full(below, -1, np.int32)
    firsts, numbers = np.empty(min(values.shape[0], below), np.int64), np.empty(values.shape[0], np.int32)
    cdef int64_t[::1] first = firsts
    cdef int32_t[::1] number = numbers
    cdef Py_ssize_t i
    cdef int32_t count = 0
    with nogil:
        for i in range(values.shape[0]):
            if known[values[i]] < 0:
                known[values[i]] = count
                first[count] = i
                count += 1
            number[i] = known[values[i]]
    return firsts[:count], numbers
