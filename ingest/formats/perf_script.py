"""Importer of the text that `perf script` prints: samples with their call chains."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.formats.folded import KERNEL
from ingest.formats.import_options import NO_OPTIONS, ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.text_lines import UnreadableLines, numbered_lines
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from projects.profile_types import ProfileType

# "python3  1234/1235 [001] 4321.123456:    250000 cpu-clock:pppH: ", of which threads, processors
# and periods may be missing. A command may have spaces.
SAMPLE = re.compile(
    r"(?P<command>\S.{0,40}?)\s{1,40}+(?:\d{1,10}/)?\d{1,10}\s{1,40}+(?:\[\d{1,6}\]\s{1,40}+)?"
    r"(?P<seconds>\d{1,9})\.(?P<fraction>\d{1,9}):\s{1,40}+(?:(?P<period>\d{1,18})\s{1,40}+)?"
    r"(?P<event>[^\s:]{1,100}):.*"
)
FRAME = re.compile(
    r"\s+(?P<address>[0-9a-f]{1,16}) (?P<symbol>.+) \((?P<binary>[^()]*(?: \(deleted\))?)\)"
)
MAX_LINE = 8192  # characters; names of C++ templates are long
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_CLOCKS = frozenset({"cpu-clock", "task-clock"})  # whose periods are ns
_KERNELS = ("[kernel", "[guest.kernel", "[k]")


@dataclass(slots=True)
class _PerfSample:
    event: str
    period: int
    command: str
    frames: list[Frame] = field(default_factory=list)  # leaf first


def import_perf_script(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert the samples of one event to CPU or the given type; the command is the root.

    Samples of other events than the first are left out, with a warning. Raise BadProfile without
    any sample, TooLarge above a limit.
    """
    return _PerfReader().converted(raw, options.type or ProfileType.CPU)


class _PerfReader:
    def __init__(self) -> None:
        self._budget = WorkBudget()
        self._event = ""
        self._builder = ProfileBuilder([], self._budget)
        self._first_ns = self._last_ns = 0
        self._other_events: dict[str, int] = {}
        self._unreadable = UnreadableLines()
        self._sample: _PerfSample | None = None
        self._frames: dict[str, Frame] = {}

    def converted(self, raw: bytes, type: ProfileType) -> list[ImportedProfile]:
        for number, line in numbered_lines(raw, self._budget):
            if not line.strip():
                self._end_sample()
            elif line.startswith("#"):
                continue
            elif len(line) > MAX_LINE or not self._read(line):
                self._unreadable.add(number)
        self._end_sample()
        if self._builder.is_empty:
            raise BadProfile("The text of perf script has no sample with a call chain.")
        duration = self._last_ns - self._first_ns
        return [
            ImportedProfile(
                type, self._builder.build(), None, duration or None, tuple(self._warnings())
            )
        ]

    def _read(self, line: str) -> bool:
        """Read a line with a sample's head or a frame; return False for any other line."""
        if line[0].isspace() and self._sample is not None:
            frame = self._frame(line.rstrip())
            if frame is not None:
                self._budget.spend(Work.FRAMES, 1)
                self._sample.frames.append(frame)
            return frame is not None
        head = SAMPLE.fullmatch(line.strip())
        if head is None:
            return False
        self._end_sample()
        time = int(head["seconds"]) * 10**9 + int(head["fraction"].ljust(9, "0"))
        self._first_ns = min(self._first_ns or time, time)
        self._last_ns = max(self._last_ns, time)
        self._sample = _PerfSample(head["event"], int(head["period"] or 0), head["command"])
        return True

    def _frame(self, line: str) -> Frame | None:
        found = self._frames.get(line)
        if found is None:
            match = FRAME.fullmatch(line)
            if match is None:
                return None
            self._budget.spend(Work.NAME_BYTES, len(line))
            found = self._frames[line] = _frame(match["symbol"], match["binary"])
        return found

    def _end_sample(self) -> None:
        sample, self._sample = self._sample, None
        if sample is None or not sample.frames:
            return
        if not self._event:
            self._event = sample.event
            self._builder = ProfileBuilder(_metrics(sample.event), self._budget)
        if sample.event != self._event:
            self._other_events[sample.event] = self._other_events.get(sample.event, 0) + 1
            return
        frames = [*sample.frames, Frame(sample.command)]
        self._budget.spend(Work.FRAMES, 1)
        locations = [self._builder.location(frame) for frame in frames]
        self._builder.add(locations, [1, sample.period])

    def _warnings(self) -> Sequence[str]:
        others = [
            f"Samples of another event, {event}, were left out: {count:,}."
            for event, count in sorted(self._other_events.items())[:10]
        ]
        return [*others, *self._unreadable.warnings()]


def _metrics(event: str) -> Sequence[Metric]:
    if event in _CLOCKS:
        return Metric("samples", "count"), Metric("cpu", "nanoseconds")
    name = event.partition("/")[0] if event.endswith("/") else event
    return Metric("samples", "count"), Metric(name if name != "samples" else "event", "count")


def _frame(symbol: str, binary: str) -> Frame:
    name = _OFFSET.sub("", symbol)
    is_kernel = binary.startswith(_KERNELS)
    if name == "[unknown]" and not is_kernel:
        name = f"[{binary.rpartition('/')[2].strip('[]') or 'unknown'}]"
    return Frame(name, mapping=KERNEL if is_kernel else binary.removesuffix(" (deleted)"))
