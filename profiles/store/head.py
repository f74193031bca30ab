"""The head: profiles as rows, the newest first to arrive and the durable ones.

One thread writes; whatever arrives while it commits shares the next commit. `store` returns when
its profile is durable and visible. While profiles come in crowds, the writer waits a moment for
more: a commit costs a millisecond of CPU time, another row in it a quarter of that.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connection

from profiles.store.insert import Conflict, Outcome, Rejected, insert
from profiles.store.new_profile import NewProfile

__all__ = ["Conflict", "NewProfile", "Rejected", "StoreUnavailable", "stop", "store"]

log = logging.getLogger(__name__)

MAX_BATCH = 256  # profiles a commit
MAX_WAITING = 4096  # profiles; beyond it the store is overloaded
WAIT_SECONDS = 15.0
GATHER_SECONDS = 0.010  # how long a crowd is waited for


class StoreUnavailable(Exception):
    """The database does not answer, or not in time; the profile may be sent again."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    new: NewProfile
    loop: asyncio.AbstractEventLoop
    outcome: "asyncio.Future[bool]"


class Writer:
    """A thread that commits what has arrived, until it is stopped."""

    def __init__(self, insert: Callable[[Sequence[NewProfile]], list[Outcome]] = insert) -> None:
        self._insert = insert
        self._arrivals: deque[_Arrival] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._crowded = False  # the last commit was shared
        self._thread = threading.Thread(target=self._run, name="head-writer", daemon=True)
        self._thread.start()

    async def store(self, new: NewProfile) -> bool:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[bool] = loop.create_future()
        with self._wake:
            if self._stopping:
                raise StoreUnavailable("The server is stopping.")
            if len(self._arrivals) >= MAX_WAITING:
                raise StoreUnavailable(f"{MAX_WAITING} profiles are waiting to be stored.")
            self._arrivals.append(_Arrival(new, loop, outcome))
            self._wake.notify()
        try:
            return await asyncio.wait_for(outcome, WAIT_SECONDS)
        except TimeoutError:
            raise StoreUnavailable(
                f"The database did not store the profile within {WAIT_SECONDS:g} s."
            ) from None

    def stop(self) -> None:
        """Write what has arrived, then end."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._write(batch)
        finally:
            connection.close()

    def _next_batch(self) -> list[_Arrival]:
        """What has arrived and is still waited for; empty when all is done."""
        with self._wake:
            self._wake.wait_for(lambda: self._arrivals or self._stopping)
        if self._crowded:
            time.sleep(GATHER_SECONDS)
        with self._wake:
            count = min(len(self._arrivals), MAX_BATCH)
            self._crowded = count > 1
            return [self._arrivals.popleft() for _ in range(count)]

    def _write(self, batch: list[_Arrival]) -> None:
        try:
            outcomes: list[bool | Exception] = [*self._insert([a.new for a in batch])]
        except (DatabaseError, InterfaceError) as error:
            log.warning("Profiles could not be stored: %s", error)
            connection.close()
            outcomes = [StoreUnavailable(f"The database failed: {error}") for _ in batch]
        except Exception as error:
            log.exception("Storing profiles failed.")
            connection.close()
            outcomes = [StoreUnavailable(f"Storing failed: {error}") for _ in batch]
        for arrival, outcome in zip(batch, outcomes, strict=True):
            _tell(arrival, outcome)


def _tell(arrival: _Arrival, outcome: bool | Exception) -> None:
    try:
        arrival.loop.call_soon_threadsafe(_settle, arrival.outcome, outcome)
    except RuntimeError:  # its loop is closed: nobody is waiting any more
        log.debug("Nobody waited for %s.", arrival.new.name_id)


def _settle(future: "asyncio.Future[bool]", outcome: bool | Exception) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


_writer: Writer | None = None
_start = threading.Lock()


async def store(new: NewProfile) -> bool:
    """Store a profile: True when it was new, False when the same was there already.

    Raises Conflict (other bytes under this name), Rejected, or StoreUnavailable.
    """
    global _writer
    with _start:
        if _writer is None:
            _writer = Writer()
    return await _writer.store(new)


async def stop() -> None:
    """Write everything that has arrived and end the thread; a later `store` starts another."""
    global _writer
    with _start:
        writer, _writer = _writer, None
    if writer is not None:
        await asyncio.to_thread(writer.stop)
