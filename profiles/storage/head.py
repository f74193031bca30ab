"""Head: recent profiles as database rows, written by one thread with group commit.

Profiles that arrive during a commit share the next one. A profile that is reported as stored is
durable and visible to queries. Before it commits, the writer waits for the profiles that are being
decoded, at most for GATHER_SECONDS: a commit costs about 0.7 ms of CPU time, one more row 0.1 ms.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from common import database_pool
from common.disk_space import is_disk_full
from common.outages import Dependency, note_failure
from common.thread_pool import QUEUED_JOBS, WAIT_SECONDS
from profiles.storage import deduplication, disk
from profiles.storage.deduplication import BlocksUnread, Conflict
from profiles.storage.insert import InsertOutcome, Rejected, Unstorable, insert_once
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
    "wait_until_stored",
]

log = logging.getLogger(__name__)

MAX_BATCH = 256  # profiles per commit
MAX_WAITING = 4096  # queued profiles; beyond this, uploads fail with StoreUnavailable
_THREAD = "head-writer"  # its queue is a pool of the metrics, too
GATHER_SECONDS = 0.010  # longest delay of a commit for profiles that are being decoded


_Arrival = tuple[NewProfile, UploadFuture]


class Writer:
    """Thread that inserts queued profiles in batches until it is stopped."""

    def __init__(
        self, insert: Callable[[Sequence[NewProfile]], list[InsertOutcome]] = insert_once
    ) -> None:
        self._insert = insert
        self._arrivals: deque[_Arrival] = deque()
        self._wake = threading.Condition()
        self._is_stopping = False
        self._expected: set[UploadFuture] = set()  # profiles that are being decoded
        self._is_gathering = False  # the thread waits for what is expected
        self._waits = WAIT_SECONDS.labels(_THREAD)
        QUEUED_JOBS.labels(_THREAD).set_function(lambda: len(self._arrivals))
        self._thread = threading.Thread(target=self._run, name=_THREAD, daemon=True)
        self._thread.start()

    def expect(self, future: UploadFuture) -> None:
        """Let the next commit wait for a profile until it is entered or withdrawn."""
        with self._wake:
            self._expected.add(future)

    def withdraw(self, future: UploadFuture) -> None:
        """Take back `expect`; no effect on a profile that was entered, or is not expected."""
        with self._wake:
            if future in self._expected:
                self._expected.remove(future)
                if self._is_gathering:
                    self._notify()

    def enter(self, new: NewProfile, future: UploadFuture) -> None:
        """Queue a profile, from any thread.

        Raise StoreUnavailable if MAX_WAITING profiles are queued or the writer is stopping.
        """
        with self._wake:
            self._expected.discard(future)
            if self._is_stopping:
                raise StoreUnavailable("The server is stopping.")
            if len(self._arrivals) >= MAX_WAITING:
                raise StoreUnavailable(
                    f"{MAX_WAITING:,} profiles are waiting to be stored, which is the limit."
                )
            future.queued_at = time.monotonic()
            self._arrivals.append((new, future))
            self._notify()

    def _notify(self) -> None:
        """Wake the thread, but while it gathers only for the last of the expected profiles."""
        if not self._is_gathering or self._has_gathered():
            self._wake.notify()

    def _has_gathered(self) -> bool:
        return not self._expected or len(self._arrivals) >= MAX_BATCH or self._is_stopping

    def stop(self) -> None:
        """Write all queued profiles, then end the thread."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._write(batch)
        finally:
            connection.close()

    def _next_batch(self) -> list[_Arrival]:
        """Wait for profiles and return at most MAX_BATCH; an empty list ends the thread."""
        with self._wake:
            self._wake.wait_for(lambda: self._arrivals or self._is_stopping)
            self._is_gathering = True
            self._wake.wait_for(self._has_gathered, GATHER_SECONDS)
            self._is_gathering = False
            count = min(len(self._arrivals), MAX_BATCH)
            batch = [self._arrivals.popleft() for _ in range(count)]
        now = time.monotonic()
        for _new, future in batch:
            if future.queued_at is not None:
                self._waits.observe(now - future.queued_at)
        return batch

    def _write(self, batch: list[_Arrival]) -> None:
        outcomes: Sequence[bool | Exception]
        try:
            outcomes = self._insert_or_reconnect([new for new, _future in batch])
            disk.note_stored()
        except (DatabaseError, InterfaceError) as error:
            note_failure(
                Dependency.DATABASE, log, "Storing profiles failed; agents retry: %s", error
            )
            connection.close()
            outcomes = [_unavailable(error) for _ in batch]
        except Exception as error:
            log.exception("Storing profiles failed.")
            connection.close()
            outcomes = [StoreUnavailable(f"Storing failed: {error}") for _ in batch]
        complete((future, outcome) for (_new, future), outcome in zip(batch, outcomes, strict=True))

    def _insert_or_reconnect(self, batch: Sequence[NewProfile]) -> list[InsertOutcome]:
        """Insert the batch, again with a new connection if the database has closed this one.

        A check before each commit would cost a round trip. Repeating the insert is harmless: if the
        first one was committed, its profiles are found.
        """
        was_open = connection.connection is not None
        try:
            return self._insert(batch)
        except (OperationalError, InterfaceError):
            if not was_open or connection.is_usable():
                raise
            connection.close()
            return self._insert(batch)


def _unavailable(error: Exception) -> Exception:
    """Return DiskFull if the database failed for lack of space, else StoreUnavailable."""
    if is_disk_full(error) or disk.shortage():
        return disk.note_full()
    return StoreUnavailable(f"The database failed: {error}")


_writer: Writer | None = None
_start = threading.Lock()


def expect(future: UploadFuture) -> None:
    """Let the next commit wait for a profile that is being decoded, at most GATHER_SECONDS.

    It has to be passed to `enter` or `withdraw`.
    """
    _get_writer().expect(future)


def withdraw(future: UploadFuture) -> None:
    """Take back `expect` for a profile that will not be entered; otherwise no effect."""
    writer = _writer
    if writer is not None:
        writer.withdraw(future)


def _get_writer() -> Writer:
    """Return the running writer; start one if there is none."""
    global _writer
    with _start:
        if _writer is None:
            _writer = Writer()
        return _writer


def enter(new: NewProfile, future: UploadFuture) -> None:
    """Queue a profile for the head, from any thread, and complete `future` after the commit.

    The result is True for a new profile, False if the same bytes are stored under its name already.
    An error is Conflict (other bytes under this name), Rejected, Unstorable, DiskFull,
    StoreUnavailable, or BlocksUnread, which `wait_until_stored` handles. Raise
    StoreUnavailable if the profile cannot be queued.
    """
    _get_writer().enter(new, future)


async def store(new: NewProfile) -> bool:
    """Store a profile in the head and wait for the commit.

    Return True for a new profile, and False for a repeated one. Raise the errors of `enter`.
    """
    future = UploadFuture()
    enter(new, future)
    return await wait_until_stored(future)


async def wait_until_stored(future: UploadFuture) -> bool:
    """Wait for the commit of a profile that was passed to `enter`, and return as `store` does.

    If the profile may be in blocks whose names are not cached, search them and queue it again.
    """
    while True:
        try:
            return await future.wait()
        except BlocksUnread as unread:
            new, blocks = unread.new, unread.blocks
        copy = await database_pool.run(deduplication.copy_in_blocks, new, blocks)
        if copy is not None:
            return False
        new = replace(new, absent_from=new.absent_from | blocks.keys())
        future = UploadFuture()
        enter(new, future)


async def stop() -> None:
    """Write all queued profiles and end the thread; a later `enter` or `store` starts another."""
    global _writer
    with _start:
        writer, _writer = _writer, None
    if writer is not None:
        await asyncio.to_thread(writer.stop)
