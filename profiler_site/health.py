"""Health checks for load balancers: live (the process responds), ready (it can do its work).

Served without Django's handlers: neither check waits for a thread that renders pages or runs
queries.
"""

import asyncio
from collections.abc import Awaitable, Callable

from asgiref.typing import ASGISendCallable, HTTPScope
from django.db import connection
from django.db.utils import DatabaseError

from common.thread_pool import ThreadPool
from profiler_site.text_response import send_text
from profiles.storage import disk

READY_SECONDS = 5.0

CheckResult = tuple[int, str]


async def live() -> CheckResult:
    return 200, "ok"


async def ready() -> CheckResult:
    """Return 200, or 503 with the reason if the database or the disk is not usable.

    A database that does not respond within READY_SECONDS is unusable too. Concurrent requests share
    one check in one thread.
    """
    global _checking
    if _checking is None or _checking.done() or _checking.get_loop() is not _loop():
        _checking = asyncio.ensure_future(_check())
    try:
        async with asyncio.timeout(READY_SECONDS):
            return await asyncio.shield(_checking)
    except TimeoutError:
        return 503, f"The database did not respond within {READY_SECONDS:g} s."


async def _check() -> CheckResult:
    return await _threads.run(_trouble)


def _trouble() -> CheckResult:
    try:
        connection.ensure_connection()
    except DatabaseError:
        return 503, disk.shortage() or "The database is not available."
    finally:
        connection.close()  # the next check has to open a new one
    full = disk.shortage()
    return (503, full) if full else (200, "ready")


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


_checking: "asyncio.Future[CheckResult] | None" = None
_threads = ThreadPool("flamewatch-ready", threads=1)
ADDRESSES: dict[str, Callable[[], Awaitable[CheckResult]]] = {"/ok": live, "/ready": ready}


async def respond(scope: HTTPScope, send: ASGISendCallable) -> None:
    """Respond to a request for one of ADDRESSES, whatever its method."""
    status, text = await ADDRESSES[scope["path"]]()
    await send_text(send, status, f"{text}\n")
