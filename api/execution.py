"""Run a query of the API within its deadline and its project's concurrency limits."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings

from endpoints.errors import QueryTooSlow
from profiles.query import DeadlinePassed, QueryContext, run_query
from projects.credentials.authentication import Access

T = TypeVar("T")


async def execute(access: Access, work: Callable[[QueryContext], T]) -> T:
    """Return the result of `work`, whose deadline covers the serialization of the result too.

    Raise QueryTooSlow after FLAMEWATCH_QUERY_SECONDS, which include the wait for a thread.
    """
    seconds = settings.QUERY_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return await run_query(
                access.project,
                ("key", access.key),
                work,
                project_id=access.project_id,
                deadline=time.monotonic() + seconds,
            )
    except (TimeoutError, DeadlinePassed) as late:
        raise QueryTooSlow(seconds, str(late)) from None
