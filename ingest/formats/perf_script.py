"""Importer of the text that `perf script` prints: samples with their call chains."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.formats.folded import KERNEL
from ingest.formats.import_options import NO_OPTIONS, ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.text_lines import UnreadableLines, number_lines
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
    r"\s+(?P<address>[0-9a-f]{1,16}) (?P<symbol>.+?)"
    r"(?: \((?P<binary>[^()]*(?: \(deleted\))?)\))?"  # only with the field `dso`
)
MAX_LINE = 8192  # characters; names of C++ templates are long
# Lines of `perf script --header`: "# cmdline : /usr/bin/perf record -F 99 -g" and
# "# event : name = cycles, …, { sample_period, sample_freq } = 99, … freq = 1, …".
_EVENT_FREQUENCY = re.compile(
    r"# event : name = (?P<event>[^,\s]{1,100}),.{0,1000}?"
    r"\{ sample_period, sample_freq \} = (?P<hertz>\d{1,9}),.{0,1000}?\bfreq = 1\b"
)
_COMMAND_FREQUENCY = re.compile(r"# cmdline :.{0,2000}? (?:-F ?|--freq[= ])(?P<hertz>\d{1,9})\b")
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
    return _PerfReader(len(raw)).convert(raw, options.type or ProfileType.CPU)


class _PerfReader:
    def __init__(self, size: int) -> None:
        self._budget = WorkBudget(size)
        self._event = ""
        self._has_periods = False
        self._event_hertz: dict[str, int] = {}  # by event, of the header
        self._command_hertz = 0
        self._builder = ProfileBuilder([], self._budget)
        self._first_ns = self._last_ns = 0
        self._other_events: dict[str, int] = {}
        self._unreadable = UnreadableLines()
        self._sample: _PerfSample | None = None
        self._frames: dict[str, Frame] = {}

    def convert(self, raw: bytes, type: ProfileType) -> list[ImportedProfile]:
        for number, line in number_lines(raw, self._budget):
            if not line.strip():
                self._end_sample()
            elif line.startswith("#"):
                self._read_header(line[:MAX_LINE])
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

    def _read_header(self, line: str) -> None:
        if match := _EVENT_FREQUENCY.match(line):
            self._event_hertz[match["event"]] = int(match["hertz"])
        elif match := _COMMAND_FREQUENCY.match(line):
            self._command_hertz = int(match["hertz"])

    @property
    def _hertz(self) -> int:
        """Return the frequency of samples of the event; 0 if it is unknown."""
        return self._event_hertz.get(self._event, self._command_hertz)

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
            found = self._frames[line] = _frame(match["symbol"], match["binary"] or "")
        return found

    def _end_sample(self) -> None:
        sample, self._sample = self._sample, None
        if sample is None or not sample.frames:
            return
        if not self._event:
            self._event = sample.event
            self._has_periods = sample.period > 0
            self._builder = ProfileBuilder(self._metrics(), self._budget)
        if sample.event != self._event:
            self._other_events[sample.event] = self._other_events.get(sample.event, 0) + 1
            return
        frames = [*sample.frames, Frame(sample.command)]
        self._budget.spend(Work.FRAMES, 1)
        locations = [self._builder.location(frame) for frame in frames]
        if self._has_periods:
            self._builder.add(locations, [1, sample.period])
        else:
            self._builder.add(locations, [1, 10**9 // self._hertz] if self._hertz else [1])

    def _warnings(self) -> Sequence[str]:
        others = [
            f"Samples of another event, {event}, were left out: {count:,}."
            for event, count in sorted(self._other_events.items())[:10]
        ]
        if not self._has_periods and self._hertz:
            others.append(
                "The text has no periods; each sample counts the time between two at "
                f"{self._hertz:,} Hz, the frequency of the recording."
            )
        elif not self._has_periods:
            others.append(
                "The text has no periods, and samples are counted instead of time. Print periods by"
                " perf script -F +period, or the frequency by perf script --header."
            )
        return [*others, *self._unreadable.warnings()]

    def _metrics(self) -> Sequence[Metric]:
        samples, event = Metric("samples", "count"), self._event
        if not self._has_periods and not self._hertz:
            return (samples,)
        if not self._has_periods or event in _CLOCKS:
            return samples, Metric("cpu", "nanoseconds")
        name = event.partition("/")[0] if event.endswith("/") else event
        return samples, Metric(name if name != "samples" else "event", "count")


def _frame(symbol: str, binary: str) -> Frame:
    name = _OFFSET.sub("", symbol)
    is_kernel = binary.startswith(_KERNELS)
    if name == "[unknown]" and not is_kernel:
        name = f"[{binary.rpartition('/')[2].strip('[]') or 'unknown'}]"
    return Frame(name, mapping=KERNEL if is_kernel else binary.removesuffix(" (deleted)"))
