"""Small handwritten pprof profiles (github.com/google/pprof/proto/profile.proto)."""

import gzip
from collections.abc import Sequence

CPU = (("samples", "count"), ("cpu", "nanoseconds"))


def profile(
    stacks: dict[tuple[str, ...], Sequence[int]],
    types: Sequence[tuple[str, str]] = CPU,
    time_ns: int = 0,
    duration_ns: int = 0,
    comments: Sequence[str] = (),
) -> bytes:
    """Return gzip pprof of stacks (root first) with one value per sample type."""
    strings = [""]

    def text(value: str) -> int:
        if value not in strings:
            strings.append(value)
        return strings.index(value)

    names = sorted({name for stack in stacks for name in stack})
    ids = {name: i + 1 for i, name in enumerate(names)}
    body = b"".join(field(1, field(1, text(kind)) + field(2, text(unit))) for kind, unit in types)
    for stack, values in stacks.items():
        locations = b"".join(varint(ids[name]) for name in reversed(stack))
        numbers = b"".join(varint(value) for value in values)
        body += field(2, field(1, locations) + field(2, numbers))
    for name, i in ids.items():
        body += field(4, field(1, i) + field(4, field(1, i) + field(2, 10 + i)))
        body += field(5, field(1, i) + field(2, text(name)) + field(4, text(f"{name}.go")))
    body += b"".join(field(13, text(comment)) for comment in comments)
    body += b"".join(field(6, string.encode()) for string in strings)
    body += field(9, time_ns) + field(10, duration_ns)
    return gzip.compress(body, mtime=0)


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


SIMPLE = profile({("main", "work"): (3, 30_000_000), ("main",): (1, 10_000_000)})
