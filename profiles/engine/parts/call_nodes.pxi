# The nodes of one profile's call tree, and the sums of those that samples end in.

cdef enum:
    NODES_OF_A_SAMPLE = 5  # approximate number of nodes per sample in real profiles
    NODES_OF_ALL = 1024  # added to that for small profiles; the tables grow up to the limit


@cython.final
cdef class CallNodes:
    """Nodes by a key that is unique per node, and a row of sums for each node with values."""

    cdef readonly Keys keys
    cdef int32_t[::1] parent
    cdef int32_t[::1] frame
    cdef int32_t[::1] row_of  # row of sums of each node; -1 if it has none
    cdef int64_t[:, ::1] sums
    cdef Py_ssize_t rows

    def __init__(self, Py_ssize_t width, Py_ssize_t samples, allowed):
        """Create the tables; `samples` limits the rows of sums, `allowed` is a limits.Allowed."""
        expected = NODES_OF_A_SAMPLE * samples + NODES_OF_ALL
        self.keys = Keys(allowed.most, allowed.limit, expected, allowed.unit)
        self.parent = np.empty(self.keys.keys.shape[0], np.int32)
        self.frame = np.empty(self.parent.shape[0], np.int32)
        self.row_of = np.empty(self.parent.shape[0], np.int32)
        self.sums = np.empty((samples, width), np.int64)
        self.rows = 0

    cdef Py_ssize_t enter(self, uint64_t key, Py_ssize_t parent, int32_t frame) except -1 nogil:
        """Add a new node and return its index; roots have parent -1."""
        cdef Py_ssize_t node = self.keys.enter(key)
        if node >= self.parent.shape[0]:
            with gil:
                self.parent = enlarged(self.parent, self.keys.keys.shape[0])
                self.frame = enlarged(self.frame, self.keys.keys.shape[0])
                self.row_of = enlarged(self.row_of, self.keys.keys.shape[0])
        self.parent[node] = <int32_t>parent
        self.frame[node] = frame
        self.row_of[node] = -1
        return node

    cdef Py_ssize_t row(self, Py_ssize_t node) except -1 nogil:
        """Return the node's row of sums; a new row is zero."""
        cdef Py_ssize_t row = self.row_of[node], k
        if row >= 0:
            return row
        row = self.rows
        for k in range(self.sums.shape[1]):
            self.sums[row, k] = 0
        self.row_of[node] = <int32_t>row
        self.rows += 1
        return row

    def table(self):
        """Return (parent, frame) of each node, int32."""
        cdef Py_ssize_t count = self.keys.count
        return np.array(self.parent[:count]), np.array(self.frame[:count])

    def sampled(self, const int64_t[::1] kept):
        """Return the nodes with values of the metrics `kept`, and these values.

        The result is (int32 [M], ascending; int64 [len(kept), M]).
        """
        nodes = np.empty(self.rows, np.int32)
        cdef int32_t[::1] node = nodes
        cdef Py_ssize_t i, count = 0
        with nogil:
            for i in range(self.keys.count):
                if self.row_of[i] >= 0 and self.some(self.row_of[i], kept):
                    node[count] = <int32_t>i
                    count += 1
        values = np.empty((kept.shape[0], count), np.int64)
        self.fill(node[:count], kept, values)
        return nodes[:count], values

    cdef bint some(self, Py_ssize_t row, const int64_t[::1] kept) except -1 nogil:
        """Return True if any of these sums is not zero."""
        cdef Py_ssize_t k
        for k in range(kept.shape[0]):
            if self.sums[row, kept[k]] != 0:
                return True
        return False

    cdef fill(self, const int32_t[::1] node, const int64_t[::1] kept, int64_t[:, ::1] values):
        cdef Py_ssize_t i, k
        with nogil:
            for i in range(node.shape[0]):
                for k in range(kept.shape[0]):
                    values[k, i] = self.sums[self.row_of[node[i]], kept[k]]
