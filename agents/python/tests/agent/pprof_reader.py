"""Simple decoder for pprof files, to check the agent's output."""

import gzip
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

Message = dict[int, list[Any]]


@dataclass(frozen=True)
class ReadFrame:
    function: str
    file: str
    line: int
    start_line: int


@dataclass(frozen=True)
class ReadSample:
    frames: tuple[ReadFrame, ...]
    values: tuple[int, ...]
    labels: dict[str, str | int]


@dataclass(frozen=True)
class ReadProfile:
    metrics: list[tuple[str, str]]
    samples: list[ReadSample]
    period_type: tuple[str, str]
    period: int
    time_ns: int
    duration_ns: int
    comments: list[str]
    default_metric: str
    locations: int
    functions: int

    def total(self, metric: str) -> int:
        at = [name for name, _ in self.metrics].index(metric)
        return sum(sample.values[at] for sample in self.samples)

    def functions_seen(self) -> set[str]:
        return {frame.function for sample in self.samples for frame in sample.frames}

    def comment(self, name: str) -> str:
        pairs = dict(comment.partition("=")[::2] for comment in self.comments)
        return pairs[f"flamewatch.{name}"]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data: bytes) -> Message:
    """Decode a message to a mapping of field numbers to values: numbers, or bytes."""
    fields: Message = defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            fields[tag >> 3].append(value)
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size, at = varint(data, at)
            assert at + size <= len(data)
            fields[tag >> 3].append(data[at : at + size])
            at += size
    return fields


def numbers(fields: Message, field: int) -> list[int]:
    """Decode a repeated number, packed or not."""
    found: list[int] = []
    for value in fields[field]:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


def one(fields: Message, field: int) -> Any:
    return fields[field][0] if fields[field] else 0


def read(body: bytes) -> ReadProfile:
    top = message(gzip.decompress(body))
    strings = [text.decode() for text in top[6]]
    assert strings[0] == ""
    assert len(set(strings)) == len(strings)
    functions = {one(f, 1): f for f in map(message, top[5])}
    locations = {one(found, 1): found for found in map(message, top[4])}

    def frame(line: Message) -> ReadFrame:
        function = functions[one(line, 1)]
        name, file = strings[one(function, 2)], strings[one(function, 4)]
        return ReadFrame(name, file, one(line, 2), one(function, 5))

    def frames(identifier: int) -> list[ReadFrame]:
        return [frame(line) for line in map(message, locations[identifier][4])]

    def sample(data: bytes) -> ReadSample:
        fields = message(data)
        labels = {}
        for label in map(message, fields[3]):
            labels[strings[one(label, 1)]] = strings[one(label, 2)] or one(label, 3)
        stack = tuple(
            inlined for identifier in numbers(fields, 1) for inlined in frames(identifier)
        )
        return ReadSample(stack, tuple(numbers(fields, 2)), labels)

    def metric(data: bytes) -> tuple[str, str]:
        fields = message(data)
        return strings[one(fields, 1)], strings[one(fields, 2)]

    return ReadProfile(
        metrics=[metric(data) for data in top[1]],
        samples=[sample(data) for data in top[2]],
        period_type=metric(one(top, 11) or b""),
        period=one(top, 12),
        time_ns=one(top, 9),
        duration_ns=one(top, 10),
        comments=[strings[at] for at in numbers(top, 13)],
        default_metric=strings[one(top, 14)],
        locations=len(locations),
        functions=len(functions),
    )
