"""Sleep that another thread can end early."""

import contextlib

from flamewatch.unpatched import new_lock


class Bell:
    """Event that is set at most once. `wait` sleeps without polling and without the GIL."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._lock.acquire()
        self.rung = False

    def ring(self) -> None:
        self.rung = True
        with contextlib.suppress(RuntimeError):  # already rung
            self._lock.release()

    def wait(self, seconds: float) -> bool:
        """Return True as soon as the bell has rung, False after `seconds`."""
        if not self.rung and seconds > 0 and self._lock.acquire(timeout=seconds):
            self._lock.release()
        return self.rung
