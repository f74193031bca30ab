"""What becomes of a profile: awaited on an event loop, told by the threads that work on it."""

import asyncio
import logging
import time
from collections.abc import Iterable

log = logging.getLogger(__name__)

# True: stored; False: it was there already; None: whoever awaits it has to look for it first.
Outcome = bool | None | Exception
WAIT_SECONDS = 15.0


class StoreUnavailable(Exception):
    """The database does not answer, or not in time; the profile may be sent again."""


class UploadFuture:
    """Made on the event loop that awaits it; told once, by any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[bool | None] = self._loop.create_future()
        self.entered: float | None = None  # when the writer got it, by the monotonic clock

    async def result(self) -> bool | None:
        """Raises what it was told, and StoreUnavailable WAIT_SECONDS after it was entered."""
        self._timer = self._loop.call_later(WAIT_SECONDS, self._look)
        try:
            return await self._future
        finally:
            self._timer.cancel()

    @property
    def is_over(self) -> bool:
        """Nobody waits any more."""
        return self._future.done()

    def _look(self) -> None:
        waited = 0.0 if self.entered is None else time.monotonic() - self.entered
        if waited < WAIT_SECONDS:
            self._timer = self._loop.call_later(WAIT_SECONDS - waited, self._look)
        else:
            reason = f"The database did not store the profile within {WAIT_SECONDS:g} s."
            self._settle(StoreUnavailable(reason))

    def _settle(self, outcome: Outcome) -> None:
        if self._future.done():
            return
        if isinstance(outcome, Exception):
            self._future.set_exception(outcome)
        else:
            self._future.set_result(outcome)


Completions = tuple[UploadFuture, Outcome]


def complete(outcomes: Iterable[Completions]) -> None:
    """From any thread. A loop is woken once for all that it is told: to wake it costs more."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Completions]] = {}
    for told in outcomes:
        by_loop.setdefault(told[0]._loop, []).append(told)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:  # it is closed
            log.debug("Nobody waited for %d profiles any more.", len(mine))


def _settle(outcomes: Iterable[Completions]) -> None:
    for awaited, outcome in outcomes:
        awaited._settle(outcome)
