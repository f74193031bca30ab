# Many call trees become one: equal stacks have equal ids, so merging is adding up by id.

cdef class Forest:
    """The sum of the trees that were added; at most `max_nodes` nodes and as many frames."""

    cdef readonly Nodes nodes
    cdef readonly Keys frames

    def __init__(self, Py_ssize_t width, Py_ssize_t max_nodes, str limit):
        self.nodes = Nodes(width, max_nodes, limit)
        self.frames = Keys(max_nodes, limit)

    def enter_frames(self, const uint64_t[::1] ids):
        """(row of each frame here, int32 [F]; where each new one stands first, in order)."""
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
        """Add a tree; returns the place of each of its nodes here, int32 [N].

        frame_rows is what enter_frames gave for the tree's frames; sampled [M] are the nodes
        with values, values is [K, M], columns [K] where each metric stands here.
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
