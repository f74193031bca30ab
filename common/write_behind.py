"""Write-behind buffers for small facts such as last-seen times and counts.

Facts are written to the database in batches, every PERIOD_SECONDS. A crash loses the buffered
facts, none of which was acknowledged as durable.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from django.db import Error

from common import database_pool
from common.outages import Dependency, note_failure

K = TypeVar("K")
V = TypeVar("V")

PERIOD_SECONDS = 5.0
MAX_KEYS = 100_000
_ROWS_A_STATEMENT = 500

logger = logging.getLogger(__name__)
_batches: "list[WriteBehindBuffer[object, object]]" = []
_writer: asyncio.Task[None] | None = None
_one_at_a_time = threading.Lock()


class WriteBehindBuffer(Generic[K, V]):
    """Thread-safe buffer of facts by key; `write` stores them, `join(older, newer)` merges two.

    It is bounded: beyond MAX_KEYS keys, for example while the database is unreachable, facts
    about new keys are dropped.
    """

    def __init__(self, write: Callable[[dict[K, V]], None], join: Callable[[V, V], V]) -> None:
        self._write, self._join = write, join
        self._facts: dict[K, V] = {}
        self._lock = threading.Lock()
        _batches.append(self)  # type: ignore[arg-type]

    def note(self, key: K, fact: V) -> None:
        """Add a fact, merged with the buffered fact of the same key."""
        with self._lock:
            older = self._facts.get(key)
            if older is not None:
                self._facts[key] = self._join(older, fact)
            elif len(self._facts) < MAX_KEYS:
                self._facts[key] = fact

    def peek(self, key: K) -> V | None:
        """Return the buffered fact of a key, or None."""
        return self._facts.get(key)

    def clear(self) -> None:
        with self._lock:
            self._facts = {}

    def write(self) -> None:
        """Write all buffered facts. If the database fails, keep them and raise its error."""
        with self._lock:
            facts, self._facts = self._facts, {}
        if not facts:
            return
        try:
            self._write(facts)
        except Error:
            self._put_back(facts)
            raise

    def _put_back(self, facts: dict[K, V]) -> None:
        with self._lock:
            for key, newer in self._facts.items():
                facts[key] = self._join(facts[key], newer) if key in facts else newer
            self._facts = facts


def write_now() -> None:
    """Write all buffers of this process. Blocking.

    If writes fail, keep those facts, try the other buffers, then raise the first error.
    """
    failed: Error | None = None
    with _one_at_a_time:
        for batch in _batches:
            try:
                batch.write()
            except Error as error:
                failed = failed or error
    if failed:
        raise failed


def split_batches(pks: Iterable[int]) -> Iterator[list[int]]:
    """Yield the keys in lists of at most 500, one for each SQL statement.

    The keys are sorted, so that two processes lock the rows in the same order.
    """
    ordered = sorted(pks)
    for start_at in range(0, len(ordered), _ROWS_A_STATEMENT):
        yield ordered[start_at : start_at + _ROWS_A_STATEMENT]


async def flush() -> None:
    """Write all buffers in a thread of database_pool. Raise as `write_now` and `run` do."""
    await database_pool.run(write_now)


async def start() -> None:
    """Start the task that writes every PERIOD_SECONDS on the running event loop."""
    global _writer
    if _writer is None or _writer.done():
        _writer = asyncio.get_running_loop().create_task(_write_for_ever())


async def stop() -> None:
    """Stop the task and write all buffers; a failure is logged."""
    global _writer
    if _writer is not None:
        _writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await _writer
        _writer = None
    await _flush_or_log()


async def _write_for_ever() -> None:
    while True:
        await asyncio.sleep(PERIOD_SECONDS)
        await _flush_or_log()


async def _flush_or_log() -> None:
    try:
        await flush()
    except (Error, database_pool.DatabasePoolFull) as error:
        note_failure(
            Dependency.DATABASE,
            logger,
            "Buffered counters and last-seen times could not be written; retrying: %s",
            error,
        )


def clear_all() -> None:
    """Drop all facts, for tests that replace the database."""
    for batch in _batches:
        batch.clear()
