"""Run a query of the API within its deadline and its project's concurrency limits."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.conf import settings

from endpoints.errors import QueryTooSlow
from profiles.query import DeadlinePassed, query_deadline, run_query
from projects.credentials.authentication import Access

T = TypeVar("T")


async def execute(access: Access, work: Callable[[float], T]) -> T:
    """Return the result of `work`, which gets its deadline as a value of time.monotonic().

    Raise QueryTooSlow after FLAMEWATCH_QUERY_SECONDS, which include the wait for a thread.
    """
    seconds = settings.QUERY_SECONDS
    within = partial(_within, time.monotonic() + seconds, work)
    try:
        async with asyncio.timeout(seconds):
            return await run_query(("project", access.project), ("key", access.key), within)
    except (TimeoutError, DeadlinePassed) as late:
        raise QueryTooSlow(seconds, str(late)) from None


def _within(deadline: float, work: Callable[[float], T]) -> T:
    """Call `work` under the deadline, which covers the serialization of the result too."""
    with query_deadline(deadline):
        return work(deadline)
