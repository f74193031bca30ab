"""Blocking work for asynchronous code: named threads, and a bound on what waits for them.

Not `sync_to_async`: its thread-sensitive mode would queue every query of the process behind one
thread, and its other mode has no bound.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
MOST_WAITING = 10_000


class DatabasePoolFull(Exception):
    """More waits for the database than this process keeps: try again later (503)."""


class DatabasePool:
    """A few threads whose work may use the database; used from any event loop."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], R]) -> "Future[R]":
        """Put the work in the queue. Raises TooBusy."""
        self._take_place()
        future = self._pool.submit(with_fresh_connection, work)
        # Also where it is cancelled before its turn, and never runs.
        future.add_done_callback(self._leave)
        return future

    def _take_place(self) -> None:
        with self._lock:
            if self._waiting >= self._most_waiting:
                most = self._most_waiting
                raise DatabasePoolFull(
                    f"{most} queries wait for the database already. Try again later."
                )
            self._waiting += 1

    def _leave(self, _future: "Future[R]") -> None:
        with self._lock:
            self._waiting -= 1


async def run(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that uses the database in one of the pool's threads.

    Once it has begun it goes on to its end, also where the one who awaits is cancelled; before
    that it is taken out of the queue. Raises what it raises, and TooBusy.
    """
    return await asyncio.wrap_future(_sql.submit(partial(function, *args, **kwargs)))


def with_fresh_connection(work: Callable[[], R]) -> R:
    """Call `work` with a database connection that is usable.

    Threads outlive requests: a connection that broke must not be kept for the next query."""
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()


_sql = DatabasePool("flamewatch-sql", THREADS, MOST_WAITING)
