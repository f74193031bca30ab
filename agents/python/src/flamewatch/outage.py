"""Log throttling: one line for each outage, and one when it ends."""

import time
from collections.abc import Callable


class Outage:
    """Tracker of failures and successes that logs only the first failure of each kind."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._tell, self._clock = tell, clock
        self._told: set[str] = set()  # kinds of failures logged in this outage
        self._since = 0.0

    def failed(self, kind: str, line: str) -> None:
        if not self._told:
            self._since = self._clock()
        if kind not in self._told:
            self._told.add(kind)
            self._tell(line)

    def forget(self) -> None:
        """End the outage without a log line."""
        self._told.clear()

    def over(self, server: str) -> None:
        if self._told:
            self._told.clear()
            self._tell(f"{server} works again, after {_span(self._clock() - self._since)}.")


def _span(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
