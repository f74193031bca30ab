"""Encoder for pprof files: google/pprof's profile.proto, compressed with gzip."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from operator import add

from flamewatch.capture.profile_types import Metric
from flamewatch.capture.stacks import Frame
from flamewatch.profile.protobuf import number, octets, pack_numbers, varint

Label = tuple[str, str | int]

_COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class Sample:
    frames: tuple[Frame, ...]  # the leaf first
    values: tuple[int, ...]  # one for each of the profile's metrics
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    metrics: tuple[Metric, ...]
    samples: tuple[Sample, ...]
    period_type: Metric
    period: int
    time_ns: int  # Unix time of the start
    duration_ns: int  # 0 for a snapshot
    comments: tuple[str, ...] = ()


def encode(profile: Profile) -> bytes:
    """Encode the profile as gzip. Samples with the same stack and labels are merged."""
    # mtime=0 makes equal profiles equal bytes.
    return gzip.compress(_Encoder().message(profile), _COMPRESSION, mtime=0)


class _Encoder:
    """Tables of one profile: strings, functions, locations. Ids begin at 1, string indexes at 0."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[tuple[int, int], bytes] = {}
        # Keyed by id: frames are shared objects, and hashing them would cost more than all the
        # rest.
        self._location_of: dict[int, bytes] = {}
        self._tables: list[bytes] = []

    def message(self, profile: Profile) -> bytes:
        metrics = [octets(1, self._metric(metric)) for metric in profile.metrics]
        samples = [octets(2, body) for body in self._samples(profile.samples)]
        rest = [
            number(9, profile.time_ns),
            number(10, profile.duration_ns),
            octets(11, self._metric(profile.period_type)),
            number(12, profile.period),
            pack_numbers(13, [self._string(comment) for comment in profile.comments]),
            number(14, self._string(profile.metrics[-1].name)),
        ]
        strings = [octets(6, text.encode("utf-8", "replace")) for text in self._strings]
        return b"".join([*metrics, *samples, *self._tables, *strings, *rest])

    def _samples(self, samples: Iterable[Sample]) -> Iterable[bytes]:
        merged: dict[tuple[bytes, bytes], tuple[int, ...]] = {}
        for sample in samples:
            stack = b"".join([self._location(frame) for frame in sample.frames])
            key = stack, b"".join([octets(3, self._label(*label)) for label in sample.labels])
            previous = merged.get(key)
            merged[key] = tuple(map(add, previous, sample.values)) if previous else sample.values
        for (stack, labels), values in merged.items():
            yield octets(1, stack) + pack_numbers(2, values) + labels

    def _location(self, frame: Frame) -> bytes:
        """Return the location's id as a varint."""
        found = self._location_of.get(id(frame))
        if found is None:
            found = self._location_of[id(frame)] = self._new_location(frame)
        return found

    def _new_location(self, frame: Frame) -> bytes:
        key = self._function(frame), frame.line
        if key not in self._locations:
            identifier = len(self._locations) + 1
            self._locations[key] = varint(identifier)
            line = number(1, key[0]) + number(2, frame.line)
            self._tables.append(octets(4, number(1, identifier) + octets(4, line)))
        return self._locations[key]

    def _function(self, frame: Frame) -> int:
        key = frame.function, frame.file, frame.first_line
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = len(self._functions) + 1
            names = number(2, self._string(frame.function)) + number(4, self._string(frame.file))
            self._tables.append(octets(5, number(1, found) + names + number(5, frame.first_line)))
        return found

    def _metric(self, metric: Metric) -> bytes:
        return number(1, self._string(metric.name)) + number(2, self._string(metric.unit))

    def _label(self, key: str, value: str | int) -> bytes:
        text = isinstance(value, str)
        meaning = number(2, self._string(str(value))) if text else number(3, int(value))
        return number(1, self._string(key)) + meaning

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))
