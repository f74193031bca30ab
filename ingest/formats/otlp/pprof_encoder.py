"""Encoder of one pprof profile from samples that point into the tables of an OTLP request."""

from collections.abc import Sequence

from ingest.formats.otlp.dictionary import SharedTables
from ingest.formats.otlp.revision import Revision
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.pprof.limits import setting
from profiles.engine.pprof.varint import bytes_field, int_field, pack_field, varint

# Field numbers of message Profile in pprof's profile.proto.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME, _DURATION = 9, 10
_INT64 = range(-(2**63), 2**63)
_FRAME_BYTES = 4  # charged for each frame of a stack: about its size, and the time to encode it

Label = tuple[str, str, str]  # key, value, unit; with a unit the value is a number


class ByteBudget:
    """Bytes that all profiles of a request may have together after conversion.

    Profiles share the tables of their request, and each gets a copy of what it uses: without a
    limit, a small request could become many large profiles.
    """

    def __init__(self, size: int) -> None:
        self._size, self._left = size, size

    def take(self, size: int) -> None:
        """Raise `TooLarge` if fewer bytes are left."""
        self._left -= size
        if self._left < 0:
            limit = setting("max_expansion")
            unit = "bytes of pprof for an OTLP request of this size"
            raise TooLarge(limit, self._size - self._left, self._size, unit)


class PprofEncoder:
    """Sums samples with equal stacks and labels, and encodes them with the symbols they use."""

    def __init__(
        self,
        dictionary: SharedTables,
        revision: Revision,
        metrics: Sequence[Metric],
        budget: ByteBudget,
    ) -> None:
        self._dictionary, self._revision, self._budget = dictionary, revision, budget
        self._numbers: dict[bytes, int] = {b"": 0}  # of strings
        # Number of each string of the dictionary. Index 0 is empty even if a sender's is not.
        self._strings: dict[int, int] = {0: 0}
        self._locations: dict[int, bytes] = {}  # varint of the id of each location
        self._functions: dict[int, int] = {}
        self._mappings: dict[int, int] = {}
        self._symbols: list[bytes] = []
        self._samples: dict[tuple[bytes, bytes], list[int]] = {}
        self._width = len(metrics)
        self._types = [
            bytes_field(
                _SAMPLE_TYPE,
                int_field(1, self._number(metric.name.encode()))
                + int_field(2, self._number(metric.unit.encode())),
            )
            for metric in metrics
        ]

    @property
    def is_empty(self) -> bool:
        return not self._samples

    def stack(self, locations: Sequence[int]) -> bytes:
        """Return the encoded location ids of a stack, the leaf first, for `add`.

        Raise `BadProfile` if an index of the stack or of its symbols is out of range.
        """
        ids = self._locations
        self._budget.take(_FRAME_BYTES * len(locations))
        try:
            return b"".join([ids[index] for index in locations])
        except KeyError:
            for index in locations:
                if index not in ids:
                    self._location(index)
        return b"".join([ids[index] for index in locations])

    def labels(self, labels: Sequence[Label]) -> bytes:
        """Return the encoded labels of a sample, for `add`."""
        encoded = b"".join([bytes_field(3, self._label(*label)) for label in labels])
        self._budget.take(len(encoded))
        return encoded

    def add(self, stack: bytes, labels: bytes, values: Sequence[tuple[int, int]]) -> None:
        """Add a sample by its values: (index of the metric, number).

        Raise `BadProfile` if a sum does not fit into 64 bits; nothing is added then.
        """
        sums = self._samples.get((stack, labels))
        if sums is None:
            self._budget.take(len(stack) + len(labels) + 8 + self._width)
            sums = [0] * self._width
        added = [*sums]
        for metric, value in values:
            added[metric] += value
            if added[metric] not in _INT64:
                raise BadProfile("A value does not fit into 64 bits.")
        self._samples[stack, labels] = added

    def encode(self, time_ns: int, duration_ns: int) -> bytes:
        """Return the profile, uncompressed. Times of 0 are unknown."""
        samples = [
            bytes_field(_SAMPLE, bytes_field(1, stack) + pack_field(2, values) + labels)
            for (stack, labels), values in self._samples.items()
        ]
        strings = [bytes_field(_STRING, text) for text in self._numbers]
        times = int_field(_TIME, time_ns) + int_field(_DURATION, duration_ns)
        return b"".join([*self._types, *samples, *self._symbols, times, *strings])

    def _number(self, text: bytes) -> int:
        """Return the number of a string in the profile."""
        number = self._numbers.get(text)
        if number is None:
            self._budget.take(len(text) + 3)
            number = self._numbers[text] = len(self._numbers)
        return number

    def _string(self, index: int) -> int:
        """Return the number of a string of the dictionary; index 0 is the empty string."""
        number = self._strings.get(index)
        if number is None:
            number = self._strings[index] = self._number(self._dictionary.string(index))
        return number

    def _label(self, key: str, value: str, unit: str) -> bytes:
        fields = int_field(1, self._number(_utf8(key)))
        if unit:
            return fields + int_field(3, int(value)) + int_field(4, self._number(_utf8(unit)))
        return fields + int_field(2, self._number(_utf8(value)))

    def _location(self, index: int) -> None:
        location = self._dictionary.location(index)
        lines = b"".join(
            [
                bytes_field(4, int_field(1, self._function(function)) + int_field(2, line))
                for function, line in location.lines
                if function or self._dictionary.functions
            ]
        )
        mapping = self._mapping(location.mapping) if location.mapping >= 0 else 0
        number = len(self._locations) + 1
        fields = int_field(1, number) + int_field(2, mapping) + int_field(3, location.address)
        self._symbol(_LOCATION, fields + lines)
        self._locations[index] = varint(number)

    def _function(self, index: int) -> int:
        number = self._functions.get(index)
        if number is None:
            function = self._dictionary.function(index)
            name, system_name, file = map(self._string, function[:3])
            number = self._functions[index] = len(self._functions) + 1
            fields = int_field(1, number) + int_field(2, name) + int_field(3, system_name)
            fields += int_field(4, file) + int_field(5, function.start_line)
            self._symbol(_FUNCTION, fields)
        return number

    def _mapping(self, index: int) -> int:
        number = self._mappings.get(index)
        if number is None:
            mapping = self._dictionary.mapping(index)
            file = self._string(mapping.file)
            build_id = self._number(self._dictionary.build_id(mapping, self._revision))
            number = self._mappings[index] = len(self._mappings) + 1
            fields = int_field(1, number) + int_field(2, mapping.start)
            fields += int_field(3, mapping.limit) + int_field(4, mapping.offset)
            fields += int_field(5, file) + int_field(6, build_id)
            self._symbol(_MAPPING, fields)
        return number

    def _symbol(self, kind: int, fields: bytes) -> None:
        encoded = bytes_field(kind, fields)
        self._budget.take(len(encoded))
        self._symbols.append(encoded)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
