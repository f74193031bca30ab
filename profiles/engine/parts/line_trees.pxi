# Stored trees with lines, merged into the dictionary of a block: used by compaction.

@cython.final
cdef class LineTrees(PackedColumns):
    """Forest whose frames differ by function, line and mapping, and the values of each tree.

    A tree is read (`read`), named if necessary (`name`), and added (`add`). If a tree turns out to
    be damaged, discard the whole object: part of the tree may have been added.
    """

    cdef readonly Forest forest
    cdef readonly Keys functions_here  # function ids
    cdef readonly TextPool texts
    cdef int32_t[:, ::1] names  # [functions, 2]: name and file, as text numbers
    cdef int32_t[:, ::1] lines  # [frames, 3]: function, line and the number of the mapping's text
    cdef Py_ssize_t named  # number of functions that have names
    cdef int32_t[::1] after_function, after_frame  # last successor of each
    cdef int32_t[::1] line, mapping  # of each frame of the tree
    cdef int32_t[::1] strings, numbers  # that the tree's mappings are, and which texts those are
    cdef uint64_t[::1] ids
    cdef int32_t[::1] cell_node
    cdef int64_t[:, ::1] cell_value  # [metrics, …]
    cdef Py_ssize_t cells_here

    def __init__(self, Py_ssize_t max_nodes, str limit):
        self.forest = Forest(0, max_nodes, limit)
        self.functions_here = Keys(max_nodes, limit)
        self.texts = TextPool()
        self.names, self.lines = np.zeros((FIRST, 2), np.int32), np.zeros((FIRST, 3), np.int32)
        self.after_function, self.after_frame = np.zeros(FIRST, np.int32), np.zeros(FIRST, np.int32)
        self.line = self.mapping = np.empty(0, np.int32)
        self.clear(0)

    def clear(self, Py_ssize_t metrics):
        """Discard all values; from now on, values of `metrics` metrics are collected."""
        self.cell_node = np.empty(FIRST, np.int32)
        self.cell_value = np.zeros((metrics, FIRST), np.int64)
        self.cells_here = 0

    def read(
        self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics,
        list mappings,
    ):
        """Read the numbers of a tree; columns is [[width, count], …], and they begin at `at`.

        mappings is [[string, text id], …] of the strings that are mappings, ascending. Return True
        if the tree must be named. Raise `ValueError` if the numbers are not a valid tree.
        """
        cdef Py_ssize_t known = self.functions_here.count, unknown
        self.take(data, at, columns, metrics)
        self.check_tables()
        self.make_room_for(self.functions, self.frames)
        if self.line.shape[0] < self.row.shape[0]:
            self.line, self.mapping = np.empty((2, self.row.shape[0]), np.int32)
        table = np.array(mappings, np.uint64).reshape(-1, 2)
        self.strings, self.ids = table[:, 0].astype(np.int32), np.ascontiguousarray(table[:, 1])
        self.numbers = np.empty(len(table), np.int32)
        with nogil:
            self.widen_nodes()
            self.widen_into(LINE_OF_FRAME, <int64_t>1 << 31, self.line)
            self.widen_into(MAPPING_OF_FRAME, <int64_t>1 << 31, self.mapping)
            unknown = self.find_mappings()
            self.enter_functions(self.functions_here)
        return unknown > 0 or self.functions_here.count > known

    def name(self, const unsigned char[::1] text, const int64_t[::1] ends):
        """Name the new functions and mappings of the tree that was read; these are its strings.

        Raise `IndexError` or `ValueError` if the strings do not fit the tree.
        """
        cdef Py_ssize_t i, row
        with nogil:
            for i in range(self.functions):
                row = self.row[i]
                if row == self.named:
                    self.names[row, 0] = self.text_of(text, ends, self.number(NAME_OF_FUNCTION, i))
                    self.names[row, 1] = self.text_of(text, ends, self.number(FILE_OF_FUNCTION, i))
                    self.named += 1
            for i in range(self.strings.shape[0]):
                self.text_of(text, ends, self.strings[i])
            row = self.find_mappings()
        if row or self.named < self.functions_here.count:
            raise ValueError("its strings are not what they should be")

    def add(self, list wanted):
        """Add the tree that was read, and its values; return the number of nodes with values.

        wanted is [(metric of the tree, factor, metric of the block), …], by index.
        """
        cdef Py_ssize_t i, metric, column
        cdef int64_t factor
        self.make_room_for_cells()
        with nogil:
            self.enter_frames()
            self.add_nodes(self.forest.nodes, self.forest.frames.keys)
            for i in range(self.sampled):
                self.cell_node[self.cells_here + i] = self.place[self.node[i]]
        for number, times, here in wanted:
            metric, factor, column = number, times, here
            with nogil:
                self.read_values(FIRST_VALUES + metric, factor)
                self.cell_value[column, self.cells_here : self.cells_here + self.sampled] = (
                    self.value[: self.sampled]
                )
        self.cells_here += self.sampled
        return self.sampled

    def places(self):
        """Return the index in the forest of each node of the last tree added, int32 [N]."""
        return np.array(self.place[: self.nodes])

    def cells(self):
        """Return the values of all trees: (nodes int32 [C], values int64 [metrics, C])."""
        cdef Py_ssize_t count = self.cells_here
        return np.array(self.cell_node[:count]), np.array(self.cell_value[:, :count])

    def enter_block(
        self,
        const uint64_t[::1] function_id,
        const int32_t[::1] name,
        const int32_t[::1] file,
        const int32_t[::1] function,
        const int32_t[::1] line,
        const int32_t[::1] mapping,
    ):
        """Add the functions and frames of a block; return the frame indexes, int32 [F].

        name, file and mapping are text numbers.
        """
        cdef Py_ssize_t i, last = -1
        cdef int32_t[::1] of_function = np.empty(function_id.shape[0], np.int32)
        rows = np.empty(function.shape[0], np.int32)
        cdef int32_t[::1] out = rows
        self.make_room_for(function_id.shape[0], function.shape[0])
        with nogil:
            for i in range(function_id.shape[0]):
                of_function[i] = <int32_t>self.functions_here.enter(function_id[i])
                if of_function[i] == self.named:
                    self.names[self.named, 0], self.names[self.named, 1] = name[i], file[i]
                    self.named += 1
            for i in range(function.shape[0]):
                last = self.frame_after(last, of_function[function[i]], line[i], mapping[i])
                out[i] = <int32_t>last
        return rows

    def table(self):
        """Return the functions and frames.

        The result is (function ids uint64 [P]; name, file int32 [2, P]; function, line, mapping
        int32 [3, F]).
        """
        return (
            self.functions_here.table(),
            np.ascontiguousarray(self.names[: self.named].T),
            np.ascontiguousarray(self.lines[: self.forest.frames.count].T),
        )

    cdef check_tables(self):
        for column in (NAME_OF_FUNCTION, FILE_OF_FUNCTION):
            if self.count[column] != self.functions:
                raise ValueError("columns of one table differ in length")
        for column in (LINE_OF_FRAME, MAPPING_OF_FRAME):
            if self.count[column] != self.frames:
                raise ValueError("columns of one table differ in length")

    cdef make_room_for(self, Py_ssize_t functions, Py_ssize_t frames):
        """Make room for this many new functions and frames."""
        functions += self.functions_here.count
        if functions > self.names.shape[0]:
            self.names = enlarged(self.names, 2 * functions)
            self.after_function = enlarged(self.after_function, 2 * functions)
        frames += self.forest.frames.count
        if frames > self.lines.shape[0]:
            self.lines = enlarged(self.lines, 2 * frames)
            self.after_frame = enlarged(self.after_frame, 2 * frames)

    cdef make_room_for_cells(self):
        cdef Py_ssize_t count = self.cells_here, room
        if count + self.sampled > self.cell_node.shape[0]:
            room = 2 * (count + self.sampled)
            self.cell_node = enlarged(self.cell_node, room)
            values = np.zeros((self.cell_value.shape[0], room), np.int64)
            values[:, :count] = self.cell_value[:, :count]
            self.cell_value = values
        self.cell_value[:, count : count + self.sampled] = 0

    cdef int32_t text_of(
        self, const unsigned char[::1] text, const int64_t[::1] ends, int64_t string
    ) except -1 nogil:
        """Return the text number of a string of the tree."""
        return self.texts.enter_one(text, ends[string - 1] if string else 0, ends[string])

    cdef Py_ssize_t find_mappings(self) except -1 nogil:
        """Find the text numbers of the mappings; return the number of unknown texts."""
        cdef Py_ssize_t i, unknown = 0
        for i in range(self.ids.shape[0]):
            self.numbers[i] = <int32_t>self.texts.ids.find(self.ids[i])
            unknown += self.numbers[i] < 0
        return unknown

    cdef int enter_functions(self, Keys keys) except -1 nogil:
        cdef Py_ssize_t i, next, last = -1
        cdef uint64_t id
        for i in range(self.functions):
            id = <uint64_t>self.number(FUNCTION_ID, i)
            next = self.after_function[last] if last >= 0 else 0
            if keys.count == 0 or keys.keys[next] != id:
                next = keys.enter(id)
                if last >= 0:
                    self.after_function[last] = <int32_t>next
            self.row[i] = <int32_t>next
            last = next
        return 0

    cdef int enter_frames(self) except -1 nogil:
        """Replace the function of each frame of the tree by its frame index in the forest."""
        cdef Py_ssize_t i, at = 0, last = -1
        for i in range(self.frames):
            at = self.mapping_of(at, self.mapping[i])
            last = self.frame_after(last, self.row[self.of_frame[i]], self.line[i], self.numbers[at])
            self.of_frame[i] = <int32_t>last
        return 0

    cdef Py_ssize_t mapping_of(self, Py_ssize_t guess, int32_t string) except -1 nogil:
        """Return the position of the string among the mappings of the tree."""
        cdef Py_ssize_t low = 0, high = self.strings.shape[0], middle
        if guess < high and self.strings[guess] == string:
            return guess
        while low < high:
            middle = (low + high) // 2
            if self.strings[middle] < string:
                low = middle + 1
            else:
                high = middle
        if low == self.strings.shape[0] or self.strings[low] != string:
            with gil:
                raise ValueError(f"string {string} is no mapping")
        return low

    cdef Py_ssize_t frame_after(
        self, Py_ssize_t last, int32_t function, int32_t line, int32_t mapping
    ) except -1 nogil:
        """Return the index of a frame; fast if it follows the `last` one as in an earlier tree."""
        cdef Py_ssize_t next, known = self.forest.frames.count
        cdef uint64_t id
        if last >= 0:
            next = self.after_frame[last]
            if (
                self.lines[next, 0] == function
                and self.lines[next, 1] == line
                and self.lines[next, 2] == mapping
            ):
                return next
        id = pair(self.functions_here.keys[function], <uint64_t>line)
        next = self.forest.frames.enter(pair(id, self.texts.ids.keys[mapping]))
        if next == known:
            self.lines[next, 0], self.lines[next, 1] = function, line
            self.lines[next, 2] = mapping
        if last >= 0:
            self.after_frame[last] = <int32_t>next
        return next
