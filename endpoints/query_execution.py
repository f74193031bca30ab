"""Admit and run queries of programs within the limits of their project, whichever key they use."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.utils import timezone

from common.minute_counter import counter
from endpoints.download_audit import record_download
from endpoints.errors import QueryTooSlow, TooManyQueries
from profiles.query import DeadlinePassed, QueryContext, run_query
from projects.audit import NO_CLIENT, Origin
from projects.credentials.allowed_services import ServiceNotAllowed
from projects.credentials.authentication import Access
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

T = TypeVar("T")


async def admit_query(access: Access) -> None:
    """Count one query of the key's project.

    Raise TooManyQueries above FLAMEWATCH_QUERIES_PER_MINUTE.
    """
    minute, seconds = divmod(timezone.now().timestamp(), 60)
    allowed = settings.QUERIES_PER_MINUTE
    if not await counter("queries").increment(access.project, int(minute), allowed):
        rejections.note(access.project, RejectionReason.QUERIES_PER_MINUTE)
        raise TooManyQueries(allowed, 60 - seconds)


async def execute(
    access: Access,
    work: Callable[[QueryContext], T],
    *,
    kind: str = "other",
    origin: Origin = NO_CLIENT,
) -> T:
    """Return the result of `work`, whose deadline covers the serialization of the result too.

    The query shares the threads and the queue of its project with pages. Raise QueryTooSlow after
    FLAMEWATCH_QUERY_SECONDS, which include the wait for a thread. `kind` is a label of metrics, one
    of a bounded number. Downloads are written to the audit log.
    """

    def run(context: QueryContext) -> T:
        result = work(context)
        record_download(context, origin, user=access.user, key=access.prefix)
        return result

    seconds = settings.QUERY_SECONDS
    try:
        return await run_query(
            access.project,
            ("user", access.user) if access.user is not None else ("key", access.key),
            run,
            kind=kind,
            project_id=access.project_id,
            deadline=time.monotonic() + seconds,
            services=access.services,
        )
    except ServiceNotAllowed:
        rejections.note(access.project, RejectionReason.KEY_SERVICES)
        raise
    except DeadlinePassed as late:
        raise QueryTooSlow(seconds, str(late)) from None
