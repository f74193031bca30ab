"""Waiting that another thread can end."""

import contextlib

from flamewatch.unpatched import new_lock


class Bell:
    """Rung once, for good. `wait` sleeps without polling and without the GIL."""

    def __init__(self) -> None:
        self._silence = new_lock()
        self._silence.acquire()
        self.rung = False

    def ring(self) -> None:
        self.rung = True
        with contextlib.suppress(RuntimeError):  # it had rung already
            self._silence.release()

    def wait(self, seconds: float) -> bool:
        """True if it rang; False after `seconds`."""
        if not self.rung and seconds > 0 and self._silence.acquire(timeout=seconds):
            self._silence.release()
        return self.rung
