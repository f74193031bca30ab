"""Budget of the work that converting one file may take, charged before the work is done."""

from collections.abc import Mapping
from enum import StrEnum

from profiles.engine.errors import TooLarge


class Work(StrEnum):
    """Kind of work, as error messages name it."""

    FRAMES = "frames of all stacks"
    LINES = "lines"
    VALUES = "values of its events, constants and types"
    NAME_BYTES = "bytes of different names"
    JSON_BYTES = "bytes of memory for its JSON"


# Each limit bounds the conversion to 2 to 10 s of CPU time, and to 256 MiB of memory.
MAX_WORK: Mapping[Work, int] = {
    Work.FRAMES: 10_000_000,
    Work.LINES: 5_000_000,
    Work.VALUES: 30_000_000,
    Work.NAME_BYTES: 2**26,
    Work.JSON_BYTES: 2**28,
}


class WorkBudget:
    """Counts the work of one conversion."""

    def __init__(self, allowed: Mapping[Work, int] = MAX_WORK) -> None:
        self._allowed = allowed
        self._used = dict.fromkeys(Work, 0)

    def spend(self, work: Work, amount: int) -> None:
        """Count work that is about to be done. Raise TooLarge above its limit."""
        used = self._used[work] = self._used[work] + amount
        if used > self._allowed[work]:
            raise TooLarge("A file to convert", used, self._allowed[work], work.value)
