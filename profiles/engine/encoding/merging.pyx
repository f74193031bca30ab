"""Merging of stored trees, read from their columns without creating arrays.

Queries on recent profiles merge by function (FunctionMerger). Compaction merges by line and
collects the values of each tree (LineMerger).
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from profiles.engine.calltree.forest cimport Forest, NodeTable, StringPool
from profiles.engine.encoding.columns cimport (
    MAX_ROWS,
    find_parents,
    sum_steps,
    widen_1,
    widen_2,
    widen_4,
)
from profiles.engine.hashing cimport INITIAL_CAPACITY, KeyTable, grow_rows, pair_id

import numpy as np

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


cdef class StoredTreeReader:
    """Reader of stored trees, one at a time; its arrays are reused."""

    def __cinit__(self):
        self.at = np.zeros(INITIAL_CAPACITY, np.intp)
        self.count = np.zeros(INITIAL_CAPACITY, np.intp)
        self.width = np.zeros(INITIAL_CAPACITY, np.intc)
        self.forest_function = self.frame_function = np.empty(0, np.int32)
        self.parent = self.frame = self.node = self.forest_node = np.empty(0, np.int32)
        self.value = np.empty(0, np.int64)

    def forest_nodes(self):
        """Return the index in the forest of each node of the last tree added, int32 [N]."""
        return np.array(self.forest_node[: self.nodes])

    cdef open_tree(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics):
        """Set the columns [[width, count], …] that begin at `at`, and check their shape.

        Raise `ValueError` if they cannot be a tree.
        """
        self.data = data
        self.find_columns(at, columns)
        self.check_shape(metrics)
        self.reserve_arrays()

    cdef int read_nodes(self) except -1 nogil:
        """Read the functions of frames, and the nodes. Raise `ValueError` if they make no tree."""
        self.read_index(FUNCTION_OF_FRAME, self.functions, self.frame_function)
        self.read_index(PARENT_OF_NODE, MAX_ROWS, self.parent)
        self.read_index(FRAME_OF_NODE, self.frames, self.frame)
        self.read_index(SAMPLED, MAX_ROWS, self.node)
        find_parents(self.parent[: self.nodes])
        sum_steps(self.node[: self.sampled], self.nodes)
        return 0

    cdef find_columns(self, Py_ssize_t at, list columns):
        cdef Py_ssize_t i, size
        cdef list column
        if len(columns) < FIRST_VALUES or at < 0:
            raise ValueError("a column is missing")
        if len(columns) > self.at.shape[0]:
            self.at = grow_rows(self.at, len(columns))
            self.count = grow_rows(self.count, len(columns))
            self.width = grow_rows(self.width, len(columns))
        self.columns = len(columns)
        for i in range(self.columns):
            column = columns[i]
            self.width[i], self.count[i], self.at[i] = column[0], column[1], at
            size = abs(self.width[i])
            if size not in (1, 2, 4, 8) or self.count[i] < 0 or self.count[i] > MAX_ROWS:
                raise ValueError("a column has no width or no rows")
            at += size * self.count[i]
        if at != self.data.shape[0]:
            raise ValueError("excess bytes after the last column")

    cdef check_shape(self, Py_ssize_t metrics):
        cdef Py_ssize_t k
        self.functions, self.frames = self.count[FUNCTION_ID], self.count[FUNCTION_OF_FRAME]
        self.nodes, self.sampled = self.count[PARENT_OF_NODE], self.count[SAMPLED]
        if self.width[FUNCTION_ID] < 0 or self.count[FRAME_OF_NODE] != self.nodes:
            raise ValueError("columns of a table differ in length")
        for k in range(FIRST_VALUES, FIRST_VALUES + metrics):
            if k >= self.columns or self.count[k] != self.sampled:
                raise ValueError("columns of a table differ in length")

    cdef reserve_arrays(self):
        cdef Py_ssize_t most = max(self.functions, self.frames, self.nodes, self.sampled)
        if most > self.forest_function.shape[0]:
            arrays = np.empty((6, 2 * most), np.int32)
            self.forest_function, self.frame_function = arrays[0], arrays[1]
            self.parent, self.frame = arrays[2], arrays[3]
            self.node, self.forest_node = arrays[4], arrays[5]
            self.value = np.empty(2 * most, np.int64)

    cdef int read_index(
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
                raise ValueError(f"index {highest} out of range: {below} rows")
        return 0

    cdef int read_values(self, Py_ssize_t column, int64_t factor) except -1 nogil:
        """Read a column multiplied by `factor`, modulo 2^64 as in ColumnReader.values."""
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.value[i] = <int64_t>(<uint64_t>self.number(column, i) * <uint64_t>factor)
        return 0

    cdef int add_nodes(self, NodeTable nodes, const uint64_t[::1] ids) except -1 nogil:
        """Find or add each node.

        `frame_function` has frame indexes of the forest; `ids` are the ids of these frames.
        """
        cdef Py_ssize_t i, caller, last = -1
        # Local views, so that the loop does not reload them at each step.
        cdef const int32_t[::1] parent = self.parent, rows = self.frame_function
        cdef int32_t[::1] frame = self.frame, forest_node = self.forest_node
        cdef int32_t row
        for i in range(self.nodes):
            caller = forest_node[parent[i]] if parent[i] >= 0 else -1
            frame[i] = row = rows[frame[i]]
            last = nodes.child_after(last, caller, row, ids[row])
            forest_node[i] = <int32_t>last
        return 0


@cython.final
cdef class FunctionMerger(StoredTreeReader):
    """Merger of stored trees by function; `read` rejects damaged trees before any is added."""

    def __init__(self, Forest forest):
        self.forest = forest
        self.successor = np.zeros(INITIAL_CAPACITY, np.int32)

    def read(self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics):
        """Read the numbers of a tree; columns is [[width, count], …], and they begin at `at`.

        Return the positions of functions that the forest lacks: they must be added to it before the
        tree is added. Raise `ValueError` if the numbers are not a valid tree.
        """
        cdef KeyTable frames = self.forest.frames
        cdef Py_ssize_t i, missing
        self.open_tree(data, at, columns, metrics)
        if frames.keys.shape[0] > self.successor.shape[0]:
            self.successor = grow_rows(self.successor, frames.keys.shape[0])
        # One release of the GIL for all loops: getting it back takes long if other threads want it.
        with nogil:
            self.read_nodes()
            missing = self.find_functions(frames)
        return [i for i in range(self.functions) if self.forest_function[i] < 0] if missing else []

    def add(self, list metrics):
        """Add the tree that was read; return True if the forest got new nodes.

        metrics is [(metric of the tree, factor, metric of the forest), …], by index.
        """
        cdef Py_ssize_t before = self.forest.nodes.sums.keys.count
        cdef Py_ssize_t metric, column, i
        cdef int64_t factor
        with nogil:
            for i in range(self.frames):
                self.frame_function[i] = self.forest_function[self.frame_function[i]]
            self.add_nodes(self.forest.nodes, self.forest.frames.keys)
        for stored_metric, stored_factor, target in metrics:
            metric, factor, column = stored_metric, stored_factor, target
            with nogil:
                self.read_values(FIRST_VALUES + metric, factor)
                self.add_values(column)
        return self.forest.nodes.sums.keys.count > before

    def sparse_values(self):
        """Return (node int32 [M], value int64 [M]) of the last `add`; nodes may repeat."""
        cdef int32_t[::1] forest_node = np.empty(self.sampled, np.int32)
        cdef Py_ssize_t i
        for i in range(self.sampled):
            forest_node[i] = self.forest_node[self.node[i]]
        return np.asarray(forest_node), np.array(self.value[: self.sampled])

    cdef Py_ssize_t find_functions(self, KeyTable frames) except -1 nogil:
        """Find the index in the forest of each function; return the number of missing functions."""
        cdef Py_ssize_t i, before, found = -1, missing = 0
        cdef uint64_t key
        cdef int32_t[::1] rows = self.forest_function, successor = self.successor
        for i in range(self.functions):
            key = pair_id(<uint64_t>self.number(FUNCTION_ID, i), 0)
            if (
                found >= 0
                and successor[found] < frames.count
                and frames.keys[successor[found]] == key
            ):
                found = successor[found]
            else:
                before, found = found, frames.find(key)
                if before >= 0 and found >= 0:
                    successor[before] = <int32_t>found
            rows[i] = <int32_t>found
            missing += found < 0
        return missing

    cdef int add_values(self, Py_ssize_t column) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.sampled):
            self.forest.nodes.sums.add(self.forest_node[self.node[i]], column, self.value[i])
        return 0


@cython.final
cdef class LineMerger(StoredTreeReader):
    """Forest whose frames differ by function, line, mapping and start line; values of each tree.

    A tree is read (`read`), named if necessary (`name`), and added (`add`). If a tree turns out to
    be damaged, discard the whole object: part of the tree may have been added.
    """

    cdef readonly Forest forest
    cdef readonly KeyTable function_ids  # function ids
    cdef readonly StringPool strings
    cdef int32_t[:, ::1] names  # [functions, 2]: name and file, as string numbers
    cdef int32_t[:, ::1] lines  # [frames, 4]: function, line, number of the mapping, start line
    cdef Py_ssize_t named  # number of functions that have names
    cdef int32_t[::1] after_function  # function that followed each in the last tree that had it
    cdef int32_t[::1] after_frame  # the same for frames
    cdef int32_t[::1] line, mapping  # of each frame of the tree
    cdef int32_t[::1] start_line  # of each function of the tree, if it has any
    cdef bint has_start_lines
    cdef int32_t[::1] mapping_strings  # strings of the tree that are mappings, ascending
    cdef int32_t[::1] mapping_numbers  # string number of each of these
    cdef uint64_t[::1] mapping_ids  # string id of each of these
    cdef int32_t[::1] value_node  # node of each value
    cdef int64_t[:, ::1] values  # [metrics, …]
    cdef Py_ssize_t value_count

    def __init__(self, Py_ssize_t max_nodes, str limit):
        self.forest = Forest(0, max_nodes, limit)
        self.function_ids = KeyTable(max_nodes, limit)
        self.strings = StringPool()
        self.names = np.zeros((INITIAL_CAPACITY, 2), np.int32)
        self.lines = np.zeros((INITIAL_CAPACITY, 4), np.int32)
        self.after_function = np.zeros(INITIAL_CAPACITY, np.int32)
        self.after_frame = np.zeros(INITIAL_CAPACITY, np.int32)
        self.line = self.mapping = self.start_line = np.empty(0, np.int32)
        self.clear(0)

    def clear(self, Py_ssize_t metrics):
        """Discard all values; from now on, values of `metrics` metrics are collected."""
        self.value_node = np.empty(INITIAL_CAPACITY, np.int32)
        self.values = np.zeros((metrics, INITIAL_CAPACITY), np.int64)
        self.value_count = 0

    def read(
        self, const uint8_t[::1] data, Py_ssize_t at, list columns, Py_ssize_t metrics,
        list mappings,
    ):
        """Read the numbers of a tree; columns is [[width, count], …], and they begin at `at`.

        mappings is [[string, string id], …] of the strings that are mappings, ascending. Return
        True if the tree must be named. Raise `ValueError` if the numbers are not a valid tree.
        """
        cdef Py_ssize_t before = self.function_ids.count, unknown
        self.open_tree(data, at, columns, metrics)
        # The last column, after those of the labels; trees of version 2 lack it.
        cdef Py_ssize_t start_lines = FIRST_VALUES + 2 * metrics + 2
        self.has_start_lines = start_lines < self.columns and self.count[start_lines] > 0
        self.check_tables()
        if self.has_start_lines and self.count[start_lines] != self.functions:
            raise ValueError("columns of a table differ in length")
        self.reserve(self.functions, self.frames)
        if self.line.shape[0] < self.forest_function.shape[0]:
            arrays = np.empty((3, self.forest_function.shape[0]), np.int32)
            self.line, self.mapping, self.start_line = arrays
        table = np.array(mappings, np.uint64).reshape(-1, 2)
        self.mapping_strings = table[:, 0].astype(np.int32)
        self.mapping_ids = np.ascontiguousarray(table[:, 1])
        self.mapping_numbers = np.empty(len(table), np.int32)
        with nogil:
            self.read_nodes()
            self.read_index(LINE_OF_FRAME, <int64_t>1 << 31, self.line)
            self.read_index(MAPPING_OF_FRAME, <int64_t>1 << 31, self.mapping)
            if self.has_start_lines:
                self.read_index(start_lines, <int64_t>1 << 31, self.start_line)
            unknown = self.find_mappings()
            self.insert_functions(self.function_ids)
        return unknown > 0 or self.function_ids.count > before

    def name(self, const unsigned char[::1] data, const int64_t[::1] ends):
        """Name the new functions and mappings of the tree that was read; these are its strings.

        Raise `IndexError` or `ValueError` if the strings do not fit the tree.
        """
        cdef Py_ssize_t i, row
        cdef int64_t name, file
        with nogil:
            for i in range(self.functions):
                row = self.forest_function[i]
                if row == self.named:
                    name, file = self.number(NAME_OF_FUNCTION, i), self.number(FILE_OF_FUNCTION, i)
                    self.names[row, 0] = self.string_number(data, ends, name)
                    self.names[row, 1] = self.string_number(data, ends, file)
                    self.named += 1
            for i in range(self.mapping_strings.shape[0]):
                self.string_number(data, ends, self.mapping_strings[i])
            row = self.find_mappings()
        if row or self.named < self.function_ids.count:
            raise ValueError("number or lengths of strings do not match the data")

    def add(self, list metrics):
        """Add the tree that was read, and its values; return the number of nodes with values.

        metrics is [(metric of the tree, factor, metric of the block), …], by index.
        """
        cdef Py_ssize_t i, metric, column
        cdef int64_t factor
        self.reserve_values()
        with nogil:
            self.insert_frames()
            self.add_nodes(self.forest.nodes, self.forest.frames.keys)
            for i in range(self.sampled):
                self.value_node[self.value_count + i] = self.forest_node[self.node[i]]
        for stored_metric, stored_factor, target in metrics:
            metric, factor, column = stored_metric, stored_factor, target
            with nogil:
                self.read_values(FIRST_VALUES + metric, factor)
                self.values[column, self.value_count : self.value_count + self.sampled] = (
                    self.value[: self.sampled]
                )
        self.value_count += self.sampled
        return self.sampled

    def sparse_values(self):
        """Return the values of all trees: (nodes int32 [C], values int64 [metrics, C])."""
        cdef Py_ssize_t count = self.value_count
        return np.array(self.value_node[:count]), np.array(self.values[:, :count])

    def add_block(
        self,
        const uint64_t[::1] function_id,
        const int32_t[::1] name,
        const int32_t[::1] file,
        const int32_t[::1] function,
        const int32_t[::1] line,
        const int32_t[::1] mapping,
        const int32_t[::1] start_line,
    ):
        """Add the functions and frames of a block; return the frame indexes, int32 [F].

        name, file and mapping are string numbers.
        """
        cdef Py_ssize_t i, last = -1
        cdef int32_t[::1] of_function = np.empty(function_id.shape[0], np.int32)
        rows = np.empty(function.shape[0], np.int32)
        cdef int32_t[::1] out = rows
        self.reserve(function_id.shape[0], function.shape[0])
        with nogil:
            for i in range(function_id.shape[0]):
                of_function[i] = <int32_t>self.function_ids.insert(function_id[i])
                if of_function[i] == self.named:
                    self.names[self.named, 0], self.names[self.named, 1] = name[i], file[i]
                    self.named += 1
            for i in range(function.shape[0]):
                last = self.frame_after(
                    last, of_function[function[i]], line[i], mapping[i], start_line[i]
                )
                out[i] = <int32_t>last
        return rows

    def table(self):
        """Return the functions and frames.

        The result is (function ids uint64 [P]; name, file int32 [2, P]; function, line, mapping,
        start line int32 [4, F]).
        """
        return (
            self.function_ids.table(),
            np.ascontiguousarray(self.names[: self.named].T),
            np.ascontiguousarray(self.lines[: self.forest.frames.count].T),
        )

    cdef check_tables(self):
        for column in (NAME_OF_FUNCTION, FILE_OF_FUNCTION):
            if self.count[column] != self.functions:
                raise ValueError("columns of a table differ in length")
        for column in (LINE_OF_FRAME, MAPPING_OF_FRAME):
            if self.count[column] != self.frames:
                raise ValueError("columns of a table differ in length")

    cdef reserve(self, Py_ssize_t functions, Py_ssize_t frames):
        """Make room for this many new functions and frames."""
        functions += self.function_ids.count
        if functions > self.names.shape[0]:
            self.names = grow_rows(self.names, 2 * functions)
            self.after_function = grow_rows(self.after_function, 2 * functions)
        frames += self.forest.frames.count
        if frames > self.lines.shape[0]:
            self.lines = grow_rows(self.lines, 2 * frames)
            self.after_frame = grow_rows(self.after_frame, 2 * frames)

    cdef reserve_values(self):
        cdef Py_ssize_t count = self.value_count, room
        if count + self.sampled > self.value_node.shape[0]:
            room = 2 * (count + self.sampled)
            self.value_node = grow_rows(self.value_node, room)
            larger = np.zeros((self.values.shape[0], room), np.int64)
            larger[:, :count] = self.values[:, :count]
            self.values = larger
        self.values[:, count : count + self.sampled] = 0

    cdef int32_t string_number(
        self, const unsigned char[::1] data, const int64_t[::1] ends, int64_t string
    ) except -1 nogil:
        """Return the string number of a string of the tree."""
        return self.strings.insert_one(data, ends[string - 1] if string else 0, ends[string])

    cdef Py_ssize_t find_mappings(self) except -1 nogil:
        """Find the string numbers of the mappings; return the number of unknown strings."""
        cdef Py_ssize_t i, unknown = 0
        for i in range(self.mapping_ids.shape[0]):
            self.mapping_numbers[i] = <int32_t>self.strings.ids.find(self.mapping_ids[i])
            unknown += self.mapping_numbers[i] < 0
        return unknown

    cdef int insert_functions(self, KeyTable keys) except -1 nogil:
        cdef Py_ssize_t i, next, last = -1
        cdef uint64_t id
        for i in range(self.functions):
            id = <uint64_t>self.number(FUNCTION_ID, i)
            next = self.after_function[last] if last >= 0 else 0
            if keys.count == 0 or keys.keys[next] != id:
                next = keys.insert(id)
                if last >= 0:
                    self.after_function[last] = <int32_t>next
            self.forest_function[i] = <int32_t>next
            last = next
        return 0

    cdef int insert_frames(self) except -1 nogil:
        """Replace the function of each frame of the tree by its frame index in the forest."""
        cdef Py_ssize_t i, at = 0, last = -1
        cdef int32_t function, start_line
        for i in range(self.frames):
            at = self.mapping_of(at, self.mapping[i])
            function = self.forest_function[self.frame_function[i]]
            start_line = 0
            if self.has_start_lines:
                start_line = self.start_line[self.frame_function[i]]
            last = self.frame_after(
                last, function, self.line[i], self.mapping_numbers[at], start_line
            )
            self.frame_function[i] = <int32_t>last
        return 0

    cdef Py_ssize_t mapping_of(self, Py_ssize_t guess, int32_t string) except -1 nogil:
        """Return the position of the string among the mappings of the tree."""
        cdef Py_ssize_t low = 0, high = self.mapping_strings.shape[0], middle
        if guess < high and self.mapping_strings[guess] == string:
            return guess
        while low < high:
            middle = (low + high) // 2
            if self.mapping_strings[middle] < string:
                low = middle + 1
            else:
                high = middle
        if low == self.mapping_strings.shape[0] or self.mapping_strings[low] != string:
            with gil:
                raise ValueError(f"string {string} is not a mapping")
        return low

    cdef Py_ssize_t frame_after(
        self,
        Py_ssize_t last,
        int32_t function,
        int32_t line,
        int32_t mapping,
        int32_t start_line,
    ) except -1 nogil:
        """Return the index of a frame; fast if it follows the `last` one as in an earlier tree."""
        cdef Py_ssize_t next, before = self.forest.frames.count
        cdef uint64_t id
        if last >= 0:
            next = self.after_frame[last]
            if (
                self.lines[next, 0] == function
                and self.lines[next, 1] == line
                and self.lines[next, 2] == mapping
                and self.lines[next, 3] == start_line
            ):
                return next
        id = pair_id(self.function_ids.keys[function], <uint64_t>line)
        id = pair_id(id, self.strings.ids.keys[mapping])
        next = self.forest.frames.insert(pair_id(id, <uint64_t>start_line) if start_line else id)
        if next == before:
            self.lines[next, 0], self.lines[next, 1] = function, line
            self.lines[next, 2], self.lines[next, 3] = mapping, start_line
        if last >= 0:
            self.after_frame[last] = <int32_t>next
        return next
