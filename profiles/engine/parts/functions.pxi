# Functions of a profile, and functions generated for frames without symbols.

cdef enum:  # field numbers, used as columns of the result of numbers()
    FUNCTION_NAME = 2
    FUNCTION_SYSTEM_NAME = 3
    FUNCTION_FILE = 4


@cython.final
cdef class Functions:
    """Rows of the profile's function table, the unknown function, and generated functions."""

    cdef Strings strings
    cdef readonly Index index
    cdef int32_t[::1] name  # index of the string; `none` if the function has no name
    cdef int32_t[::1] file
    cdef uint64_t[::1] id
    cdef Py_ssize_t unknown

    def __init__(self, Wire wire, Strings strings, spans):
        cdef uint64_t[:, ::1] table = numbers(wire, spans, FUNCTION_FILE + 1)
        cdef Py_ssize_t i
        self.strings = strings
        self.index = Index("function", table)
        self.unknown = table.shape[0]
        self.name = np.empty(table.shape[0] + 1, np.int32)
        self.file = np.empty(table.shape[0] + 1, np.int32)
        self.id = np.empty(table.shape[0] + 1, np.uint64)
        with nogil:
            for i in range(table.shape[0]):
                self.read(i, table)
            self.enter(self.unknown, strings.unknown, strings.none)

    cdef int read(self, Py_ssize_t i, const uint64_t[:, ::1] table) except -1 nogil:
        """Read a row, whose strings must exist; the system name replaces a missing name."""
        cdef Py_ssize_t file = self.strings.checked(table[i, FUNCTION_FILE])
        cdef uint64_t name = table[i, FUNCTION_NAME]
        if self.strings.empty(name):
            name = table[i, FUNCTION_SYSTEM_NAME]
            if self.strings.empty(name):
                name = <uint64_t>self.strings.none
        return self.enter(i, <Py_ssize_t>name, file)

    cdef int enter(self, Py_ssize_t i, Py_ssize_t name, Py_ssize_t file) except -1 nogil:
        self.name[i] = <int32_t>name
        self.file[i] = <int32_t>file
        self.id[i] = pair(self.strings.ids[name], self.strings.ids[file])
        return 0

    cdef inline bint named(self, Py_ssize_t row) except -1 nogil:
        return self.name[row] != self.strings.none

    cdef append(self, list names):
        """Add functions with these names (bytes), without files."""
        if not names:
            return
        first, none = len(self.strings.ids), self.strings.none
        self.strings.append(names)
        name = np.arange(first, first + len(names), dtype=np.int32)
        file = np.full(len(names), none, np.int32)
        ids = function_ids(self.strings.ids, name, file)
        self.name = np.concatenate((self.name, name))
        self.file = np.concatenate((self.file, file))
        self.id = np.concatenate((self.id, ids))
