"""Handwritten JFR recordings of one chunk."""

import struct
from collections.abc import Mapping, Sequence

Field = tuple[str, str, str]  # name, type, and "" or "constant" or "array"
START_NS, TICKS = 1_790_000_000 * 10**9, 10**6  # TICKS a second
_HEADER = ">4sHHqqqqqqqI"
_PRIMITIVES = ("boolean", "byte", "int", "long", "float", "double", "java.lang.String")
TYPES: dict[str, Sequence[Field]] = {
    **dict.fromkeys(_PRIMITIVES, ()),
    "java.lang.Class": (("name", "jdk.types.Symbol", "constant"),),
    "jdk.types.Symbol": (("string", "java.lang.String", ""),),
    "jdk.types.Method": (
        ("type", "java.lang.Class", "constant"),
        ("name", "jdk.types.Symbol", "constant"),
    ),
    "jdk.types.ThreadState": (("name", "java.lang.String", ""),),
    "jdk.types.StackFrame": (
        ("method", "jdk.types.Method", "constant"),
        ("lineNumber", "int", ""),
    ),
    "jdk.types.StackTrace": (
        ("truncated", "boolean", ""),
        ("frames", "jdk.types.StackFrame", "array"),
    ),
    "jdk.ActiveSetting": (
        ("startTime", "long", ""),
        ("id", "long", ""),
        ("name", "java.lang.String", ""),
        ("value", "java.lang.String", ""),
    ),
    "jdk.ActiveRecording": (("startTime", "long", ""),),
    "jdk.ExecutionSample": (
        ("startTime", "long", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant"),
        ("state", "jdk.types.ThreadState", "constant"),
        ("contextId", "long", ""),
    ),
    "jdk.NativeMethodSample": (
        ("startTime", "long", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant"),
    ),
    "jdk.CPUTimeSample": (
        ("startTime", "long", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant"),
        ("failed", "boolean", ""),
        ("samplingPeriod", "long", ""),
    ),
    "jdk.JavaMonitorEnter": (
        ("startTime", "long", ""),
        ("load", "float", ""),
        ("duration", "long", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant"),
        ("monitorClass", "java.lang.Class", "constant"),
    ),
}
IDS = {name: number for number, name in enumerate(TYPES, 10)}
STATES = {1: "STATE_RUNNABLE", 2: "STATE_SLEEPING", 3: "STATE_DEFAULT"}
# Stack 1 is main -> work, stack 2 is main; see METHODS.
STACKS = {1: ((2, 20), (1, 10)), 2: ((1, 11),)}
METHODS = {1: ("com/example/Shop", "main"), 2: ("com/example/Shop", "work")}


def varint(number: int) -> bytes:
    out = bytearray()
    number &= 2**64 - 1
    while number > 0x7F and len(out) < 8:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def string(text: str) -> bytes:
    data = text.encode()
    return b"\x03" + varint(len(data)) + data


def event(type: int, payload: bytes) -> bytes:
    head = varint(type)
    size = len(head) + len(payload) + 1
    while len(varint(size)) + len(head) + len(payload) != size:
        size += 1
    return varint(size) + head + payload


def sample(name: str, *values: int | bytes) -> bytes:
    """Return an event of a type, with the values of the fields after its start time."""
    encoded = (value if isinstance(value, bytes) else varint(value) for value in values)
    return event(IDS[name], varint(5) + b"".join(encoded))


def setting(type: str, name: str, value: str) -> bytes:
    return sample("jdk.ActiveSetting", IDS[type], string(name), string(value))


def metadata(types: Mapping[str, Sequence[Field]] = TYPES) -> bytes:
    strings: dict[str, int] = {}

    def text(value: str) -> bytes:
        return varint(strings.setdefault(value, len(strings)))

    def element(name: str, attributes: Mapping[str, str], children: Sequence[bytes] = ()) -> bytes:
        pairs = b"".join(text(key) + text(value) for key, value in attributes.items())
        head = text(name) + varint(len(attributes)) + pairs
        return head + varint(len(children)) + b"".join(children)

    def field(name: str, type: str, kind: str) -> bytes:
        extra = {"constant": {"constantPool": "true"}, "array": {"dimension": "1"}}.get(kind, {})
        return element("field", {"name": name, "class": str(IDS[type]), **extra})

    classes = [
        element("class", {"id": str(IDS[name]), "name": name}, [field(*each) for each in fields])
        for name, fields in types.items()
    ]
    root = element("root", {}, [element("metadata", {}, classes), element("region", {})])
    head = varint(1) + varint(0) + varint(1) + varint(len(strings))
    return event(0, head + b"".join(string(each) for each in strings) + root)


def constants() -> bytes:
    symbols: dict[str, int] = {}
    classes: dict[str, int] = {}
    methods = b""
    for key, (owner, name) in METHODS.items():
        numbers = (
            classes.setdefault(owner, len(classes) + 1),
            symbols.setdefault(name, len(symbols) + 1),
        )
        methods += varint(key) + b"".join(map(varint, numbers))
    of_classes = b"".join(
        varint(key) + varint(symbols.setdefault(name, len(symbols) + 1))
        for name, key in classes.items()
    )
    stacks = b"".join(
        varint(key)
        + b"\0"
        + varint(len(frames))
        + b"".join(varint(method) + varint(line) for method, line in frames)
        for key, frames in STACKS.items()
    )
    of_symbols = b"".join(varint(key) + string(text) for text, key in symbols.items())
    states = b"".join(varint(key) + string(text) for key, text in STATES.items())
    pools = [
        ("jdk.types.StackTrace", len(STACKS), stacks),
        ("jdk.types.Method", len(METHODS), methods),
        ("java.lang.Class", len(classes), of_classes),
        ("jdk.types.Symbol", len(symbols), of_symbols),
        ("jdk.types.ThreadState", len(STATES), states),
    ]
    body = b"".join(varint(IDS[name]) + varint(count) + data for name, count, data in pools)
    return event(1, varint(1) + varint(0) + varint(0) + b"\1" + varint(len(pools)) + body)


def chunk(
    *events: bytes,
    start_ns: int = START_NS,
    duration_ns: int = 10**10,
    types: Mapping[str, Sequence[Field]] = TYPES,
) -> bytes:
    """Return a chunk of these events, with the constants of this module."""
    header = struct.calcsize(_HEADER)
    body = b"".join(events)
    at = header + len(body)
    described = metadata(types)
    end = constants()
    size = at + len(described) + len(end)
    fields = (b"FLR\0", 2, 1, size, at + len(described), at, start_ns, duration_ns, 0, TICKS, 1)
    return struct.pack(_HEADER, *fields) + body + described + end
