"""The head: profiles as rows, the newest first to arrive and the durable ones.

One thread writes; whatever arrives while it commits shares the next commit. A profile that is
said to be stored is durable and visible. While profiles come in crowds, the writer waits a moment
for more: a commit costs a millisecond of CPU time, another row in it a quarter of that.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from django.db import DatabaseError, InterfaceError, connection

from common.disk_space import is_disk_full
from profiles.storage import disk
from profiles.storage.insert import Conflict, Outcome, Rejected, Unstorable, insert
from profiles.storage.new_profile import NewProfile
from profiles.storage.upload_future import StoreUnavailable, UploadFuture, complete

__all__ = [
    "Conflict",
    "NewProfile",
    "Rejected",
    "StoreUnavailable",
    "Unstorable",
    "enter",
    "stop",
    "store",
]

log = logging.getLogger(__name__)

MAX_BATCH = 256  # profiles a commit
MAX_WAITING = 4096  # profiles; beyond it the store is overloaded
GATHER_SECONDS = 0.010  # how long a crowd is waited for


_Arrival = tuple[NewProfile, UploadFuture]


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

    def enter(self, new: NewProfile, awaited: UploadFuture) -> None:
        """From any thread; StoreUnavailable where too many wait already."""
        with self._wake:
            if self._stopping:
                raise StoreUnavailable("The server is stopping.")
            if len(self._arrivals) >= MAX_WAITING:
                raise StoreUnavailable(f"{MAX_WAITING} profiles are waiting to be stored.")
            awaited.entered = time.monotonic()
            self._arrivals.append((new, awaited))
            self._wake.notify()

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
        outcomes: Sequence[bool | Exception]
        try:
            outcomes = self._insert([new for new, _awaited in batch])
            disk.note_stored()
        except (DatabaseError, InterfaceError) as error:
            log.warning("Profiles could not be stored: %s", error)
            connection.close()
            outcomes = [_unavailable(error) for _ in batch]
        except Exception as error:
            log.exception("Storing profiles failed.")
            connection.close()
            outcomes = [StoreUnavailable(f"Storing failed: {error}") for _ in batch]
        complete(
            (awaited, outcome) for (_new, awaited), outcome in zip(batch, outcomes, strict=True)
        )


def _unavailable(error: Exception) -> Exception:
    if is_disk_full(error) or disk.shortage():
        return disk.note_full()
    return StoreUnavailable(f"The database failed: {error}")


_writer: Writer | None = None
_start = threading.Lock()


def enter(new: NewProfile, awaited: UploadFuture) -> None:
    """Have a profile stored, from any thread: True when it was new, False when it was there.

    Raises StoreUnavailable; `awaited` is told Conflict (other bytes under this name), Rejected,
    Unstorable or StoreUnavailable.
    """
    global _writer
    with _start:
        if _writer is None:
            _writer = Writer()
    _writer.enter(new, awaited)


async def store(new: NewProfile) -> bool:
    """The same for who has nothing else to do before; raises what `awaited` would be told."""
    awaited = UploadFuture()
    enter(new, awaited)
    return bool(await awaited.result())


async def stop() -> None:
    """Write everything that has arrived and end the thread; a later `store` starts another."""
    global _writer
    with _start:
        writer, _writer = _writer, None
    if writer is not None:
        await asyncio.to_thread(writer.stop)
