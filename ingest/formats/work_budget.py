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


# Each limit bounds the conversion to 2 to 10 s of CPU time, and to 512 MiB of memory.
MAX_WORK: Mapping[Work, int] = {
    Work.FRAMES: 10_000_000,
    Work.LINES: 5_000_000,
    Work.VALUES: 30_000_000,
    Work.NAME_BYTES: 2**26,
    Work.JSON_BYTES: 2**29,
}
# Work that a file of any size may take, and that it may take for each of its bytes. Formats that
# share stacks, names or values between samples need more of it than they have bytes: recordings of
# real programs up to 5 frames, 3 values and 10 bytes of names for each byte.
FREE_WORK: Mapping[Work, int] = {
    Work.FRAMES: 1_000_000,
    Work.LINES: 1,
    Work.VALUES: 200_000,
    Work.NAME_BYTES: 2**22,
    Work.JSON_BYTES: 2**20,
}
WORK_PER_BYTE: Mapping[Work, int] = {
    Work.FRAMES: 32,
    Work.LINES: 1,
    Work.VALUES: 16,
    Work.NAME_BYTES: 64,
    Work.JSON_BYTES: 400,
}


class WorkBudget:
    """Limit on the work of one conversion, by the size of its file."""

    def __init__(self, size: int) -> None:
        """`size` is that of the file in bytes, after gunzip."""
        self._size = size
        self._used = dict.fromkeys(Work, 0)
        self._allowed = {
            work: min(most, FREE_WORK[work] + WORK_PER_BYTE[work] * size)
            for work, most in MAX_WORK.items()
        }

    def spend(self, work: Work, amount: int) -> None:
        """Count work that is about to be done. Raise TooLarge above its limit."""
        used = self._used[work] = self._used[work] + amount
        allowed = self._allowed[work]
        if used > allowed:
            whole = allowed == MAX_WORK[work]
            limit = "A file to convert" if whole else f"A file of {self._size:,} bytes"
            raise TooLarge(limit, used, allowed, work.value)

    def count_used(self, work: Work) -> int:
        return self._used[work]
