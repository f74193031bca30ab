"""Messages as async-profiler writes them: what they leave out, and how their tables begin."""

from collections.abc import Iterator, Sequence

from tests.ingest.formats.otlp.make_messages import SECONDS, START
from tests.ingest.pprof import field, varint

STACKS = (("Checkout.pay", "Thread.run"), ("Cart.total", "Thread.run"))


class StringIndex:
    """Strings in order of first use."""

    def __init__(self, *strings: str) -> None:
        self._numbers = {text: number for number, text in enumerate(strings)}

    def index(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)


def number(tag: int, value: int) -> bytes:
    """Encode a varint field; zeros are written, too, unlike in other senders."""
    return varint(tag << 3) + varint(value)


def fixed(tag: int, value: int) -> bytes:
    return varint(tag << 3 | 1) + value.to_bytes(8, "little")


def packed(tag: int, values: Sequence[int]) -> bytes:
    return field(tag, b"".join(map(varint, values)))


def value_type(tag: int, strings: StringIndex, kind: str, unit: str) -> bytes:
    return field(tag, number(1, strings.index(kind)) + number(2, strings.index(unit)))


Stacks = Sequence[tuple[str, ...]]


def message_4_1(
    engine: str,
    unit: str,
    rows: Sequence[tuple[int, int]],
    *,
    counts_threads: bool = False,
    stacks: Stacks = STACKS,
) -> bytes:
    """Return a message of version 4.1, with (samples, total) for each of STACKS.

    It has two sample types, no time, no duration, no period, and no empty string in its table.
    With `threads`, lengths count the thread, which has no location (`counts_threads`, 4.2).
    """
    strings, functions = StringIndex(), StringIndex()
    temporality = number(3, 2)
    profile = b"".join(
        field(1, number(1, strings.index(engine)) + number(2, strings.index(each)) + temporality)
        for each in ("count", unit)
    )
    locations: list[int] = []
    for stack, row in zip(stacks, rows, strict=True):
        sample = number(1, len(locations)) + number(2, len(stack) + counts_threads) + packed(3, row)
        profile += field(2, sample)
        locations += [functions.index(name) for name in stack]
    profile += packed(3, locations)
    dictionary = field(1, b"")
    for name in functions:
        dictionary += field(3, number(1, strings.index(name)))
    for function, _ in enumerate(functions):
        dictionary += field(2, number(1, 0) + field(3, number(1, function)))
    dictionary += b"".join(field(5, text.encode()) for text in strings)
    return field(1, field(2, field(2, profile))) + field(2, dictionary)


def message_4_5(
    engine: str,
    unit: str,
    values: Sequence[int],
    total: bool,
    period: int,
    *,
    stacks: Stacks = STACKS,
) -> bytes:
    """Return a message of version 4.5; `total` has values in `unit`, others count samples.

    With a period of 0 it is one of version 4.3, which states none.
    """
    strings, functions, threads = StringIndex(""), StringIndex(""), StringIndex("")
    kind, engine_unit, count = map(strings.index, (engine, unit, "count"))
    table = field(7, b"")
    samples = b""
    for nth, (stack, value) in enumerate(zip(stacks, values, strict=True), 1):
        table += field(7, packed(1, [functions.index(name) for name in stack]))
        samples += field(
            2, number(1, nth) + number(2, threads.index(f"worker-{nth}")) + number(4, value)
        )
    dictionary = table + field(1, b"") + field(4, field(1, bytes(16)) + field(2, bytes(8)))
    for name in functions:
        dictionary += field(3, number(1, strings.index(name)))
    for function, _ in enumerate(functions):
        lines = number(1, 0) + field(3, number(1, function)) if function else b""
        dictionary += field(2, lines)
    key = strings.index("thread.name")
    for nth, name in enumerate(threads):
        attribute = number(1, key) + field(2, field(1, name.encode())) if nth else b""
        dictionary += field(6, attribute)
    dictionary += b"".join(field(5, text.encode()) for text in strings)
    profile = fixed(3, START) + number(4, SECONDS * 10**9)
    profile += field(1, number(1, kind) + number(2, engine_unit if total else count))
    if period:
        profile += field(5, number(1, kind) + number(2, engine_unit)) + number(6, period)
    profile += samples
    return field(2, dictionary) + field(1, field(2, field(2, profile)))
