"""Importer of JFR recordings of the JDK and of async-profiler."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.jfr.chunk import JfrChunk, check_events, chunks
from ingest.formats.jfr.events import SampleKey, SampleReader
from ingest.formats.jfr.fields import ArrayOf, FieldEncoding, Value, read_varint
from ingest.formats.jfr.names import class_name, is_library, method_name
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.limits import DecodeLimits, setting
from projects.profile_types import INSTANTANEOUS, ProfileType

METRICS = {
    ProfileType.CPU: (Metric("samples", "count"), Metric("cpu", "nanoseconds")),
    ProfileType.WALL: (Metric("sample", "count"), Metric("wall", "nanoseconds")),
    ProfileType.HEAP: (Metric("inuse_objects", "count"), Metric("inuse_space", "bytes")),
    ProfileType.HEAP_ALLOC: (Metric("samples", "count"), Metric("alloc_space", "bytes")),
    ProfileType.CONTENTION: (Metric("contentions", "count"), Metric("delay", "nanoseconds")),
}
_STACK, _METHOD, _CLASS = "jdk.types.StackTrace", "jdk.types.Method", "java.lang.Class"
_SYMBOL, _STATE, _TEXT = "jdk.types.Symbol", "jdk.types.ThreadState", "java.lang.String"
_CONSTANT_TYPES = frozenset({_STACK, _METHOD, _CLASS, _SYMBOL, _STATE, _TEXT})
MAX_DEPTH = DecodeLimits().max_depth  # frames of one stack
# Samples of all chunks together. Reading this many takes some 9 s of CPU time.
MAX_SAMPLES = DecodeLimits().max_samples
Contexts = Mapping[int, Mapping[str, str]]


def import_jfr(
    body: bytes,
    contexts: Contexts | None = None,
    max_raw: int = 128 * 2**20,
) -> list[ImportedProfile]:
    """Convert a recording, gzipped or not, to one profile for each type that it has samples of.

    `contexts` has the labels of samples by the `contextId` of their events, which Pyroscope's agent
    sends beside the recording. Raise TooLarge above `max_raw` bytes or other limits, BadProfile for
    a damaged recording and for one without samples.
    """
    raw = gunzip(body, max_raw)
    converter = _RecordingReader(contexts or {}, len(raw))
    try:
        for data in chunks(raw):
            converter.add(JfrChunk(data, _CONSTANT_TYPES, converter.budget))
    except IndexError:
        raise BadProfile("The JFR recording is damaged: a value ends after its event.") from None
    return converter.profiles()


class _Positions(NamedTuple):
    """Positions of fields in the values of stack traces, their frames, methods and classes."""

    frames: int
    frame_size: int
    method: int
    line: int | None  # not every writer knows lines
    method_class: int
    method_name: int
    class_name: int


class _RecordingReader:
    """Collects the samples of all chunks."""

    def __init__(self, contexts: Contexts, size: int) -> None:
        self._contexts = contexts
        self._builders: dict[ProfileType, ProfileBuilder] = {}
        self._without_stack: dict[ProfileType, int] = {}
        self.budget = WorkBudget(size)
        self._events = self._samples = 0
        self._start_ns = self._end_ns = 0

    def add(self, chunk: JfrChunk) -> None:
        """Add the samples of a chunk. Raise BadProfile, TooLarge or IndexError."""
        if not self._start_ns or chunk.start_ns < self._start_ns:
            self._start_ns = max(0, chunk.start_ns)
        self._end_ns = max(self._end_ns, chunk.start_ns + max(0, chunk.duration_ns))
        self._events += chunk.event_count
        check_events(self._events)
        reader = SampleReader(chunk)
        sums = reader.sums(MAX_SAMPLES - self._samples)
        self._samples += reader.samples
        if not sums:
            return
        stacks = _StackTraces(chunk, self.budget)
        for key, values in sums.items():
            self._add(stacks, key, values)

    def profiles(self) -> list[ImportedProfile]:
        """Return the profiles. Raise BadProfile if there is none."""
        if not self._builders:
            raise BadProfile(
                "The JFR recording has no samples: none of execution, allocation, live object, lock"
                " or park events with a stack trace."
            )
        duration = self._end_ns - self._start_ns
        return [
            ImportedProfile(
                type,
                self._builders[type].build(
                    self._start_ns, 0 if type in INSTANTANEOUS else duration
                ),
                self._start_ns or None,
                duration or None,
                self._warnings(type),
            )
            for type in sorted(self._builders, key=list(METRICS).index)
        ]

    def _add(self, stacks: "_StackTraces", key: SampleKey, values: Sequence[int]) -> None:
        frames = stacks.frames(key.stack, key.leaf)
        if not frames:
            count = self._without_stack.get(key.type, 0)
            self._without_stack[key.type] = count + values[0]
            return
        self.budget.spend(Work.FRAMES, len(frames))
        builder = self._builders.get(key.type)
        if builder is None:
            builder = self._builders[key.type] = ProfileBuilder(METRICS[key.type], self.budget)
        locations = [builder.location(frame) for frame in frames]
        builder.add(locations, values, self._contexts.get(key.context))

    def _warnings(self, type: ProfileType) -> tuple[str, ...]:
        count = self._without_stack.get(type, 0)
        if not count:
            return ()
        return (f"{type} samples without a stack trace were left out: {count:,}.",)


class _StackTraces:
    """Stack traces of a chunk as frames, leaf first."""

    def __init__(self, chunk: JfrChunk, budget: WorkBudget) -> None:
        self._chunk, self._budget = chunk, budget
        self._constants = chunk.constants
        self._positions = _find_positions(chunk)
        self._methods: dict[int, tuple[str, str]] = {}
        self._frames: dict[tuple[int, int], Frame] = {}
        self._decoded: dict[int, list[Frame]] = {}
        self._class_names: dict[Value, str] = {}

    def frames(self, stack: int, leaf: int) -> list[Frame]:
        """Return the frames of a stack trace; none if it is missing, even with a leaf."""
        found = self._decoded.get(stack)
        if found is None:
            values = self._constants[_STACK].get(stack)
            encoded = values[self._positions.frames] if values else b""
            found = self._decode_frames(encoded) if isinstance(encoded, bytes) and encoded else []
            self._decoded[stack] = found
        if found and leaf:
            return [Frame(self._class(leaf) or "[unknown class]"), *found]
        return found

    def _decode_frames(self, encoded: bytes) -> list[Frame]:
        depth, offset = read_varint(encoded, 0)
        if depth > MAX_DEPTH:
            raise TooLarge(setting("max_depth"), depth, MAX_DEPTH)
        numbers, size = [], self._positions.frame_size
        self._budget.spend(Work.FRAMES, depth)
        self._budget.spend(Work.VALUES, depth * size)
        for _ in range(depth * size):
            number = encoded[offset]
            offset += 1
            if number >= 0x80:  # most numbers have one byte, and need no call
                number, offset = read_varint(encoded, offset - 1)
            numbers.append(number)
        methods = numbers[self._positions.method :: size]
        position = self._positions.line
        lines = [0] * depth if position is None else numbers[position::size]
        return [self._frame(method, line) for method, line in zip(methods, lines, strict=True)]

    def _frame(self, method: int, line: int) -> Frame:
        key = method, line
        found = self._frames.get(key)
        if found is None:
            number = line if line < 2**31 else 0  # unknown lines are negative
            name, library = self._method(method)
            found = self._frames[key] = Frame(name, "", number, library)
        return found

    def _method(self, key: int) -> tuple[str, str]:
        """Return the name of a method, and the library of a native function."""
        if key not in self._methods:
            values, name, owner = self._constants[_METHOD].get(key), "", ""
            if values:
                owner = self._class(values[self._positions.method_class])
                name = self._symbol(values[self._positions.method_name])
            # Reading and joining both names takes their length, also where the result is equal.
            self._budget.spend(Work.NAME_BYTES, len(owner) + len(name))
            is_native = is_library(owner)
            named = method_name("" if is_native else owner, name) if name else "[unknown method]"
            self._methods[key] = named, owner if is_native else ""
        return self._methods[key]

    def _class(self, key: Value) -> str:
        found = self._class_names.get(key)
        if found is None:
            values = self._constants[_CLASS].get(key) if isinstance(key, int) else None
            symbol = self._symbol(values[self._positions.class_name]) if values else ""
            self._budget.spend(Work.NAME_BYTES, len(symbol))
            found = self._class_names[key] = class_name(symbol)
        return found

    def _symbol(self, key: Value) -> str:
        """Return the text of a symbol, or of a string where a writer has no symbols."""
        if isinstance(key, int) and key in self._constants[_SYMBOL]:
            values = self._constants[_SYMBOL][key]
            return self._chunk.string(values[0]) if values else ""
        return self._chunk.string(key)


def _find_positions(chunk: JfrChunk) -> _Positions:
    """Find the fields that names of frames need. Raise BadProfile if there are others."""
    metadata = chunk.metadata
    names = (_STACK, "jdk.types.StackFrame", _METHOD, _CLASS)
    if not all(name in metadata.ids for name in names):
        raise BadProfile("The metadata of the JFR recording lack stack traces, methods or classes.")
    stack, frame, method, owner = (metadata.layout(metadata.ids[name]) for name in names)
    try:
        positions = _Positions(
            frames=stack.index["frames"],
            frame_size=len(frame.fields),
            method=frame.index["method"],
            line=frame.index.get("lineNumber"),
            method_class=method.index["type"],
            method_name=method.index["name"],
            class_name=owner.index["name"],
        )
    except KeyError as missing:
        raise BadProfile(f"Stack traces of the JFR recording lack the field {missing}.") from None
    if stack.fields[positions.frames] != ArrayOf(frame.fields) or set(frame.fields) != {
        FieldEncoding.VARINT
    }:
        raise BadProfile("Stack traces of the JFR recording have an unknown form.")
    return positions
