"""Handwritten pprof profiles that are small on the wire and large in memory."""

import gzip
from collections.abc import Sequence

from tests.ingest.pprof import field, varint

MIB = 2**20


def assembled(
    strings: Sequence[bytes],
    *,
    sample_types: Sequence[tuple[int, int]] = ((1, 2),),
    mappings: Sequence[bytes] = (),
    functions: Sequence[bytes] = (),
    locations: Sequence[bytes] = (),
    samples: Sequence[bytes] = (),
) -> bytes:
    """Encode an uncompressed profile; its strings are "", "cpu", "nanoseconds", then `strings`."""
    table = [b"", b"cpu", b"nanoseconds", *strings]
    messages = [
        *((1, field(1, name) + field(2, unit)) for name, unit in sample_types),
        *((2, sample) for sample in samples),
        *((3, mapping) for mapping in mappings),
        *((4, location) for location in locations),
        *((5, function) for function in functions),
        *((6, text) for text in table),
    ]
    return b"".join(field(number, message) for number, message in messages)


def sample(locations: Sequence[int], value: int = 1, labels: Sequence[bytes] = ()) -> bytes:
    ids = b"".join(varint(number) for number in locations)
    return field(1, ids) + field(2, varint(value)) + b"".join(field(3, label) for label in labels)


def one_name_of_many_locations(size: int, locations: int) -> bytes:
    """Return unsymbolised locations, all named by a mapping's file name of `size` bytes."""
    return assembled(
        [b"a" * size],
        mappings=[field(1, 1) + field(5, 3)],
        locations=[
            field(1, i) + field(2, 1) + field(3, 0x1000 + i) for i in range(1, locations + 1)
        ],
        samples=[sample([i]) for i in range(1, locations + 1)],
    )


def packed(raw: bytes) -> bytes:
    return gzip.compress(raw, 9, mtime=0)


def nodes_of_inlined_lines(lines: int, stacks: int) -> bytes:
    """Return stacks of a distinct root followed by one location with `lines` inlined lines."""
    roots = range(2, stacks + 2)
    return assembled(
        [b"f"],
        functions=[field(1, 1) + field(2, 3)],
        locations=[
            field(1, 1) + b"".join(field(4, field(1, 1) + field(2, i)) for i in range(lines)),
            *(field(1, i) + field(4, field(1, 1) + field(2, lines + i)) for i in roots),
        ],
        samples=[sample([1, i]) for i in roots],
    )


def deep_stacks(depth: int, stacks: int) -> bytes:
    """Return stacks of one repeated function, each below a distinct line."""
    ids = range(1, stacks + 2)
    return assembled(
        [b"f"],
        functions=[field(1, 1) + field(2, 3)],
        locations=[field(1, i) + field(4, field(1, 1) + field(2, i)) for i in ids],
        samples=[sample([1] * depth + [i]) for i in ids[1:]],
    )


def inlined_stacks(lines: int, stacks: int) -> bytes:
    """Return stacks of a location with `lines` inlined lines, and a distinct frame below it.

    They have few nodes, because all share the frames of the location.
    """
    leaves = range(2, stacks + 2)
    return assembled(
        [b"f"],
        functions=[field(1, 1) + field(2, 3)],
        locations=[
            field(1, 1) + b"".join(field(4, field(1, 1) + field(2, i)) for i in range(lines)),
            *(field(1, i) + field(4, field(1, 1) + field(2, lines + i)) for i in leaves),
        ],
        samples=[sample([i, 1]) for i in leaves],
    )


def one_label_value_of_many_labels(size: int, labels: int) -> bytes:
    """Return one sample per label: distinct numbers beside the same string of `size` bytes."""
    return assembled(
        [b"f", b"key", b"v" * size],
        functions=[field(1, 1) + field(2, 3)],
        locations=[field(1, 1) + field(4, field(1, 1))],
        samples=[
            sample([1], labels=[field(1, 4) + field(2, 5) + field(3, i)])
            for i in range(1, labels + 1)
        ],
    )


def bad_strings(count: int) -> bytes:
    """Return unused strings, each one byte that is not UTF-8."""
    return assembled([b"\xff"] * count)


def empty_samples(count: int) -> bytes:
    return assembled([], samples=[field(2, 1)] * count)


def comments(size: int, count: int) -> bytes:
    """Return `count` comments that all refer to one string of `size` bytes."""
    return assembled(["é".encode() * (size // 2)]) + field(13, 3) * count


def symbols(count: int) -> bytes:
    """Return functions of one name, with one location and one sample each."""
    ids = range(1, count + 1)
    return assembled(
        [b"f"],
        functions=[field(1, i) + field(2, 3) for i in ids],
        locations=[field(1, i) + field(4, field(1, i) + field(2, i)) for i in ids],
        samples=[sample([i]) for i in ids],
    )
