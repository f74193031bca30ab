"""How long to wait after a refusal or a failure. Pure: the dice are given.

A server says when to come back (RetryInfo, with whatever status); where it doesn't, agents spread
over a range that grows with each failure, so that a server that comes up again is not run down.
"""

from collections.abc import Callable

FIRST = 60.0  # seconds
GROWTH = 1.3
LONGEST = 3600.0
LONGEST_TOLD = 24 * 3600.0  # what we believe a server: a mistyped delay must not end profiling
SPREAD = 0.1  # of what the server said, added at random

Uniform = Callable[[float, float], float]


class Backoff:
    """Counts failures in a row, and says the pause after each."""

    def __init__(self, uniform: Uniform) -> None:
        self._uniform = uniform
        self.failures = 0

    def succeed(self) -> None:
        self.failures = 0

    def next(self, told: float | None = None) -> float:
        """Seconds to wait now: as told and never earlier, or a guess."""
        range_end = self._range_end()
        self.failures += 1
        if told is None:
            return self._uniform(0.0, range_end)
        return min(told, LONGEST_TOLD) * self._uniform(1.0, 1.0 + SPREAD)

    def next_long(self, told: float | None = None) -> float:
        """The same for what is not cured by waiting, a refused key: longer each time."""
        at_least = self._range_end()
        return max(self.next(told), self._uniform(at_least / 2, at_least))

    def _range_end(self) -> float:
        # The exponent is bounded as well: a float overflows after some thousand failures.
        return min(LONGEST, FIRST * GROWTH ** min(self.failures, 64))
