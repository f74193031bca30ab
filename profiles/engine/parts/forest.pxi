# Merging of call trees: equal stacks have equal ids, so trees are summed by id.

cdef class Forest:
    """Sum of call trees, with at most `max_nodes` nodes and as many frames."""

    cdef readonly Nodes nodes
    cdef readonly Keys frames

    def __init__(self, Py_ssize_t width, Py_ssize_t max_nodes, str limit):
        self.nodes = Nodes(width, max_nodes, limit)
        self.frames = Keys(max_nodes, limit)

    def enter_frames(self, const uint64_t[::1] ids):
        """Add frames: (index of each, int32 [F]; position in `ids` of each new one, in order)."""
        return self.frames.enter_all(ids)

    def add(
        self,
        const int32_t[::1] parent,
        const int32_t[::1] frame,
        const int32_t[::1] frame_rows,
        const int32_t[::1] sampled,
        const int64_t[:, :] values,
        const int32_t[::1] columns,
    ):
        """Add a tree and return the index of each of its nodes in the sum, int32 [N].

        frame_rows is the result of enter_frames for the frames of the tree. sampled [M] are the
        nodes with values, and values is [K, M]. columns [K] is the column of each metric in the
        sum.
        """
        places = np.empty(parent.shape[0], np.int32)
        cdef int32_t[::1] place = places
        cdef Py_ssize_t i, k, above, last = -1
        cdef int32_t row
        with nogil:
            for i in range(parent.shape[0]):
                above = place[parent[i]] if parent[i] >= 0 else -1
                row = frame_rows[frame[i]]
                last = self.nodes.child_after(last, above, row, self.frames.keys[row])
                place[i] = <int32_t>last
            for i in range(sampled.shape[0]):
                for k in range(columns.shape[0]):
                    self.nodes.sums.add(place[sampled[i]], columns[k], values[k, i])
        return places


def add_rows(Sums sums, const uint64_t[::1] keys, const int64_t[:, :] values, const int32_t[::1] columns):
    """Add values [K, L] to the rows of `keys` [L]."""
    cdef Py_ssize_t i, k, row
    with nogil:
        for i in range(keys.shape[0]):
            row = sums.row(keys[i])
            for k in range(columns.shape[0]):
                sums.add(row, columns[k], values[k, i])
