"""Concurrency limits of queries, the same for pages and for the API.

A few threads answer all queries of a process. A project has half of them at most, and projects
and their clients take turns: long merges of one leave threads for the others, and as much memory.
"""

import asyncio
from collections.abc import Callable, Hashable
from threading import Event
from typing import TypeVar

from common.database_pool import with_fresh_connection
from common.fair_threads import FairLimits, FairThreads, QueueFull
from profiles.queries.selection import cancelled_when

T = TypeVar("T")

LIMITS = FairLimits(
    threads=4,
    running_of_tenant=2,
    running_of_client=1,  # a person's or key's next query waits, their colleagues' need not
    waiting_of_tenant=64,
    waiting=512,
)
RETRY_SECONDS = 5.0


class TooManyQueriesWaiting(Exception):
    """Rejected at once: as many queries wait for a thread as may."""

    def __init__(self, full: QueueFull) -> None:
        of = "of this project " if full.of_tenant else ""
        super().__init__(
            f"{full.limit} queries {of}are waiting to be answered already, as many as may; "
            f"ask again in some seconds."
        )
        self.of_project = full.of_tenant
        self.limit = full.limit


async def run_query(tenant: Hashable, client: Hashable, work: Callable[[], T]) -> T:
    """Call `work`, which may use the database, in a thread when it is the tenant's turn.

    Cancelled while it waits, it leaves the queue; later, it ends at its next checkpoint with
    DeadlinePassed, and holds its thread until then. Raise TooManyQueriesWaiting.
    """
    gone = Event()

    def until_gone() -> T:
        with cancelled_when(gone):
            return with_fresh_connection(work)

    try:
        future = _threads.submit(tenant, client, until_gone)
    except QueueFull as full:
        raise TooManyQueriesWaiting(full) from None
    try:
        return await asyncio.wrap_future(future)
    finally:
        gone.set()


_threads = FairThreads("flamewatch-query", LIMITS)
