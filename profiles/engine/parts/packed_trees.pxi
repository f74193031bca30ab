# Stored trees, added to a forest by function in one go: what merging the last hour is made of.

cdef enum:  # the columns of a stored tree, in order; docs/stored-tree.md
    FUNCTION_ID = 0
    FUNCTION_OF_FRAME = 3
    PARENT_OF_NODE = 6
    FRAME_OF_NODE = 7
    SAMPLED = 8
    FIRST_VALUES = 9


@cython.final
cdef class PackedTrees:
    """Reads a tree (`read`), then adds it (`add`): a damaged one is found before it is added."""

    cdef Forest forest
    cdef const uint8_t[::1] data
    cdef Py_ssize_t[::1] at  # where each column begins,
    cdef Py_ssize_t[::1] count  # how many numbers it has,
    cdef int[::1] width  # and how wide they are; -8: signed
    cdef Py_ssize_t columns
    cdef Py_ssize_t functions, frames, nodes, sampled
    cdef int32_t[::1] row  # of each function in the forest
    cdef int32_t[::1] function, parent, node
    cdef int32_t[::1] frame  # of each node; once it was added, its row in the forest
    cdef int32_t[::1] place
    cdef int64_t[::1] value
    cdef int32_t[::1] following  # of each function of the forest: which came behind it last

    def __init__(self, Forest forest):
        self.forest = forest
        self.at, self.count = np.zeros(FIRST, np.intp), np.zeros(FIRST, np.intp)
        self.width = np.zeros(FIRST, np.intc)
        self.row = self.function = self.parent = self.frame = self.node = np.empty(0, np.int32)
        self.place = np.empty(0, np.int32)
        self.value = np.empty(0, np.int64)
        self.following = np.zeros(FIRST, np.int32)

    def read(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics):
        """Take the numbers of a tree; columns is [[width, count], …], they begin at `at`.

        Returns where the functions stand that the forest does not know: they have to be entered
        before the tree is added. ValueError when the numbers make no tree.
        """
        cdef Keys frames = self.forest.frames
        cdef Py_ssize_t i, missing
        self.data = data
        self.find_columns(at, columns)
        self.check_shape(metrics)
        self.make_room()
        # Once for all of it: other threads want the GIL too, and it is long until it comes back.
        with nogil:
            self.widen_into(FUNCTION_OF_FRAME, self.functions, self.function)
            self.widen_into(PARENT_OF_NODE, MOST_ROWS, self.parent)
            self.widen_into(FRAME_OF_NODE, self.frames, self.frame)
            self.widen_into(SAMPLED, MOST_ROWS, self.node)
            find_parents(self.parent[: self.nodes])
            ascend(self.node[: self.sampled], self.nodes)
            missing = self.find_functions(frames)
        return [i for i in range(self.functions) if self.row[i] < 0] if missing else []

    def add(self, list wanted):
        """Add what was read; wanted is [(number of the metric in it, factor, metric here), …].

        Returns whether the forest has new nodes now.
        """
        cdef Nodes nodes = self.forest.nodes
        cdef Py_ssize_t before = nodes.sums.keys.count, i, above, last = -1
        # Of their own, so that the loop need not look where they are at each step.
        cdef const int32_t[::1] parent = self.parent, function = self.function, rows = self.row
        cdef const uint64_t[::1] ids = self.forest.frames.keys
        cdef int32_t[::1] frame = self.frame, place = self.place
        cdef int32_t row
        cdef Py_ssize_t metric, column
        cdef int64_t factor
        with nogil:
            for i in range(self.nodes):
                above = place[parent[i]] if parent[i] >= 0 else -1
                frame[i] = row = rows[function[frame[i]]]
                last = nodes.child_after(last, above, row, ids[row])
                place[i] = <int32_t>last
        for number, times, here in wanted:
            metric, factor, column = number, times, here
            with nogil:
                self.read_values(FIRST_VALUES + metric, factor)
                self.add_values(column)
        return self.forest.nodes.sums.keys.count > before

    def add_moments(self, MomentSums sums, bint is_new):
        """Add the tree to moments too, by the values that `add` took last."""
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
        """(node int32 [M], value int64 [M]) of what `add` took last; a node may be there twice."""
        cdef int32_t[::1] place = np.empty(self.sampled, np.int32)
        cdef Py_ssize_t i
        for i in range(self.sampled):
            place[i] = self.place[self.node[i]]
        return np.asarray(place), np.array(self.value[: self.sampled])

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

    cdef check_shape(self, Py_ssize_t metrics):
        cdef Py_ssize_t k
        self.functions, self.frames = self.count[FUNCTION_ID], self.count[FUNCTION_OF_FRAME]
        self.nodes, self.sampled = self.count[PARENT_OF_NODE], self.count[SAMPLED]
        if self.width[FUNCTION_ID] < 0 or self.count[FRAME_OF_NODE] != self.nodes:
            raise ValueError("columns of one table differ in length")
        for k in range(FIRST_VALUES, FIRST_VALUES + metrics):
            if k >= self.columns or self.count[k] != self.sampled:
                raise ValueError("columns of one table differ in length")

    cdef make_room(self):
        cdef Py_ssize_t most = max(self.functions, self.frames, self.nodes, self.sampled)
        cdef Py_ssize_t known = self.forest.frames.keys.shape[0]
        if most > self.row.shape[0]:
            self.row, self.function, self.parent, self.frame, self.node, self.place = np.empty(
                (6, 2 * most), np.int32
            )
            self.value = np.empty(2 * most, np.int64)
        if known > self.following.shape[0]:
            self.following = enlarged(self.following, known)

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

    cdef Py_ssize_t find_functions(self, Keys frames) except -1 nogil:
        """Find the rows of the functions; how many have none."""
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

    cdef inline int64_t number(self, Py_ssize_t column, Py_ssize_t i) except? 7 nogil:
        cdef int width = self.width[column]
        cdef Py_ssize_t at, byte
        cdef uint64_t value = 0
        if width < 0:
            width = -width
        at = self.at[column] + i * width
        for byte in range(width):
            value |= <uint64_t>self.data[at + byte] << (8 * byte)
        return <int64_t>value

    cdef int read_values(self, Py_ssize_t column, int64_t factor) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.value[i] = self.number(column, i) * factor
        return 0

    cdef int add_values(self, Py_ssize_t column) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.forest.nodes.sums.add(self.place[self.node[i]], column, self.value[i])
        return 0
