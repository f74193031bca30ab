"""Future completed from worker threads and awaited on the event loop."""

import asyncio
import logging
import time
from collections.abc import Iterable

log = logging.getLogger(__name__)

# True: stored. False: stored already.
UploadOutcome = bool | Exception
WAIT_SECONDS = 15.0


class StoreUnavailable(Exception):
    """The database does not respond in time, or not at all; the upload can be retried."""


class UploadFuture:
    """Future of one upload, created on the event loop that awaits it.

    `complete` sets its outcome once, from any thread.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[bool] = self._loop.create_future()
        self.queued_at: float | None = None  # time.monotonic() when the head's writer queued it

    async def wait(self) -> bool:
        """Wait for the outcome and return it, or raise it if it is an exception.

        Raise StoreUnavailable WAIT_SECONDS after the profile was queued for the head.
        """
        self._timer = self._loop.call_later(WAIT_SECONDS, self._check_timeout)
        try:
            return await self._future
        finally:
            self._timer.cancel()

    @property
    def is_done(self) -> bool:
        """Return True once the future has an outcome or was cancelled."""
        return self._future.done()

    def _check_timeout(self) -> None:
        """Fail the future WAIT_SECONDS after it was queued; before that, check again later."""
        waited = 0.0 if self.queued_at is None else time.monotonic() - self.queued_at
        if waited < WAIT_SECONDS:
            self._timer = self._loop.call_later(WAIT_SECONDS - waited, self._check_timeout)
        else:
            reason = f"The database did not store the profile within {WAIT_SECONDS:g} s."
            self._settle(StoreUnavailable(reason))

    def _settle(self, outcome: UploadOutcome) -> None:
        if self._future.done():
            return
        if isinstance(outcome, Exception):
            self._future.set_exception(outcome)
        else:
            self._future.set_result(outcome)


Completion = tuple[UploadFuture, UploadOutcome]


def complete(outcomes: Iterable[Completion]) -> None:
    """Set the outcomes of futures, from any thread.

    Each event loop is woken once for all its futures: waking a loop costs more than an outcome.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[Completion]] = {}
    for completion in outcomes:
        by_loop.setdefault(completion[0]._loop, []).append(completion)
    for loop, completions in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, completions)
        except RuntimeError:  # the event loop is closed
            log.debug("The clients of %d stored profiles had disconnected.", len(completions))


def _settle(outcomes: Iterable[Completion]) -> None:
    for future, outcome in outcomes:
        future._settle(outcome)
