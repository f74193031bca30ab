# Conversion of samples to the nodes of a call tree.

cdef int64_t MOST = 2**63 - 1


@cython.final
cdef class Stacks:
    """Accumulator of samples: self values by node, and by (node, label set)."""

    cdef Wire wire
    cdef Index locations
    cdef const int32_t[::1] first
    cdef const int32_t[::1] frame_of
    cdef const int64_t[::1] factors
    cdef bint negative
    cdef Py_ssize_t max_depth
    cdef Py_ssize_t frames_left
    cdef int64_t max_total
    cdef object limits
    cdef uint64_t[::1] stack  # of the current sample: location ids, leaf first
    cdef Py_ssize_t depth
    cdef uint64_t[::1] row  # values of the sample as encoded
    cdef Py_ssize_t filled
    cdef int64_t[::1] scaled_row
    cdef uint64_t[::1] former  # of the previous sample: location ids, root first
    cdef int32_t[::1] former_frames  # number of frames from the root to the end of each location
    cdef Py_ssize_t former_depth
    cdef int32_t[::1] frame_at  # frames of the current sample, root first
    cdef uint64_t[::1] path  # hash of all frames down to each: the key of its node
    cdef uint64_t labels  # hash of the sample labels in encoded order; 0 if none
    cdef readonly CallNodes nodes
    # None until a sample with labels occurs.
    cdef readonly Sums label_sets  # row: label set; value: first sample that has it
    cdef readonly Sums labelled  # key: node << 32 | label set
    cdef int64_t[::1] total
    cdef int64_t[::1] below  # first negative value of each metric; 0 if none

    def __init__(self, Wire wire, symbols, factors, limits, Py_ssize_t samples):
        """Create an accumulator for `samples` samples; metrics with factor 0 become all zeros."""
        cdef Py_ssize_t width = len(factors)
        self.wire = wire
        self.locations = symbols.location_index
        self.first, self.frame_of = symbols.first, symbols.frame_of
        self.factors = factors
        self.negative = limits.negative
        self.max_depth = limits.max_depth
        self.frames_left = limits.max_stack_frames
        self.max_total = min(limits.max_total, MOST)
        self.limits = limits
        self.stack = np.empty(limits.max_depth, np.uint64)
        self.row = np.empty(width, np.uint64)
        self.scaled_row = np.empty(width, np.int64)
        self.former = np.empty(limits.max_depth, np.uint64)
        self.former_frames = np.empty(limits.max_depth, np.int32)
        self.former_depth = 0
        self.frame_at = np.empty(limits.max_depth, np.int32)
        self.path = np.empty(limits.max_depth, np.uint64)
        # A sample takes two bytes, and one for each value: this bounds the samples with values.
        samples = min(samples, wire.raw.shape[0] // (width + 2))
        self.nodes = CallNodes(width, samples, limits.nodes_of(wire.raw.shape[0]))
        self.total = np.zeros(width, np.int64)
        self.below = np.zeros(width, np.int64)

    def totals(self):
        """Return the total of each metric, int64 [width]."""
        return np.array(self.total)

    def below_zero(self):
        """Return the first negative value of each metric, int64 [width], or 0.

        Negative values are read as zeros, unless the limits allow them.
        """
        return np.array(self.below)

    def read(self, const Py_ssize_t[:, ::1] samples):
        cdef Py_ssize_t i
        with nogil:
            for i in range(samples.shape[0]):
                self.read_sample(i, samples[i, 0], samples[i, 1])
                if self.scaled(i):
                    self.enter(i)

    cdef int read_sample(self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef Field field
        self.depth = self.filled = 0
        self.labels = 0
        field.at = start
        while self.wire.next(&field, stop):
            if field.number == 1:
                self.depth = self.taken(&field, self.stack, self.depth)
                if self.depth > self.max_depth:
                    self.too_deep(self.depth)
            elif field.number == 2:
                self.filled = self.taken(&field, self.row, self.filled)
                if self.filled > self.row.shape[0]:
                    self.wrong_values(i)
            elif field.number == 3 and field.wire == BYTES:
                self.label(field.start, field.stop)
        if self.filled != self.row.shape[0]:
            self.wrong_values(i)
        return 0

    cdef Py_ssize_t taken(
        self, Field* field, uint64_t[::1] into, Py_ssize_t filled
    ) except -1 nogil:
        """Append the numbers of a repeated field, packed or not, like Wire.varints."""
        if field.wire == BYTES:
            return self.wire.varints(field.start, field.stop, into, filled)
        if field.wire != VARINT:
            return filled
        if filled < into.shape[0]:
            into[filled] = field.value
        return filled + 1

    cdef int label(self, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef uint64_t[LABEL_FIELDS] parts
        read_label(self.wire, start, stop, parts)
        self.labels = label_key(self.labels ^ SEED, parts)
        return 0

    cdef bint scaled(self, Py_ssize_t i) except -1 nogil:
        """Scale the values to their normal units; return False if all are zero."""
        cdef Py_ssize_t k
        cdef bint some = False
        cdef int64_t value, most
        for k in range(self.row.shape[0]):
            value = <int64_t>self.row[k]
            if value < 0 and not self.negative:
                self.below[k] = self.below[k] or value
                value = 0
            if self.factors[k] != 1:
                most = MOST // self.factors[k] if self.factors[k] else MOST
                if not -most <= value <= most:
                    self.too_great(i, value)
                value *= self.factors[k]
            self.scaled_row[k] = value
            some = some or value != 0
        return some

    cdef int enter(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t node = self.leaf(), row = self.nodes.row(node), k, labelled = -1
        if self.labels:
            if self.labelled is None:
                with gil:
                    self.make_room_for_labels()
            labelled = self.labelled.row(<uint64_t>node << 32 | <uint64_t>self.label_set(i))
        for k in range(self.row.shape[0]):
            if self.scaled_row[k] == 0:
                continue
            self.bounded(k)
            self.nodes.sums[row, k] = added(self.nodes.sums[row, k], self.scaled_row[k])
            self.total[k] = added(self.total[k], self.scaled_row[k])
            if labelled >= 0:
                self.labelled.add(labelled, k, self.scaled_row[k])
        return 0

    cdef make_room_for_labels(self):
        limit = setting("max_samples")
        self.label_sets = Sums(1, self.limits.max_samples, limit)
        self.labelled = Sums(self.row.shape[0], self.limits.max_samples, limit)

    cdef inline int bounded(self, Py_ssize_t k) except -1 nogil:
        """Raise `TooLarge` if the total would exceed the limit, before the value is added."""
        cdef int64_t total = self.total[k]
        if total >= 0 and self.scaled_row[k] > self.max_total - total:
            self.too_much(k)
        return 0

    cdef Py_ssize_t label_set(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t before = self.label_sets.keys.count
        cdef Py_ssize_t row = self.label_sets.row(self.labels)
        if row == before:
            self.label_sets.values[row, 0] = i
        return row

    cdef Py_ssize_t leaf(self) except -1 nogil:
        """Return the leaf node of the current stack; missing nodes are created.

        The frames that it shares with the previous stack, from the root, are known already.
        """
        cdef Py_ssize_t i = 0, location, frames = 0, known
        while i < self.former_depth and i < self.depth:
            if self.former[i] != self.stack[self.depth - 1 - i]:
                break
            i += 1
        known = frames = self.former_frames[i - 1] if i else 0
        self.former_depth = self.depth
        if self.depth == 0:
            frames = self.down(0, self.first.shape[0] - 2)
        while i < self.depth:
            self.former[i] = self.stack[self.depth - 1 - i]
            location = self.locations.find(self.former[i])
            if location < 0:
                self.no_location()
            frames = self.down(frames, location)
            self.former_frames[i] = <int32_t>frames
            i += 1
        self.frames_left -= frames
        if self.frames_left < 0:
            self.too_long()
        return self.node(known, frames)

    cdef inline Py_ssize_t down(self, Py_ssize_t frames, Py_ssize_t location) except -1 nogil:
        """Append the frames of a location, stored innermost first; return the new number."""
        cdef Py_ssize_t innermost = self.first[location], at = self.first[location + 1]
        cdef uint64_t path = self.path[frames - 1] if frames else SEED
        cdef int32_t frame
        if frames + at - innermost > self.max_depth:
            self.too_deep(frames + at - innermost)
        while at > innermost:
            at -= 1
            frame = self.frame_of[at]
            path = chained(path, <uint64_t>frame)
            self.frame_at[frames] = frame
            self.path[frames] = path
            frames += 1
        return frames

    cdef Py_ssize_t node(self, Py_ssize_t known, Py_ssize_t frames) except -1 nogil:
        """Return the node at the end of `frames` frames, of which the first `known` have nodes.

        If a frame has a node, all its ancestors have one: the first frame without a node is found
        by bisection, and a known stack by one lookup.
        """
        cdef Py_ssize_t missing = frames - 1, middle, node
        node = self.nodes.keys.find(self.path[missing])
        if node >= 0:
            return node
        while known < missing:
            middle = (known + missing) // 2
            if self.nodes.keys.find(self.path[middle]) < 0:
                missing = middle
            else:
                known = middle + 1
        node = self.nodes.keys.find(self.path[known - 1]) if known else -1
        for middle in range(known, frames):
            node = self.nodes.enter(self.path[middle], node, self.frame_at[middle])
        return node

    cdef int wrong_values(self, Py_ssize_t i) except -1 nogil:
        with gil:
            raise BadProfile(
                f"Sample {i} has {'more' if self.filled > self.row.shape[0] else self.filled}"
                f" values; the profile has {self.row.shape[0]} sample types."
            )

    cdef int too_great(self, Py_ssize_t i, int64_t value) except -1 nogil:
        with gil:
            raise BadProfile(f"Sample {i} has the value {value}; in its unit that passes 64 bits.")

    cdef int too_much(self, Py_ssize_t k) except -1 nogil:
        with gil:
            total = int(self.total[k]) + int(self.scaled_row[k])
            raise TooLarge(setting("max_total"), total, self.max_total)

    cdef int no_location(self) except -1 nogil:
        with gil:
            raise BadProfile("A sample points at location 0, which means none.")

    cdef int too_deep(self, Py_ssize_t depth) except -1 nogil:
        with gil:
            raise TooLarge(setting("max_depth"), depth, self.max_depth)

    cdef int too_long(self) except -1 nogil:
        with gil:
            allowed = self.limits.max_stack_frames
            raise TooLarge(setting("max_stack_frames"), allowed + 1, allowed)
