"""Back-off after error responses and failures. Pure: the random generator is an argument.

The server may set the delay (RetryInfo, with any status). If it does not, agents wait a random time
from a range that grows with each failure, so that a restarting server is not overloaded.
"""

from collections.abc import Callable

FIRST = 60.0  # seconds
GROWTH = 1.3
LONGEST = 3600.0
LONGEST_SERVER_DELAY = 24 * 3600.0  # a wrong delay of the server must not end profiling
SPREAD = 0.1  # up to this share is added at random to a delay from the server

Uniform = Callable[[float, float], float]


class Backoff:
    """Counter of consecutive failures that returns the pause after each of them."""

    def __init__(self, uniform: Uniform) -> None:
        self._uniform = uniform
        self.failures = 0

    def succeed(self) -> None:
        self.failures = 0

    def next(self, server_delay: float | None = None) -> float:
        """Return the seconds to wait: the server's delay or slightly more, or a random time."""
        range_end = self._range_end()
        self.failures += 1
        if server_delay is None:
            return self._uniform(0.0, range_end)
        return min(server_delay, LONGEST_SERVER_DELAY) * self._uniform(1.0, 1.0 + SPREAD)

    def next_long(self, server_delay: float | None = None) -> float:
        """Return a pause for errors that waiting does not cure, such as a rejected key.

        The pause is at least half of the back-off range, which grows with each failure.
        """
        at_least = self._range_end()
        return max(self.next(server_delay), self._uniform(at_least / 2, at_least))

    def _range_end(self) -> float:
        # The exponent is bounded as well: a float overflows after some thousand failures.
        return min(LONGEST, FIRST * GROWTH ** min(self.failures, 64))
