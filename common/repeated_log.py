"""Log lines that may repeat with every request: each kind once a minute, with a count."""

import logging
import threading
import time
from collections.abc import Callable

PERIOD_SECONDS = 60.0
_MAX_KINDS = 1000  # beyond it, kinds that are not known share one line


class RepeatedLog:
    """Logger of repeated messages. Thread-safe.

    A kind is the message before its arguments are inserted, with an optional key: callers pass
    constants and values of bounded number.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: dict[tuple[str, str, str], tuple[float, int]] = {}  # (logged at, left out)

    def warn(self, logger: logging.Logger, message: str, *args: object, key: str = "") -> None:
        """Log a warning, unless one of its kind was logged in the last minute.

        The next one that is logged says how many were left out since.
        """
        left_out = self._count((logger.name, message, key))
        if left_out is None:
            return
        args = tuple(_first_line(each) if isinstance(each, Exception) else each for each in args)
        if left_out:
            message, args = f"{message} (and %d more since the last such line)", (*args, left_out)
        logger.warning(message, *args)

    def _count(self, kind: tuple[str, str, str]) -> int | None:
        """Count a line; return how many were left out before it, None to leave it out."""
        now = self._clock()
        with self._lock:
            if kind not in self._kinds and len(self._kinds) >= _MAX_KINDS:
                self._kinds = {
                    key: entry
                    for key, entry in self._kinds.items()
                    if now - entry[0] < PERIOD_SECONDS
                }
                if len(self._kinds) >= _MAX_KINDS:
                    kind = (kind[0], kind[1], "")
            logged_at, left_out = self._kinds.get(kind, (float("-inf"), 0))
            if now - logged_at < PERIOD_SECONDS:
                self._kinds[kind] = logged_at, left_out + 1
                return None
            self._kinds[kind] = now, 0
            return left_out

    def clear(self) -> None:
        with self._lock:
            self._kinds.clear()


def _first_line(error: Exception) -> str:
    """Return the first line of an error's text: those of PostgreSQL have several."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


repeated_log = RepeatedLog()
