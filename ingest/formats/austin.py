"""Importer of the text format of Austin, the sampler of CPython.

Lines are `P<process>;T<interpreter>:<thread>;<file>:<function>:<line>;… <metric>`, the metric a
time in µs, a difference of memory in bytes, or in full mode both: `time,is idle,difference`.
"""

import re
from typing import NamedTuple

from ingest.formats.import_options import NO_OPTIONS, ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.text_lines import UnreadableLines, number_lines
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from projects.profile_types import ProfileType

MICROSECOND = 1000  # ns
METRICS = {
    ProfileType.CPU: (Metric("samples", "count"), Metric("cpu", "nanoseconds")),
    ProfileType.WALL: (Metric("sample", "count"), Metric("wall", "nanoseconds")),
    ProfileType.HEAP_ALLOC: (Metric("samples", "count"), Metric("alloc_space", "bytes")),
}
_METADATA = re.compile(r"# (?P<name>\w{1,40}): (?P<value>.{0,200})")
_LINE = re.compile(
    r"P\d{1,20};T(?:\d{1,20}:)?[^; ]{1,200}(?:;(?P<stack>.*))? "
    r"(?P<value>-?\d{1,18})(?:,(?P<idle>[01]),(?P<memory>-?\d{1,18}))?"
)
_FRAME = re.compile(r"(?P<file>.+?):(?P<name>[^:]*):(?P<line>\d{1,9})(?::\d+){0,3}")


class _Values(NamedTuple):
    microseconds: int
    is_idle: bool
    memory: int  # bytes that the process grew, negative if it shrank


def import_austin(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert samples to WALL or CPU, those of memory to HEAP_ALLOC, and full ones to all three.

    HEAP_ALLOC has the growth of the process only. Samples without frames are left out. Raise
    BadProfile without any usable sample or without the type of `options`, TooLarge above a limit.
    """
    budget = WorkBudget(len(raw))
    converter = _AustinReader(budget)
    for number, line in number_lines(raw, budget):
        converter.read(number, line)
    return converter.profiles(options)


class _AustinReader:
    def __init__(self, budget: WorkBudget) -> None:
        self._metadata: dict[str, str] = {}
        self._builders = {
            type: ProfileBuilder(metrics, budget) for type, metrics in METRICS.items()
        }
        self._budget = budget
        self._frames: dict[str, Frame] = {}
        self._unreadable = UnreadableLines()

    def read(self, number: int, line: str) -> None:
        """Read a line: metadata, a sample or nothing."""
        if not line:
            return
        if metadata := _METADATA.fullmatch(line):
            self._metadata[metadata["name"]] = metadata["value"]
            return
        sample = _LINE.fullmatch(line)
        if sample is None:
            self._unreadable.add(number)
            return
        names = [name for name in (sample["stack"] or "").split(";") if name]
        if names:
            self._add(names, self._values(sample))

    def profiles(self, options: ImportOptions) -> list[ImportedProfile]:
        types = [type for type, builder in self._builders.items() if not builder.is_empty]
        found = [type for type in types if options.type in {None, type}]
        if not types:
            raise BadProfile("The Austin file has no samples with frames.")
        if not found:
            raise BadProfile(
                f"The Austin file has no {options.type} samples; it has {', '.join(types)}."
            )
        text = self._metadata.get("duration", "")
        is_number = text.isascii() and text.isdigit() and len(text) < 16
        duration = int(text) * MICROSECOND if is_number else None
        warnings = self._unreadable.warnings()
        return [
            ImportedProfile(type, self._builders[type].build(), None, duration or None, warnings)
            for type in found
        ]

    def _values(self, sample: re.Match[str]) -> _Values:
        value = int(sample["value"])
        if sample["memory"] is not None:
            return _Values(value, sample["idle"] == "1", int(sample["memory"]))
        if self._metadata.get("mode") == "memory":
            return _Values(0, False, value)
        return _Values(value, False, 0)

    def _add(self, names: list[str], values: _Values) -> None:
        mode = self._metadata.get("mode", "wall")
        time = values.microseconds * MICROSECOND
        if time > 0 and mode != "cpu":
            self._add_stack(ProfileType.WALL, names, time)
        if time > 0 and (mode == "cpu" or (mode == "full" and not values.is_idle)):
            self._add_stack(ProfileType.CPU, names, time)
        if values.memory > 0:
            self._add_stack(ProfileType.HEAP_ALLOC, names, values.memory)

    def _add_stack(self, type: ProfileType, names: list[str], value: int) -> None:
        self._budget.spend(Work.FRAMES, len(names))
        builder = self._builders[type]
        stack = [builder.location(self._frame(name)) for name in reversed(names)]
        builder.add(stack, [1, value])

    def _frame(self, text: str) -> Frame:
        frame = self._frames.get(text)
        if frame is None:
            frame = self._frames[text] = _parse_frame(text)
        return frame


def _parse_frame(text: str) -> Frame:
    found = _FRAME.fullmatch(text)
    if found is None:
        return Frame(text.strip(":") or "[unknown]")
    return Frame(found["name"] or "[unknown]", found["file"], int(found["line"]))
