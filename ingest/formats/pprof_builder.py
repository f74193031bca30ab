"""Builder of pprof profiles from stacks of frames, for importers of other formats."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.pprof.limits import DecodeLimits, setting
from profiles.engine.pprof.varint import bytes_field, int_field, pack_field, varint

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _DEFAULT_TYPE = 9, 10, 14
_TOO_LARGE = 2**63
_CONVERTED = "A profile of another format"
# Each takes some 400 bytes of memory, much more than in pprof.
MAX_FRAMES = 300_000
MAX_SAMPLES = 300_000


class Frame(NamedTuple):
    name: str
    file: str = ""
    line: int = 0
    mapping: str = ""  # binary, library or module


class ProfileBuilder:
    """Collects samples; `build` encodes them. Equal stacks with equal labels are summed."""

    def __init__(self, metrics: Sequence[Metric], budget: WorkBudget, default: str = "") -> None:
        """`budget` is charged for names.

        `default` is the name of the metric that readers show first; "" for the last.
        """
        self._budget = budget
        self._strings = {"": 0}
        self._locations: dict[Frame, int] = {}
        self._encoded: list[bytes] = [b""]  # ids of locations as varints
        self._samples: dict[tuple[bytes, bytes], list[int]] = {}
        self._encoded_labels: dict[int, tuple[Mapping[str, str], bytes]] = {}
        self._metrics = [(self._string(name), self._string(unit)) for name, unit in metrics]
        self._default = self._string(default)

    def location(self, frame: Frame) -> int:
        """Return the location id of a frame, to be used in the stacks of `add`.

        Raise TooLarge above MAX_FRAMES different ones, or above the budget.
        """
        number = self._locations.get(frame)
        if number is None:
            if len(self._encoded) > MAX_FRAMES:
                raise TooLarge(_CONVERTED, len(self._encoded), MAX_FRAMES, "different frames")
            names = len(frame.name) + len(frame.file) + len(frame.mapping)
            self._budget.spend(Work.NAME_BYTES, names)
            number = self._locations[frame] = len(self._encoded)
            self._encoded.append(varint(number))
        return number

    def add(
        self,
        stack: Sequence[int],
        values: Sequence[int],
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Add a sample: location ids, leaf first, and a value for each metric.

        The mapping of labels must not be changed afterwards. Raise TooLarge above MAX_SAMPLES
        different ones.
        """
        self._budget.spend(Work.VALUES, len(values))
        packed = b"".join([self._encoded[location] for location in stack])
        key = packed, self._labels(labels) if labels else b""
        sums = self._samples.get(key)
        if sums is None:
            self._budget.spend(Work.NAME_BYTES, len(key[1]))
            if len(self._samples) >= MAX_SAMPLES:
                raise TooLarge(_CONVERTED, len(self._samples) + 1, MAX_SAMPLES, "different samples")
            self._samples[key] = [*values]
            return
        for number, value in enumerate(values):
            sums[number] += value

    @property
    def is_empty(self) -> bool:
        return not self._samples

    def build(self, time_ns: int = 0, duration_ns: int = 0) -> bytes:
        """Encode the profile, uncompressed. Times of 0 are unknown.

        Raise TooLarge for a sum that 64 bits cannot hold.
        """
        self._check_sums()
        parts = [
            bytes_field(_SAMPLE_TYPE, int_field(1, name) + int_field(2, unit))
            for name, unit in self._metrics
        ]
        parts += [
            bytes_field(_SAMPLE, bytes_field(1, stack) + pack_field(2, values) + labels)
            for (stack, labels), values in self._samples.items()
        ]
        parts += self._symbols()
        parts.append(int_field(_TIME, time_ns) + int_field(_DURATION, duration_ns))
        parts.append(int_field(_DEFAULT_TYPE, self._default))
        parts += [bytes_field(_STRING, _utf8(text)) for text in self._strings]
        return b"".join(parts)

    def _check_sums(self) -> None:
        largest = max((max(values) for values in self._samples.values()), default=0)
        if largest >= _TOO_LARGE:
            raise TooLarge(setting("max_total"), largest, DecodeLimits().max_total)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _labels(self, labels: Mapping[str, str]) -> bytes:
        """Encode labels, once for each mapping: a context of many is that of many samples."""
        found = self._encoded_labels.get(id(labels))
        if found is None:
            found = self._encoded_labels[id(labels)] = labels, self._encode_labels(labels)
        return found[1]

    def _encode_labels(self, labels: Mapping[str, str]) -> bytes:
        return b"".join(
            bytes_field(3, int_field(1, self._string(name)) + int_field(2, self._string(value)))
            for name, value in sorted(labels.items())
        )

    def _symbols(self) -> list[bytes]:
        functions: dict[tuple[str, str], int] = {}
        mappings: dict[str, int] = {}
        parts = []
        for (name, file, line, mapping), location in self._locations.items():
            function = functions.setdefault((name, file), len(functions) + 1)
            binary = mappings.setdefault(mapping, len(mappings) + 1) if mapping else 0
            line_message = bytes_field(4, int_field(1, function) + int_field(2, max(0, line)))
            fields = int_field(1, location) + int_field(2, binary) + line_message
            parts.append(bytes_field(_LOCATION, fields))
        for (name, file), function in functions.items():
            text = self._string(name)
            fields = int_field(1, function) + int_field(2, text) + int_field(3, text)
            fields += int_field(4, self._string(file))
            parts.append(bytes_field(_FUNCTION, fields))
        for mapping, number in mappings.items():
            fields = int_field(1, number) + int_field(5, self._string(mapping)) + int_field(7, 1)
            parts.append(bytes_field(_MAPPING, fields))
        return parts


def _utf8(text: str) -> bytes:
    """Encode a string; lone surrogates, which JSON can carry, become question marks."""
    return text.encode("utf-8", "replace")
