"""Concurrency limits of queries, shared by pages and the API.

A few threads run all queries of a process. One project uses at most half of them, and the project
that has used the least thread time lately is served first, so that the long merges of one project
leave threads and memory for the others.
"""

import asyncio
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeVar

from django.conf import settings

from common.database_pool import with_usable_connection
from common.fair_threads import FairThreads, QueueFull
from profiles.queries.context import NO_PROJECT, DeadlinePassed, QueryContext
from profiles.queries.query_record import OTHER, QueryFacts, QueryRecord, QueryStatus
from profiles.queries.query_workers import get_query_limits
from profiles.queries.selection import InvalidQuery
from projects.credentials.allowed_services import ALL_SERVICES, AllowedServices
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

T = TypeVar("T")

LIMITS = get_query_limits(settings.QUERY_WORKERS)
RETRY_SECONDS = 5.0


class TooManyQueriesWaiting(Exception):
    """Rejection of a query because the queue of the project, or of all projects, is full."""

    def __init__(self, full: QueueFull) -> None:
        owner = "of this project " if full.of_tenant else ""
        super().__init__(
            f"{full.limit} queries {owner}are already waiting, which is the limit "
            f"(retry in {RETRY_SECONDS:.0f} s)."
        )
        self.of_project = full.of_tenant
        self.limit = full.limit


async def run_query(
    project: int | None,
    client: Hashable,
    work: Callable[[QueryContext], T],
    *,
    kind: str = OTHER,
    project_id: str = "",
    deadline: float | None = None,
    services: AllowedServices = ALL_SERVICES,
) -> T:
    """Call `work` with its context, in a thread with a database connection, in fair order.

    Queries of one project share its limits; those of a client without a project have the
    client's. Cancellation removes queued work from the queue. Running work ends with
    DeadlinePassed at its next check, and occupies its thread until then. `kind` is a label of
    metrics, one of a bounded number. Raise DeadlinePassed at the deadline, even if the work has not
    ended, and TooManyQueriesWaiting if the queue is full.
    """
    record = QueryRecord(kind, QueryFacts(project_id=project_id))
    context = QueryContext(
        project or NO_PROJECT, project_id, deadline, record=record, services=services
    )
    tenant = client if project is None else ("project", project)
    run = partial(record.run, partial(with_usable_connection, partial(work, context)))
    try:
        future = _threads.submit(tenant, client, run)
    except QueueFull as full:
        rejections.note(
            project,
            RejectionReason.QUERIES_WAITING if full.of_tenant else RejectionReason.SERVER_BUSY,
        )
        record.finish(QueryStatus.REJECTED)
        raise TooManyQueriesWaiting(full) from None
    status = QueryStatus.ERROR
    timeout = asyncio.timeout(None if deadline is None else deadline - time.monotonic())
    try:
        async with timeout:
            result = await asyncio.wrap_future(future)
        status = QueryStatus.OK
        return result
    except DeadlinePassed:
        status = QueryStatus.TIMEOUT
        raise
    except TimeoutError:
        if not timeout.expired():
            raise
        status = QueryStatus.TIMEOUT
        raise DeadlinePassed from None
    except asyncio.CancelledError:
        status = QueryStatus.CANCELLED
        raise
    except InvalidQuery:
        status = QueryStatus.INVALID
        raise
    finally:
        context.cancelled.set()
        record.finish(status)


_threads = FairThreads("flamewatch-query", LIMITS)
