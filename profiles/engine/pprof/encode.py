"""Encoder of call trees as pprof profiles (profile.proto), for `go tool pprof` and others."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from isal import igzip

from profiles.engine.calltree.tree import Label, Tree
from profiles.engine.cancellation import Check, check_each, never_cancel
from profiles.engine.metrics import Metric
from profiles.engine.pprof.binaries import Binary, find_address, parse_mapping
from profiles.engine.pprof.varint import bytes_field, int_field, pack_field, varint

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_PAGE = 4096  # bytes; memory is mapped in whole pages
_TIME, _DURATION, _PERIOD_TYPE, _COMMENT, _DEFAULT_TYPE = 9, 10, 11, 13, 14

# Period types of Go's profiles, by profile type: pprof compares only files with equal ones.
PERIOD_TYPES = {
    "CPU": Metric("cpu", "nanoseconds"),
    "WALL": Metric("wall", "nanoseconds"),
    "HEAP": Metric("space", "bytes"),
    "PEAK_HEAP": Metric("space", "bytes"),
    "HEAP_ALLOC": Metric("space", "bytes"),
    "CONTENTION": Metric("contentions", "count"),
}


def encode(
    tree: Tree,
    *,
    time_ns: int = 0,
    duration_ns: int = 0,
    default: str = "",
    period_type: Metric | None = None,
    comments: Sequence[str] = (),
    check: Check = never_cancel,
) -> bytes:
    """Encode a tree as a gzipped profile; decode_profile returns the tree, with labels and lines.

    `default` is the name of the metric that readers show first. Times and durations of 0 are
    unknown. A node without a value at or below it has no sample and is not encoded.
    """
    strings = _Strings()
    head = int_field(_TIME, time_ns) + int_field(_DURATION, duration_ns)
    if period_type:
        head += bytes_field(_PERIOD_TYPE, _value_type(period_type, strings))
    head += b"".join(int_field(_COMMENT, strings.number(comment)) for comment in comments)
    head += int_field(_DEFAULT_TYPE, strings.number(default))
    return igzip.compress(b"".join(_parts(tree, strings, head, check)), mtime=0)


def _parts(tree: Tree, strings: "_Strings", head: bytes, check: Check) -> Iterator[bytes]:
    for metric in tree.metrics:
        yield bytes_field(_SAMPLE_TYPE, _value_type(metric, strings))
    yield from _symbols(tree, strings)
    yield from _samples(tree, strings, check)
    yield head
    yield from strings.table()


class _Strings:
    """String table; number 0 is the empty string."""

    def __init__(self) -> None:
        self._numbers = {"": 0}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def table(self) -> Iterator[bytes]:
        for text in self._numbers:
            yield bytes_field(_STRING, text.encode("utf-8", "replace"))


def _value_type(metric: Metric, strings: _Strings) -> bytes:
    return int_field(1, strings.number(metric.name)) + int_field(2, strings.number(metric.unit))


def _symbols(tree: Tree, strings: _Strings) -> Iterator[bytes]:
    """Encode locations, functions and mappings.

    Frame i is location i + 1; functions are distinct by name, file and start line. Addresses
    without symbols have no function, and their mappings are not marked as symbolised: pprof can
    name them.
    """
    frames, texts = tree.frames, tree.frames.strings
    functions: dict[tuple[int, int, int], int] = {}
    mappings = _Mappings(strings)
    columns = (frames.name, frames.file, frames.line, frames.mapping, frames.get_start_lines())
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (name, file, line, mapping, start) in enumerate(rows, 1):
        address = None if line else find_address(texts[name], texts[file], texts[mapping])
        if address:
            position = int_field(2, mappings.number(address.binary, address.offset))
            position += int_field(3, address.offset)
        else:
            function = functions.setdefault((name, file, start), len(functions) + 1)
            position = int_field(2, mappings.number(parse_mapping(texts[mapping])))
            position += bytes_field(4, int_field(1, function) + int_field(2, line))
        yield bytes_field(_LOCATION, int_field(1, number) + position)
    for (name, file, start), number in functions.items():
        text = strings.number(texts[name])
        named = int_field(2, text) + int_field(3, text) + int_field(4, strings.number(texts[file]))
        yield bytes_field(_FUNCTION, int_field(1, number) + named + int_field(5, start))
    yield from mappings.table()


class _Mappings:
    """Mapping table: an entry for each binary's functions, and one for its addresses."""

    def __init__(self, strings: _Strings) -> None:
        self._strings = strings
        self._limits: dict[tuple[Binary, bool], int] = {}  # end of each, in the binary's file
        self._numbers: dict[tuple[Binary, bool], int] = {}

    def number(self, binary: Binary, offset: int = 0) -> int:
        """Return the number of the mapping of an address, or of functions; 0 if there is none."""
        if not any(binary):
            return 0
        key = binary, offset > 0
        self._limits[key] = max(self._limits.get(key, 0), offset)
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def table(self) -> Iterator[bytes]:
        for (binary, has_addresses), number in self._numbers.items():
            fields = int_field(1, number)
            if has_addresses:
                pages = self._limits[binary, True] // _PAGE + 1
                fields += int_field(3, min(pages * _PAGE, 2**64 - 1))
            fields += int_field(5, self._strings.number(binary.path))
            fields += int_field(6, self._strings.number(binary.build_id))
            yield bytes_field(_MAPPING, fields + int_field(7, not has_addresses))


def _samples(tree: Tree, strings: _Strings, check: Check) -> Iterator[bytes]:
    """Encode samples with labels, and a sample for the remaining self values of each node."""
    stacks = _Stacks(tree)
    rest = tree.self.copy()
    if tree.labelled:
        rows = tree.labelled
        sets = [_labels(labels, strings) for labels in rows.label_sets]
        for row, values in zip(rest, rows.values, strict=True):
            np.subtract.at(row, rows.node, values)
        columns = (rows.node.tolist(), rows.label_set.tolist(), rows.values.T.tolist())
        for node, labels, row in check_each(zip(*columns, strict=True), check):
            yield bytes_field(_SAMPLE, stacks.encode(node) + pack_field(2, row) + sets[labels])
    for node in check_each(np.flatnonzero(rest.any(axis=0)).tolist(), check):
        values = pack_field(2, rest[:, node].tolist())
        yield bytes_field(_SAMPLE, stacks.encode(node) + values)


class _Stacks:
    """Location ids of stacks, leaf first."""

    def __init__(self, tree: Tree) -> None:
        self._locations = [varint(i) for i in range(1, len(tree.frames.id) + 1)]
        self._parent: Sequence[int] = tree.parent.tolist()
        self._frame: Sequence[int] = tree.frame.tolist()

    def encode(self, node: int) -> bytes:
        return bytes_field(1, b"".join(self._up(node)))

    def _up(self, node: int) -> Iterable[bytes]:
        while node >= 0:
            yield self._locations[self._frame[node]]
            node = self._parent[node]


def _labels(labels: Sequence[Label], strings: _Strings) -> bytes:
    return b"".join(bytes_field(3, _label(label, strings)) for label in labels)


def _label(label: Label, strings: _Strings) -> bytes:
    key = int_field(1, strings.number(label.key))
    if label.unit is None:
        return key + int_field(2, strings.number(label.value))
    return key + int_field(3, int(label.value)) + int_field(4, strings.number(label.unit))
