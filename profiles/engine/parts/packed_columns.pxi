# Columns of stored trees, added to forests without creating arrays.

cdef enum:  # in order; see docs/reference/formats.md
    FUNCTION_ID = 0
    NAME_OF_FUNCTION = 1
    FILE_OF_FUNCTION = 2
    FUNCTION_OF_FRAME = 3
    LINE_OF_FRAME = 4
    MAPPING_OF_FRAME = 5
    PARENT_OF_NODE = 6
    FRAME_OF_NODE = 7
    SAMPLED = 8
    FIRST_VALUES = 9


cdef class PackedColumns:
    """Reader of stored trees, one at a time; its arrays are reused."""

    cdef const uint8_t[::1] data
    cdef Py_ssize_t[::1] at  # offset of each column
    cdef Py_ssize_t[::1] count  # length of each column
    cdef int[::1] width  # bytes per number; -8 for signed ones
    cdef Py_ssize_t columns
    cdef Py_ssize_t functions, frames, nodes, sampled
    cdef int32_t[::1] row  # index in the forest of each function
    cdef int32_t[::1] of_frame  # function of each frame; once added, its index in the forest
    cdef int32_t[::1] parent, node
    cdef int32_t[::1] frame  # frame of each node; once added, its index in the forest
    cdef int32_t[::1] place
    cdef int64_t[::1] value

    def __cinit__(self):
        self.at, self.count = np.zeros(FIRST, np.intp), np.zeros(FIRST, np.intp)
        self.width = np.zeros(FIRST, np.intc)
        self.row = self.of_frame = self.parent = self.frame = self.node = np.empty(0, np.int32)
        self.place = np.empty(0, np.int32)
        self.value = np.empty(0, np.int64)

    @cython.final
    cdef take(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics):
        """Set the columns [[width, count], …] that begin at `at`, and check their shape.

        Raise `ValueError` if they cannot be a tree.
        """
        self.data = data
        self.find_columns(at, columns)
        self.check_shape(metrics)
        self.make_room()

    @cython.final
    cdef int widen_nodes(self) except -1 nogil:
        """Read the functions of frames, and the nodes. Raise `ValueError` if they make no tree."""
        self.widen_into(FUNCTION_OF_FRAME, self.functions, self.of_frame)
        self.widen_into(PARENT_OF_NODE, MOST_ROWS, self.parent)
        self.widen_into(FRAME_OF_NODE, self.frames, self.frame)
        self.widen_into(SAMPLED, MOST_ROWS, self.node)
        find_parents(self.parent[: self.nodes])
        ascend(self.node[: self.sampled], self.nodes)
        return 0

    @cython.final
    cdef find_columns(self, Py_ssize_t at, list columns):
        cdef Py_ssize_t i, size
        cdef list column
        if len(columns) < FIRST_VALUES or at < 0:
            raise ValueError("a column is missing")
        if len(columns) > self.at.shape[0]:
            self.at, self.count = enlarged(self.at, len(columns)), enlarged(self.count, len(columns))
            self.width = enlarged(self.width, len(columns))
        self.columns = len(columns)
        for i in range(self.columns):
            column = columns[i]
            self.width[i], self.count[i], self.at[i] = column[0], column[1], at
            size = abs(self.width[i])
            if size not in (1, 2, 4, 8) or self.count[i] < 0 or self.count[i] > MOST_ROWS:
                raise ValueError("a column has no width or length")
            at += size * self.count[i]
        if at != self.data.shape[0]:
            raise ValueError("its columns do not end with it")

    @cython.final
    cdef check_shape(self, Py_ssize_t metrics):
        cdef Py_ssize_t k
        self.functions, self.frames = self.count[FUNCTION_ID], self.count[FUNCTION_OF_FRAME]
        self.nodes, self.sampled = self.count[PARENT_OF_NODE], self.count[SAMPLED]
        if self.width[FUNCTION_ID] < 0 or self.count[FRAME_OF_NODE] != self.nodes:
            raise ValueError("columns of one table differ in length")
        for k in range(FIRST_VALUES, FIRST_VALUES + metrics):
            if k >= self.columns or self.count[k] != self.sampled:
                raise ValueError("columns of one table differ in length")

    @cython.final
    cdef make_room(self):
        cdef Py_ssize_t most = max(self.functions, self.frames, self.nodes, self.sampled)
        if most > self.row.shape[0]:
            self.row, self.of_frame, self.parent, self.frame, self.node, self.place = np.empty(
                (6, 2 * most), np.int32
            )
            self.value = np.empty(2 * most, np.int64)

    @cython.final
    cdef int widen_into(
        self, Py_ssize_t column, int64_t below, int32_t[::1] into
    ) except -1 nogil:
        cdef uint32_t highest
        cdef int32_t[::1] out = into[: self.count[column]]
        cdef int width = self.width[column]
        if width == 1:
            highest = widen_1(self.data, self.at[column], out)
        elif width == 2:
            highest = widen_2(self.data, self.at[column], out)
        elif width == 4:
            highest = widen_4(self.data, self.at[column], out)
        else:
            highest = <uint32_t>-1
        if self.count[column] and highest >= below:
            with gil:
                raise ValueError(f"{highest} points at nothing: there are {below}")
        return 0

    @cython.final
    cdef inline int64_t number(self, Py_ssize_t column, Py_ssize_t i) except? 7 nogil:
        cdef int width = self.width[column]
        cdef Py_ssize_t at, byte
        cdef uint64_t value = 0
        if width < 0:
            width = -width
        at = self.at[column] + i * width
        if width == 8:
            if at + 8 > self.data.shape[0]:
                out_of_bounds()
            memcpy(&value, &self.data[at], 8)
            return <int64_t>value
        for byte in range(width):
            value |= <uint64_t>self.data[at + byte] << (8 * byte)
        return <int64_t>value

    @cython.final
    cdef int read_values(self, Py_ssize_t column, int64_t factor) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.value[i] = self.number(column, i) * factor
        return 0

    @cython.final
    cdef int add_nodes(self, Nodes nodes, const uint64_t[::1] ids) except -1 nogil:
        """Find or add each node; `of_frame` has indexes in the forest, whose ids are `ids`."""
        cdef Py_ssize_t i, above, last = -1
        # Local views, so that the loop does not reload them at each step.
        cdef const int32_t[::1] parent = self.parent, rows = self.of_frame
        cdef int32_t[::1] frame = self.frame, place = self.place
        cdef int32_t row
        for i in range(self.nodes):
            above = place[parent[i]] if parent[i] >= 0 else -1
            frame[i] = row = rows[frame[i]]
            last = nodes.child_after(last, above, row, ids[row])
            place[i] = <int32_t>last
        return 0
