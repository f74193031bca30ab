"""Small pprof profiles for tests, built from folded stacks."""

import gzip
from collections.abc import Mapping, Sequence
from typing import Any

from tests.profiles.pprof_proto import Profile

Stacks = Mapping[str, int | Sequence[int]]  # {"main;work": values}, root first

# main 9 (self 2) → foo1 4 (self 1.5) → bar 2.5; main → foo2 3 (self 0.5) → bar 2.5, in ms
EXAMPLE: Stacks = {
    "main": 2000,
    "main;foo1": 1500,
    "main;foo1;bar": 2500,
    "main;foo2": 500,
    "main;foo2;bar": 2500,
}


class PprofBuilder:
    """Builder of a profile that adds each string, function and location once."""

    def __init__(self) -> None:
        self.message: Any = Profile(string_table=[b""])
        self._strings = {b"": 0}
        self._frames: dict[tuple[str, str, int], int] = {}

    def string(self, text: str | bytes) -> int:
        data = text.encode() if isinstance(text, str) else text
        if data not in self._strings:
            self._strings[data] = len(self._strings)
            self.message.string_table.append(data)
        return self._strings[data]

    def frame(self, name: str, file: str = "app.py", line: int = 1) -> int:
        """Return the id of the location of a frame."""
        if (name, file, line) not in self._frames:
            number = len(self._frames) + 1
            self._frames[name, file, line] = number
            self.message.function.add(id=number, name=self.string(name), filename=self.string(file))
            location = self.message.location.add(id=number)
            location.line.add(function_id=number, line=line)
        return self._frames[name, file, line]


def pprof(
    stacks: Stacks,
    sample_types: Sequence[tuple[str, str]] = (("cpu", "microseconds"),),
    **fields: Any,
) -> bytes:
    """Return an uncompressed profile of these stacks; `fields` are other fields of the message."""
    builder = PprofBuilder()
    for name, unit in sample_types:
        builder.message.sample_type.add(type=builder.string(name), unit=builder.string(unit))
    for stack, values in stacks.items():
        frames = [builder.frame(name) for name in reversed(stack.split(";")) if name]
        row = [values] if isinstance(values, int) else values
        builder.message.sample.add(location_id=frames, value=row)
    for name, value in fields.items():
        setattr(builder.message, name, value)
    return bytes(builder.message.SerializeToString())


def with_start_lines(raw: bytes, line: int = 1) -> bytes:
    """Return an uncompressed profile with a line on which all its functions begin."""
    message: Any = Profile.FromString(raw)
    for function in message.function:
        function.start_line = line
    return bytes(message.SerializeToString())


LabelledStacks = Mapping[tuple[str, str], int]  # {("main;work", "/pay"): value}


def labelled_pprof(stacks: LabelledStacks, key: str = "endpoint") -> bytes:
    """Return an uncompressed profile whose samples have one label; "" for no label."""
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("microseconds"))
    for (stack, value), count in stacks.items():
        frames = [builder.frame(name) for name in reversed(stack.split(";"))]
        sample = builder.message.sample.add(location_id=frames, value=[count])
        if value:
            sample.label.add(key=builder.string(key), str=builder.string(value))
    builder.message.duration_nanos = 10 * 10**9
    return bytes(builder.message.SerializeToString())


def upload(stacks: Stacks = EXAMPLE, **fields: Any) -> bytes:
    """Return the profile compressed, as an agent sends it."""
    return gzip.compress(pprof(stacks, **fields), mtime=0)
