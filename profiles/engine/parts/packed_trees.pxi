# Stored trees, merged by function: used by queries on recent profiles.

@cython.final
cdef class PackedTrees(PackedColumns):
    """Merges stored trees by function: `read` finds damaged trees before `add` adds anything."""

    cdef Forest forest
    cdef int32_t[::1] following  # last successor of each function of the forest

    def __init__(self, Forest forest):
        self.forest = forest
        self.following = np.zeros(FIRST, np.int32)

    def read(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics):
        """Read the numbers of a tree; columns is [[width, count], …], and they begin at `at`.

        Return the positions of functions that the forest lacks: they must be entered before the
        tree is added. Raise `ValueError` if the numbers are not a valid tree.
        """
        cdef Keys frames = self.forest.frames
        cdef Py_ssize_t i, missing
        self.take(data, at, columns, metrics)
        if frames.keys.shape[0] > self.following.shape[0]:
            self.following = enlarged(self.following, frames.keys.shape[0])
        # One release of the GIL for all loops: getting it back takes long if other threads want it.
        with nogil:
            self.widen_nodes()
            missing = self.find_functions(frames)
        return [i for i in range(self.functions) if self.row[i] < 0] if missing else []

    def add(self, list wanted):
        """Add the tree that was read; return True if the forest got new nodes.

        wanted is [(metric of the tree, factor, metric of the forest), …], by index.
        """
        cdef Py_ssize_t before = self.forest.nodes.sums.keys.count
        cdef Py_ssize_t metric, column, i
        cdef int64_t factor
        with nogil:
            for i in range(self.frames):
                self.of_frame[i] = self.row[self.of_frame[i]]
            self.add_nodes(self.forest.nodes, self.forest.frames.keys)
        for number, times, here in wanted:
            metric, factor, column = number, times, here
            with nogil:
                self.read_values(FIRST_VALUES + metric, factor)
                self.add_values(column)
        return self.forest.nodes.sums.keys.count > before

    def add_moments(self, MomentSums sums, bint is_new):
        """Add the tree to sums of squares, too, with the values that `add` read last."""
        sums.grow(self.forest.nodes.sums.keys.count, self.forest.frames.count)
        sums.add_tree(
            self.parent[: self.nodes],
            self.place[: self.nodes],
            self.frame[: self.nodes],
            self.row[: self.functions],
            self.node[: self.sampled],
            self.value[: self.sampled],
            is_new,
        )

    def cells(self):
        """Return (node int32 [M], value int64 [M]) of the last `add`; nodes may repeat."""
        cdef int32_t[::1] place = np.empty(self.sampled, np.int32)
        cdef Py_ssize_t i
        for i in range(self.sampled):
            place[i] = self.place[self.node[i]]
        return np.asarray(place), np.array(self.value[: self.sampled])

    cdef Py_ssize_t find_functions(self, Keys frames) except -1 nogil:
        """Find the index in the forest of each function; return the number of missing functions."""
        cdef Py_ssize_t i, before, found = -1, missing = 0
        cdef uint64_t key
        cdef int32_t[::1] rows = self.row, following = self.following
        for i in range(self.functions):
            key = pair(<uint64_t>self.number(FUNCTION_ID, i), 0)
            if found >= 0 and following[found] < frames.count and frames.keys[following[found]] == key:
                found = following[found]
            else:
                before, found = found, frames.find(key)
                if before >= 0 and found >= 0:
                    following[before] = <int32_t>found
            rows[i] = <int32_t>found
            missing += found < 0
        return missing

    cdef int add_values(self, Py_ssize_t column) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.forest.nodes.sums.add(self.place[self.node[i]], column, self.value[i])
        return 0
