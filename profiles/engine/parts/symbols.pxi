# Conversion of the tables of a profile (strings, mappings, functions, locations) to frames.

cdef enum:  # field numbers, used as columns of the result of numbers()
    MAPPING_START = 2
    MAPPING_OFFSET = 4
    MAPPING_FILE = 5
    MAPPING_BUILD_ID = 6
    LOCATION_MAPPING = 2
    LOCATION_ADDRESS = 3
    LOCATION_LINE = 4

cdef uint64_t LAST_LINE = 2**31 - 1
cdef Py_ssize_t LONGEST_BINARY = 255  # characters: file systems allow 255 bytes


@cython.final
cdef class Symbols:
    """Distinct frames, and the frames of each location (innermost first).

    After the profile's locations there is an empty one, for samples without a stack.
    """

    cdef Wire wire
    cdef readonly Strings strings
    cdef object string_limit
    cdef uint64_t[:, ::1] mappings
    cdef int32_t[::1] mapping_name
    cdef uint64_t[:, ::1] locations
    cdef Index mapping_index
    cdef Functions functions
    cdef readonly Index location_index
    cdef int32_t[::1] line_function  # function of each line
    cdef int32_t[::1] line_number
    cdef Py_ssize_t max_lines
    cdef readonly int32_t[::1] first  # [locations + 1]
    cdef readonly int32_t[::1] frame_of  # frame of each line
    cdef readonly Keys frames  # frame ids
    cdef int32_t[::1] function  # [frames], like the following
    cdef int32_t[::1] line
    cdef int32_t[::1] mapping

    def __init__(self, Wire wire, Strings strings, dict places, limits):
        self.wire = wire
        self.strings = strings
        self.string_limit = limits.strings_of(wire.raw.shape[0])
        self.mappings = numbers(wire, places["mappings"], 7)
        self.mapping_index = Index("mapping", self.mappings)
        self.functions = Functions(wire, self.strings, places["functions"])
        self.name_mappings()
        self.read_locations(places["locations"], limits)
        self.location_index = Index("location", self.locations[: self.locations.shape[0] - 1])
        self.name_unsymbolised()
        self.make_frames()

    cdef read_locations(self, const Py_ssize_t[:, ::1] spans, limits):
        """Read the locations and their named lines, in order of location."""
        cdef Py_ssize_t i, count = spans.shape[0]
        # A line takes at least two bytes, and a location without lines gets a frame of its own.
        cdef Py_ssize_t room = count + 1
        for i in range(count):
            room += (spans[i, 1] - spans[i, 0]) // 2
        self.max_lines = limits.max_symbols
        room = min(room, self.max_lines + count + 1)
        self.locations = np.zeros((count + 1, 4), np.uint64)
        self.line_function = np.empty(room, np.int32)
        self.line_number = np.empty(room, np.int32)
        self.first = np.zeros(count + 2, np.int32)
        with nogil:
            for i in range(count):
                self.first[i + 1] = self.first[i]
                self.read_location(i, spans[i, 0], spans[i, 1])
                self.enter_unnamed(i)
            self.first[count + 1] = self.first[count]
            self.enter_unnamed(count)

    cdef int enter_unnamed(self, Py_ssize_t i) except -1 nogil:
        if self.first[i + 1] == self.first[i]:
            self.line_function[self.first[i]] = -1
            self.line_number[self.first[i]] = 0
            self.first[i + 1] += 1
        return 0

    cdef int read_location(self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef Field field
        field.at = start
        while self.wire.next(&field, stop):
            if field.wire == VARINT and field.number < LOCATION_LINE:
                self.locations[i, field.number] = field.value
            elif field.wire == BYTES and field.number == LOCATION_LINE:
                self.read_line(&self.first[i + 1], field.start, field.stop)
        return 0

    cdef int read_line(self, int32_t* at, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        """Append a line at `at` and advance it; lines without a function name are skipped."""
        cdef Field field
        cdef Py_ssize_t function
        cdef uint64_t function_id = 0, line = 0
        field.at = start
        while self.wire.next(&field, stop):
            if field.wire == VARINT and field.number == 1:
                function_id = field.value
            elif field.wire == VARINT and field.number == 2:
                line = field.value
        function = self.functions.index.find(function_id)
        if function >= 0 and self.functions.named(function):
            if at[0] >= self.line_function.shape[0]:
                with gil:
                    raise TooLarge(setting("max_symbols"), self.max_lines + 1, self.max_lines)
            self.line_function[at[0]] = <int32_t>function
            self.line_number[at[0]] = <int32_t>line if line <= LAST_LINE else 0
            at[0] += 1
        return 0

    cdef name_unsymbolised(self):
        """Generate functions `binary+0x…` for locations without a named line."""
        cdef Py_ssize_t i, first = self.functions.name.shape[0], size = 0, known
        binaries = [None] * self.mappings.shape[0]
        names = {}
        for i in range(self.locations.shape[0]):
            if self.line_function[self.first[i]] >= 0:
                continue
            name = self.unsymbolised(i, binaries)
            if name is UNKNOWN:
                self.line_function[self.first[i]] = <int32_t>self.functions.unknown
                continue
            known = len(names)
            self.line_function[self.first[i]] = first + names.setdefault(name, known)
            if len(names) > known:
                size += len(name)
                within(self.string_limit, size)
        self.functions.append(list(names))

    cdef bytes unsymbolised(self, Py_ssize_t location, list binaries):
        """Return the generated name of a location.

        `binaries` caches the name of each mapping's binary.
        """
        cdef Py_ssize_t row = self.mapping_index.find(self.locations[location, LOCATION_MAPPING])
        cdef uint64_t address = self.locations[location, LOCATION_ADDRESS]
        if row < 0:
            return f"0x{address:x}".encode() if address else UNKNOWN
        binary = binaries[row]
        if binary is None:
            path = self.strings.text(self.mappings[row, MAPPING_FILE])
            binary = binaries[row] = path.rpartition("/")[2][:LONGEST_BINARY] or "?"
        if address == 0:
            return binary.encode()
        if address >= self.mappings[row, MAPPING_START]:
            address += self.mappings[row, MAPPING_OFFSET] - self.mappings[row, MAPPING_START]
        return f"{binary}+0x{address:x}".encode()

    cdef make_frames(self):
        cdef Py_ssize_t i, at, lines = self.first[self.first.shape[0] - 1]
        cdef int32_t mapping
        self.frame_of = np.empty(lines, np.int32)
        self.frames = Keys(lines, "", lines)
        self.function = np.empty(lines, np.int32)
        self.line = np.empty(lines, np.int32)
        self.mapping = np.empty(lines, np.int32)
        with nogil:
            for i in range(self.locations.shape[0]):
                mapping = self.mapping_of(i)
                for at in range(self.first[i], self.first[i + 1]):
                    self.frame_of[at] = <int32_t>self.enter_frame(at, mapping)

    cdef int32_t mapping_of(self, Py_ssize_t location) except -1 nogil:
        """Return the string with the name of a location's binary."""
        cdef Py_ssize_t row = self.mapping_index.find(self.locations[location, LOCATION_MAPPING])
        return self.mapping_name[row] if row >= 0 else <int32_t>self.strings.none

    cdef Py_ssize_t enter_frame(self, Py_ssize_t at, int32_t mapping) except -1 nogil:
        """Find or create the frame of a line."""
        cdef Py_ssize_t function = self.line_function[at], before = self.frames.count, frame
        frame = self.frames.enter(pair(self.functions.id[function], <uint64_t>self.line_number[at]))
        if frame < before:
            self.prefer_mapping(frame, mapping)
            return frame
        self.function[frame] = <int32_t>function
        self.line[frame] = self.line_number[at]
        self.mapping[frame] = mapping
        return frame

    cdef name_mappings(self):
        """Set each mapping's name: the string of its build id, or else of its path."""
        cdef Py_ssize_t i
        cdef uint64_t name
        self.mapping_name = np.full(self.mappings.shape[0], self.strings.none, np.int32)
        for i in range(self.mappings.shape[0]):
            for name in (self.mappings[i, MAPPING_FILE], self.mappings[i, MAPPING_BUILD_ID]):
                if not self.strings.empty(name):
                    self.mapping_name[i] = <int32_t>name

    cdef int prefer_mapping(self, Py_ssize_t frame, int32_t other) except -1 nogil:
        """Choose one mapping for a frame: the greater text id, independent of the order."""
        cdef int32_t now = self.mapping[frame]
        if other == self.strings.none or other == now:
            return 0
        if now == self.strings.none or self.strings.ids[other] > self.strings.ids[now]:
            self.mapping[frame] = other
        return 0

    def used(self, int32_t[::1] of_nodes):
        """Return the frames in use; `of_nodes` is rewritten to their new numbers.

        The result is (text, ends of the strings; id, name, file of the functions; function, line,
        mapping of the frames). Functions and strings are distinct; all are numbered by first use.
        """
        cdef const int32_t[::1] kept = renumbered(of_nodes, self.frames.count)
        cdef Py_ssize_t most = min(kept.shape[0], self.functions.id.shape[0])
        frames, functions = np.empty((3, kept.shape[0]), np.int32), np.empty((2, most), np.int32)
        cdef UsedStrings strings = UsedStrings(self.strings, 2 * most + kept.shape[0])
        cdef Keys ids = Keys(most, "", most)
        self.fill(kept, ids, strings, functions, frames)
        text, ends = strings.table(self.string_limit)
        name, file = functions[:, : ids.count]
        function, line, mapping = frames
        return text, ends, ids.table(), name, file, function, line, mapping

    cdef fill(
        self, const int32_t[::1] kept, Keys ids, UsedStrings strings,
        int32_t[:, ::1] functions, int32_t[:, ::1] frames,
    ):
        """Fill the tables of frames in use.

        functions has name and file; frames has function, line and mapping.
        """
        cdef int32_t[::1] place = np.zeros(self.functions.id.shape[0], np.int32)  # number + 1, or 0
        cdef Py_ssize_t j, row, number, known
        with nogil:
            for j in range(kept.shape[0]):
                row = self.function[kept[j]]
                if place[row] == 0:
                    known = ids.count
                    number = ids.enter(self.functions.id[row])
                    place[row] = <int32_t>(number + 1)
                    if number == known:
                        functions[0, number] = strings.number(self.functions.name[row])
                        functions[1, number] = strings.number(self.functions.file[row])
                frames[0, j] = place[row] - 1
                frames[1, j] = self.line[kept[j]]
                frames[2, j] = strings.number(self.mapping[kept[j]])


cdef renumbered(int32_t[::1] index, Py_ssize_t count):
    """Return the numbers below `count` in `index`, by first use, and renumber `index`."""
    numbers = np.empty(count, np.int32)
    cdef int32_t[::1] place = np.zeros(count, np.int32), used = numbers  # place + 1; 0 if unused
    cdef Py_ssize_t i, kept = 0
    with nogil:
        for i in range(index.shape[0]):
            if place[index[i]] == 0:
                used[kept] = index[i]
                kept += 1
                place[index[i]] = <int32_t>kept
            index[i] = place[index[i]] - 1
    return numbers[:kept]
