"""Stacks with one count each: folded stacks, and lines that are one stack without a count."""

from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO

from ingest.formats.folded import parse_frame
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import ProfileBuilder
from ingest.formats.pyroscope.counts import CountMeaning
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile, TooLarge

# Limits of one profile, which bound its memory to about 150 MB and its time to a few seconds. A
# profile of ten seconds has thousands of stacks.
MAX_STACKS = 200_000
MAX_NAMES = 200_000
MAX_LINES = 1_000_000
MAX_LINE_BYTES = 2**20
_LIMIT_NAME = "A profile of stacks"  # in the message of TooLarge
_MAX_SUM = 2**62
_SHOWN_BYTES = 60  # of a bad line, in its warning


class StackCounts:
    """Sums the counts of equal stacks and builds the profile."""

    def __init__(self, meaning: CountMeaning, body_bytes: int) -> None:
        self._meaning = meaning
        self.budget = WorkBudget(body_bytes)
        self._builder = ProfileBuilder(meaning.metrics, self.budget)
        self._locations: dict[bytes, int] = {}
        self._stack_count = self._count_sum = 0

    def location(self, name: bytes) -> int:
        """Return the location id of a function. Raise TooLarge for more than MAX_NAMES names."""
        found = self._locations.get(name)
        if found is None:
            _require(len(self._locations) + 1, MAX_NAMES, "functions")
            found = self._builder.location(parse_frame(name.decode("utf-8", "replace"), False))
            self._locations[name] = found
        return found

    def add(self, stack: Sequence[int], count: int) -> None:
        """Add a stack of location ids, root first.

        Raise TooLarge above MAX_STACKS or the budget of frames, and BadProfile if the counts are
        too large.
        """
        if not stack or not count:
            return
        self._stack_count += 1
        self.budget.spend(Work.FRAMES, len(stack))
        self._count_sum += count * max(self._meaning.factors)
        _require(self._stack_count, MAX_STACKS, "stacks")
        if self._count_sum > _MAX_SUM:
            raise BadProfile(f"The counts of the stacks add up to more than {_MAX_SUM:,}.")
        self._builder.add(stack[::-1], [count * factor for factor in self._meaning.factors])

    def profiles(self, warnings: Sequence[str] = ()) -> list[ImportedProfile]:
        """Return the profile; none if there is no stack."""
        if self._builder.is_empty:
            return []
        built = self._builder.build()
        return [ImportedProfile(self._meaning.type, built, warnings=tuple(warnings))]


def import_folded(body: bytes, meaning: CountMeaning) -> list[ImportedProfile]:
    """Import folded stacks: in each line functions, separated by `;`, and a count after a space.

    Lines without a count are left out with a warning. Raise BadProfile if no line is usable, and
    what StackCounts raises.
    """
    counts = StackCounts(meaning, len(body))
    good = bad = 0
    first_bad = b""
    for line in _lines(body):
        text, _, number = line.rpartition(b" ")
        if text and number.isdigit() and len(number) < 20:
            _add(counts, text, int(number))
            good += 1
        else:
            first_bad = first_bad or line
            bad += 1
    if bad and not good:
        advice = "Send `function;function count` in each line."
        raise BadProfile(f"{_describe(first_bad, bad)} {advice}")
    return counts.profiles([_describe(first_bad, bad)] if bad else [])


def import_lines(body: bytes, meaning: CountMeaning) -> list[ImportedProfile]:
    """Import stacks in lines of their own, each of which counts 1. Raise as StackCounts does."""
    counts = StackCounts(meaning, len(body))
    for text, count in Counter(_lines(body)).items():
        _add(counts, text, count)
    return counts.profiles()


def _lines(body: bytes) -> Iterator[bytes]:
    """Yield the lines that are not empty, without space around them."""
    for number, line in enumerate(BytesIO(body), 1):
        _require(number, MAX_LINES, "lines")
        _require(len(line), MAX_LINE_BYTES, "bytes in a line")
        text = line.strip()
        if text:
            yield text


def _add(counts: StackCounts, text: bytes, count: int) -> None:
    counts.add([counts.location(name) for name in text.split(b";") if name.strip()], count)


def _describe(first: bytes, count: int) -> str:
    shown = first[:_SHOWN_BYTES].decode("utf-8", "replace")
    others = f" and of {count - 1:,} more" if count > 1 else ""
    return f"There is no count at the end of the line {shown!r}{others}."


def _require(value: int, allowed: int, counted: str) -> None:
    if value > allowed:
        raise TooLarge(_LIMIT_NAME, value, allowed, counted)
