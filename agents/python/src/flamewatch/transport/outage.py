"""Log throttling: one line for each outage, and one when it ends."""

import time
from collections.abc import Callable


class Outage:
    """Tracker of failures and successes that logs only the first failure of each kind."""

    def __init__(self, log: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._log, self._clock = log, clock
        self._logged_kinds: set[str] = set()  # kinds of failures logged in this outage
        self._since = 0.0

    def fail(self, kind: str, line: str) -> None:
        if not self._logged_kinds:
            self._since = self._clock()
        if kind not in self._logged_kinds:
            self._logged_kinds.add(kind)
            self._log(line)

    def forget(self) -> None:
        """End the outage without a log line."""
        self._logged_kinds.clear()

    def over(self, server: str) -> None:
        if self._logged_kinds:
            self._logged_kinds.clear()
            self._log(f"{server} works again, after {_span(self._clock() - self._since)}.")


def _span(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
