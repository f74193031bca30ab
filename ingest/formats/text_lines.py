"""Lines of text files, and a report of those that could not be read."""

from collections.abc import Iterator
from io import BytesIO

from ingest.formats.work_budget import Work, WorkBudget

# Bytes of one line: a stack of 10,000 frames fits. Longer lines count as unreadable.
MAX_LINE = 2**20


def number_lines(raw: bytes, budget: WorkBudget) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of all lines, without line ends.

    A line over MAX_LINE is the character NUL, which no format has. Raise TooLarge
    above the budget.
    """
    for number, line in enumerate(BytesIO(raw), 1):
        budget.spend(Work.LINES, 1)
        text = line if len(line) <= MAX_LINE else b"\0"
        yield number, text.decode("utf-8", "replace").rstrip("\r\n")


class UnreadableLines:
    """Count of lines that were left out, for a warning."""

    def __init__(self) -> None:
        self._count = self._first = 0

    def add(self, number: int) -> None:
        self._count += 1
        self._first = self._first or number

    def warnings(self) -> tuple[str, ...]:
        if not self._count:
            return ()
        return (
            f"Unreadable lines, which were left out: {self._count:,}; the first is {self._first}.",
        )
