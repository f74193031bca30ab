"""Random profiles with real-world defects: ids of any size, inlining, missing names, no UTF-8."""

from typing import Any

from hypothesis import strategies as st

from tests.profiles.pprof_proto import Profile, UnpackedProfile

TEXTS = [
    b"",
    b"main",
    b"work",
    b"a/b.py",
    b"go.(*T[go.shape.int]).do",
    b"\xff\xfe bad",
    b"\xc3\xa9t\xc3\xa9",
    b"/usr/lib/libc.so.6",
    b"0123456789abcdef",
    b"cpu",
    b"nanoseconds",
    b"ms",
    b"samples",
    b"count",
    b"trace_id",
    b"span_id",
]
KINDS = [
    (b"cpu", b"nanoseconds"),
    (b"samples", b"count"),
    (b"time", b"ms"),
    (b"alloc_space", b"kB"),
]

_ids = st.one_of(st.integers(1, 12), st.integers(1, 2**64 - 1))
_values = st.one_of(st.integers(0, 5), st.integers(0, 2**40))


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Draw a consistent profile."""
    message = draw(st.sampled_from([Profile, UnpackedProfile]))(string_table=TEXTS)
    text = st.integers(0, len(TEXTS) - 1)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, unique=True))
    for name, unit in kinds:
        message.string_table.extend([name, unit])
        count = len(message.string_table)
        message.sample_type.add(type=count - 2, unit=count - 1)
    mappings = draw(st.lists(_ids, unique=True, max_size=3))
    for number in mappings:
        message.mapping.add(
            id=number,
            memory_start=draw(st.sampled_from([0, 0x400000])),
            file_offset=draw(st.sampled_from([0, 0x1000])),
            filename=draw(text),
            build_id=draw(text),
        )
    functions = draw(st.lists(_ids, unique=True, max_size=6))
    for number in functions:
        message.function.add(
            id=number,
            name=draw(text),
            system_name=draw(text),
            filename=draw(text),
            start_line=draw(st.sampled_from([0, 0, 1, 40, 41, 2**31 - 1, 2**31, -1])),
        )
    locations = draw(st.lists(_ids, unique=True, max_size=8))
    for number in locations:
        location = message.location.add(
            id=number,
            mapping_id=draw(st.sampled_from([0, *mappings])),
            address=draw(st.sampled_from([0, 7, 0x400123, 2**64 - 1])),
        )
        for function in draw(st.lists(st.sampled_from([0, *functions]), max_size=3)):
            line = draw(st.sampled_from([0, 1, 42, 2**31 - 1, 2**31, -1]))
            location.line.add(function_id=function, line=line)
    for _ in range(draw(st.integers(0, 12))):
        _add_sample(draw, message, locations, len(kinds))
    message.time_nanos = draw(st.sampled_from([0, 1_700_000_000_000_000_000]))
    message.duration_nanos = draw(st.sampled_from([0, 10**10]))
    return message


def _add_sample(draw: st.DrawFn, message: Any, locations: list[int], width: int) -> None:
    stack = draw(st.lists(st.sampled_from(locations), max_size=6)) if locations else []
    sample = message.sample.add(location_id=stack, value=[draw(_values) for _ in range(width)])
    text = st.integers(0, len(TEXTS) - 1)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        if draw(st.booleans()):
            sample.label.add(key=draw(text), str=draw(text))
        else:
            number = draw(st.sampled_from([0, 42, -5]))
            sample.label.add(key=draw(text), num=number, num_unit=draw(text))
