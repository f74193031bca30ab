"""Samples of a pprof profile, summed by the nodes of its call tree and by their labels."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from profiles.engine.hashing cimport (
    SEED,
    KeyTable,
    SumTable,
    add_checked,
    chain_hash,
    grow_rows,
)
from profiles.engine.pprof.wire cimport BYTES, VARINT, Field, RowIndex, WireReader

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import TRACE_ID_MARK, TRACE_KEY_MARK, setting

cdef uint8_t TRACE_KEY = TRACE_KEY_MARK, TRACE_ID = TRACE_ID_MARK

cdef enum:
    LABEL_FIELDS = 5  # columns of a label: key 1, str 2, num 3, num_unit 4
    LABEL_KEY = 1
    LABEL_TEXT = 2


cdef int read_label(
    WireReader reader, Py_ssize_t start, Py_ssize_t stop, uint64_t* parts
) except -1 nogil:
    """Read a label's LABEL_FIELDS numbers by field; 0 if absent."""
    cdef Field field
    cdef int i
    for i in range(LABEL_FIELDS):
        parts[i] = 0
    field.at = start
    while reader.next_field(&field, stop):
        if field.wire_type == VARINT and field.number < LABEL_FIELDS:
            parts[field.number] = field.value
    return 0


cdef inline uint64_t label_key(uint64_t before, const uint64_t* parts) noexcept nogil:
    """Hash the label together with the labels `before` it."""
    cdef int i
    for i in range(1, LABEL_FIELDS):
        before = chain_hash(before, parts[i])
    return before


cdef inline bint is_trace_link(const uint8_t[::1] marks, const uint64_t* parts) noexcept nogil:
    """Return True for a label with the id of a trace or span; `marks` see mark_trace_links."""
    cdef uint64_t key = parts[LABEL_KEY], text = parts[LABEL_TEXT]
    if key >= <uint64_t>marks.shape[0] or text >= <uint64_t>marks.shape[0]:
        return False
    return marks[<Py_ssize_t>key] == TRACE_KEY and marks[<Py_ssize_t>text] == TRACE_ID


def read_labels(
    WireReader reader, const Py_ssize_t[:, ::1] samples, limits, const uint8_t[::1] marks
):
    """Read the labels of samples, except links to traces; `samples` has byte ranges, intp [S, 2].

    `marks` are those of ProfileStrings.mark_trace_links. Return the distinct labels by field,
    uint64 [U, LABEL_FIELDS]; the row of each label of each sample in order, int32 [L]; and the end
    of each sample's labels in these, int64 [S]. Raise `TooLarge` if L exceeds
    `limits.max_sample_labels`.
    """
    cdef Py_ssize_t most = limits.max_sample_labels, i, last = 0
    all_ends = np.empty(samples.shape[0], np.int64)
    cdef int64_t[::1] ends = all_ends
    cdef uint64_t[LABEL_FIELDS] parts
    cdef Field field
    with nogil:
        for i in range(samples.shape[0]):
            field.at = samples[i, 0]
            while reader.next_field(&field, samples[i, 1]):
                if field.number == 3 and field.wire_type == BYTES:
                    if marks.shape[0]:
                        read_label(reader, field.start, field.stop, parts)
                        if is_trace_link(marks, parts):
                            continue
                    last += 1
            ends[i] = last
    if last > most:
        raise TooLarge(setting("max_sample_labels"), last, most)
    return (*number_labels(reader, samples, last, marks), all_ends)


cdef number_labels(
    WireReader reader,
    const Py_ssize_t[:, ::1] samples,
    Py_ssize_t count,
    const uint8_t[::1] marks,
):
    """Return the first two results of read_labels; there are `count` labels."""
    cdef KeyTable keys = KeyTable(count, "", count)
    cdef uint64_t[LABEL_FIELDS] parts
    table, all_rows = np.empty((count, LABEL_FIELDS), np.uint64), np.empty(count, np.int32)
    cdef uint64_t[:, ::1] rows = table
    cdef int32_t[::1] row_of = all_rows
    cdef Py_ssize_t i, k, row, at = 0
    cdef Field field
    with nogil:
        for i in range(samples.shape[0]):
            field.at = samples[i, 0]
            while reader.next_field(&field, samples[i, 1]):
                if field.number == 3 and field.wire_type == BYTES:
                    read_label(reader, field.start, field.stop, parts)
                    if is_trace_link(marks, parts):
                        continue
                    row = keys.insert(label_key(SEED, parts))
                    for k in range(LABEL_FIELDS):
                        rows[row, k] = parts[k]
                    row_of[at] = <int32_t>row
                    at += 1
    return table[: keys.count], all_rows


cdef enum:
    NODES_PER_SAMPLE = 5  # approximate number of nodes per sample in real profiles
    EXTRA_NODES = 1024  # added to that for small profiles; the tables grow up to the limit


@cython.final
cdef class SampleNodes:
    """Nodes by a key that is unique per node, and a row of sums for each node with values."""

    cdef readonly KeyTable keys
    cdef int32_t[::1] parent
    cdef int32_t[::1] frame
    cdef int32_t[::1] row_of  # row of sums of each node; -1 if it has none
    cdef int64_t[:, ::1] sums
    cdef Py_ssize_t rows

    def __init__(self, Py_ssize_t width, Py_ssize_t samples, allowed):
        """Create the tables; `samples` limits the rows of sums, `allowed` is a limits.Allowed."""
        expected = NODES_PER_SAMPLE * samples + EXTRA_NODES
        self.keys = KeyTable(allowed.most, allowed.limit, expected, allowed.unit)
        self.parent = np.empty(self.keys.keys.shape[0], np.int32)
        self.frame = np.empty(self.parent.shape[0], np.int32)
        self.row_of = np.empty(self.parent.shape[0], np.int32)
        self.sums = np.empty((samples, width), np.int64)
        self.rows = 0

    cdef Py_ssize_t insert(self, uint64_t key, Py_ssize_t parent, int32_t frame) except -1 nogil:
        """Add a new node and return its index; roots have parent -1."""
        cdef Py_ssize_t node = self.keys.insert(key)
        if node >= self.parent.shape[0]:
            self.grow(self.keys.keys.shape[0])
        self.parent[node] = <int32_t>parent
        self.frame[node] = frame
        self.row_of[node] = -1
        return node

    # Not a part of `insert`, which would then clear the temporary memoryviews on each call.
    cdef int grow(self, Py_ssize_t capacity) except -1 nogil:
        with gil:
            self.parent = grow_rows(self.parent, capacity)
            self.frame = grow_rows(self.frame, capacity)
            self.row_of = grow_rows(self.row_of, capacity)
        return 0

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

    def values(self, const int64_t[::1] metrics):
        """Return the nodes with values of these metrics, and the values.

        The result is (int32 [M], ascending; int64 [len(metrics), M]).
        """
        nodes = np.empty(self.rows, np.int32)
        cdef int32_t[::1] node = nodes
        cdef Py_ssize_t i, count = 0
        with nogil:
            for i in range(self.keys.count):
                if self.row_of[i] >= 0 and self.has_values(self.row_of[i], metrics):
                    node[count] = <int32_t>i
                    count += 1
        values = np.empty((metrics.shape[0], count), np.int64)
        self.fill(node[:count], metrics, values)
        return nodes[:count], values

    cdef bint has_values(self, Py_ssize_t row, const int64_t[::1] metrics) except -1 nogil:
        """Return True if any of these sums is not zero."""
        cdef Py_ssize_t k
        for k in range(metrics.shape[0]):
            if self.sums[row, metrics[k]] != 0:
                return True
        return False

    cdef fill(self, const int32_t[::1] node, const int64_t[::1] metrics, int64_t[:, ::1] values):
        cdef Py_ssize_t i, k
        with nogil:
            for i in range(node.shape[0]):
                for k in range(metrics.shape[0]):
                    values[k, i] = self.sums[self.row_of[node[i]], metrics[k]]


cdef int64_t LARGEST_INT64 = 2**63 - 1


@cython.final
cdef class SampleReader:
    """Accumulator of samples: self values by node, and by (node, label set)."""

    cdef WireReader reader
    cdef RowIndex locations
    cdef const int32_t[::1] first
    cdef const int32_t[::1] frame_of
    cdef const int64_t[::1] factors
    cdef bint allow_negative
    cdef Py_ssize_t max_depth
    cdef Py_ssize_t frames_left
    cdef int64_t max_total
    cdef object limits
    cdef uint64_t[::1] stack  # of the current sample: location ids, leaf first
    cdef Py_ssize_t depth
    cdef uint64_t[::1] values  # values of the sample as encoded
    cdef Py_ssize_t filled
    cdef int64_t[::1] scaled  # values in normal units
    cdef uint64_t[::1] previous  # of the previous sample: location ids, root first
    cdef int32_t[::1] previous_frames  # number of frames from the root to the end of each location
    cdef Py_ssize_t previous_depth
    cdef int32_t[::1] frame_at  # frames of the current sample, root first
    cdef uint64_t[::1] path  # hash of all frames down to each: the key of its node
    cdef uint64_t labels  # hash of the sample labels in encoded order; 0 if none
    cdef object strings
    cdef bint has_marks
    cdef readonly object marks  # see ProfileStrings.mark_trace_links; None without labels
    cdef const uint8_t[::1] mark
    cdef readonly Py_ssize_t trace_links  # labels that were left out
    cdef readonly SampleNodes nodes
    # None until a sample with labels occurs.
    cdef readonly SumTable label_sets  # row: label set; value: first sample that has it
    cdef readonly SumTable labelled  # key: node << 32 | label set
    cdef int64_t[::1] total
    cdef int64_t[::1] negatives  # first negative value of each metric; 0 if none

    def __init__(self, WireReader reader, symbols, factors, limits, Py_ssize_t samples):
        """Create an accumulator for `samples` samples; metrics with factor 0 become all zeros."""
        cdef Py_ssize_t width = len(factors)
        self.reader = reader
        self.locations = symbols.location_index
        self.first, self.frame_of = symbols.first, symbols.frame_of
        self.strings, self.has_marks = symbols.strings, False
        self.factors = factors
        self.allow_negative = limits.negative
        self.max_depth = limits.max_depth
        self.frames_left = limits.max_stack_frames
        self.max_total = min(limits.max_total, LARGEST_INT64)
        self.limits = limits
        self.stack = np.empty(limits.max_depth, np.uint64)
        self.values = np.empty(width, np.uint64)
        self.scaled = np.empty(width, np.int64)
        self.previous = np.empty(limits.max_depth, np.uint64)
        self.previous_frames = np.empty(limits.max_depth, np.int32)
        self.previous_depth = 0
        self.frame_at = np.empty(limits.max_depth, np.int32)
        self.path = np.empty(limits.max_depth, np.uint64)
        # A sample takes two bytes, and one for each value: this bounds the samples with values.
        samples = min(samples, reader.data.shape[0] // (width + 2))
        self.nodes = SampleNodes(width, samples, limits.compute_node_limit(reader.data.shape[0]))
        self.total = np.zeros(width, np.int64)
        self.negatives = np.zeros(width, np.int64)

    def totals(self):
        """Return the total of each metric, int64 [width]."""
        return np.array(self.total)

    def first_negatives(self):
        """Return the first negative value of each metric, int64 [width], or 0.

        Negative values are read as zeros, unless the limits allow them.
        """
        return np.array(self.negatives)

    def read(self, const Py_ssize_t[:, ::1] samples):
        """Add samples; `samples` has their byte ranges, intp [S, 2]."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(samples.shape[0]):
                self.read_sample(i, samples[i, 0], samples[i, 1])
                if self.scale_values(i):
                    self.add_values(i)

    cdef int read_sample(self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef Field field
        self.depth = self.filled = 0
        self.labels = 0
        field.at = start
        while self.reader.next_field(&field, stop):
            if field.number == 1:
                self.depth = self.append_numbers(&field, self.stack, self.depth)
                if self.depth > self.max_depth:
                    self.raise_too_deep(self.depth)
            elif field.number == 2:
                self.filled = self.append_numbers(&field, self.values, self.filled)
                if self.filled > self.values.shape[0]:
                    self.raise_wrong_values(i)
            elif field.number == 3 and field.wire_type == BYTES:
                self.add_label(field.start, field.stop)
        if self.filled != self.values.shape[0]:
            self.raise_wrong_values(i)
        return 0

    cdef Py_ssize_t append_numbers(
        self, Field* field, uint64_t[::1] into, Py_ssize_t filled
    ) except -1 nogil:
        """Append the numbers of a repeated field, packed or not, like read_packed."""
        if field.wire_type == BYTES:
            return self.reader.read_packed(field.start, field.stop, into, filled)
        if field.wire_type != VARINT:
            return filled
        if filled < into.shape[0]:
            into[filled] = field.value
        return filled + 1

    cdef int add_label(self, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        cdef uint64_t[LABEL_FIELDS] parts
        read_label(self.reader, start, stop, parts)
        if not self.has_marks:
            self.mark_trace_links()
        if is_trace_link(self.mark, parts):
            self.trace_links += 1
            return 0
        self.labels = label_key(self.labels ^ SEED, parts)
        return 0

    cdef int mark_trace_links(self) except -1 nogil:
        with gil:
            self.marks = self.mark = self.strings.mark_trace_links()
            self.has_marks = True
        return 0

    cdef bint scale_values(self, Py_ssize_t i) except -1 nogil:
        """Scale the values to their normal units; return False if all are zero."""
        cdef Py_ssize_t k
        cdef bint any_value = False
        cdef int64_t value, limit
        for k in range(self.values.shape[0]):
            value = <int64_t>self.values[k]
            if value < 0 and not self.allow_negative:
                self.negatives[k] = self.negatives[k] or value
                value = 0
            if self.factors[k] != 1:
                limit = LARGEST_INT64 // self.factors[k] if self.factors[k] else LARGEST_INT64
                if not -limit <= value <= limit:
                    self.raise_value_too_large(i, value)
                value *= self.factors[k]
            self.scaled[k] = value
            any_value = any_value or value != 0
        return any_value

    cdef int add_values(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t node = self.leaf_node(), row = self.nodes.row(node), k, labelled = -1
        if self.labels:
            if self.labelled is None:
                with gil:
                    self.create_label_tables()
            labelled = self.labelled.row(<uint64_t>node << 32 | <uint64_t>self.label_set(i))
        for k in range(self.values.shape[0]):
            if self.scaled[k] == 0:
                continue
            self.check_total(k)
            self.nodes.sums[row, k] = add_checked(self.nodes.sums[row, k], self.scaled[k])
            self.total[k] = add_checked(self.total[k], self.scaled[k])
            if labelled >= 0:
                self.labelled.add(labelled, k, self.scaled[k])
        return 0

    cdef create_label_tables(self):
        limit = setting("max_samples")
        self.label_sets = SumTable(1, self.limits.max_samples, limit)
        self.labelled = SumTable(self.values.shape[0], self.limits.max_samples, limit)

    cdef inline int check_total(self, Py_ssize_t k) except -1 nogil:
        """Raise `TooLarge` if the total would exceed the limit, before the value is added."""
        cdef int64_t total = self.total[k]
        if total >= 0 and self.scaled[k] > self.max_total - total:
            self.raise_total_too_large(k)
        return 0

    cdef Py_ssize_t label_set(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t before = self.label_sets.keys.count
        cdef Py_ssize_t row = self.label_sets.row(self.labels)
        if row == before:
            self.label_sets.values[row, 0] = i
        return row

    cdef Py_ssize_t leaf_node(self) except -1 nogil:
        """Return the leaf node of the current stack; missing nodes are created.

        The frames that it shares with the previous stack, from the root, are known already.
        """
        cdef Py_ssize_t i = 0, location, frames = 0, shared
        while i < self.previous_depth and i < self.depth:
            if self.previous[i] != self.stack[self.depth - 1 - i]:
                break
            i += 1
        shared = frames = self.previous_frames[i - 1] if i else 0
        self.previous_depth = self.depth
        if self.depth == 0:
            frames = self.append_frames(0, self.first.shape[0] - 2)
        while i < self.depth:
            self.previous[i] = self.stack[self.depth - 1 - i]
            location = self.locations.find(self.previous[i])
            if location < 0:
                self.raise_no_location()
            frames = self.append_frames(frames, location)
            self.previous_frames[i] = <int32_t>frames
            i += 1
        self.frames_left -= frames
        if self.frames_left < 0:
            self.raise_too_many_frames()
        return self.find_or_insert(shared, frames)

    cdef inline Py_ssize_t append_frames(
        self, Py_ssize_t frames, Py_ssize_t location
    ) except -1 nogil:
        """Append the frames of a location, stored innermost first; return the new number."""
        cdef Py_ssize_t innermost = self.first[location], at = self.first[location + 1]
        cdef uint64_t path = self.path[frames - 1] if frames else SEED
        cdef int32_t frame
        if frames + at - innermost > self.max_depth:
            self.raise_too_deep(frames + at - innermost)
        while at > innermost:
            at -= 1
            frame = self.frame_of[at]
            path = chain_hash(path, <uint64_t>frame)
            self.frame_at[frames] = frame
            self.path[frames] = path
            frames += 1
        return frames

    cdef Py_ssize_t find_or_insert(self, Py_ssize_t shared, Py_ssize_t frames) except -1 nogil:
        """Return the node at the end of `frames` frames, of which the first `shared` have nodes.

        If a frame has a node, all its ancestors have one: the first frame without a node is found
        by bisection, and a stack that occurred before by one lookup.
        """
        cdef Py_ssize_t missing = frames - 1, middle, node
        node = self.nodes.keys.find(self.path[missing])
        if node >= 0:
            return node
        while shared < missing:
            middle = (shared + missing) // 2
            if self.nodes.keys.find(self.path[middle]) < 0:
                missing = middle
            else:
                shared = middle + 1
        node = self.nodes.keys.find(self.path[shared - 1]) if shared else -1
        for middle in range(shared, frames):
            node = self.nodes.insert(self.path[middle], node, self.frame_at[middle])
        return node

    cdef int raise_wrong_values(self, Py_ssize_t i) except -1 nogil:
        with gil:
            raise BadProfile(
                f"Sample {i} has {'more' if self.filled > self.values.shape[0] else self.filled}"
                f" values; the profile has {self.values.shape[0]} sample types."
            )

    cdef int raise_value_too_large(self, Py_ssize_t i, int64_t value) except -1 nogil:
        with gil:
            raise BadProfile(f"The value of sample {i}, {value}, exceeds 64 bits in the base unit.")

    cdef int raise_total_too_large(self, Py_ssize_t k) except -1 nogil:
        with gil:
            total = int(self.total[k]) + int(self.scaled[k])
            raise TooLarge(setting("max_total"), total, self.max_total)

    cdef int raise_no_location(self) except -1 nogil:
        with gil:
            raise BadProfile("A sample has the location id 0, which is reserved.")

    cdef int raise_too_deep(self, Py_ssize_t depth) except -1 nogil:
        with gil:
            raise TooLarge(setting("max_depth"), depth, self.max_depth)

    cdef int raise_too_many_frames(self) except -1 nogil:
        with gil:
            allowed = self.limits.max_stack_frames
            raise TooLarge(setting("max_stack_frames"), allowed + 1, allowed)
