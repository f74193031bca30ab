"""Health checks for load balancers: live (the process responds), ready (it can do its work).

Served without Django's handlers: neither check waits for a thread that renders pages or runs
queries.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from math import isinf

from asgiref.typing import ASGISendCallable, HTTPScope
from django.db import connection
from django.db.utils import DatabaseError

from common.client_address import is_loopback
from common.thread_pool import ThreadPool
from profiler_site.diagnosis.result import DiagnosisResult, Severity
from profiler_site.diagnosis.service_checks import SERVICE_CHECKS
from profiler_site.operator_access import TOKEN_REQUIRED, is_operator
from profiler_site.text_response import send_text
from profiles.storage import disk

READY_SECONDS = 5.0
RECENT_SECONDS = 5.0  # for which the outcome of a check of `/ready?verbose` is not checked again
FORWARDING_HEADERS = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-proto", b"x-real-ip"}
)

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


async def respond_verbosely(scope: HTTPScope, send: ASGISendCallable) -> None:
    """Respond with the status of /ready, and one line for each service that the server uses.

    Only for holders of FLAMEWATCH_METRICS_TOKEN and programs on this machine; 401 for others.
    """
    if not (is_operator(scope) or _is_local(scope)):
        await send_text(send, 401, TOKEN_REQUIRED)
        return
    status, text = await ready()
    # A recent success must not contradict the reason above it.
    results = await service_results(are_recent_used=status == 200)
    await send_text(send, status, f"{text}\n\n{format_results(results)}")


async def service_results(*, are_recent_used: bool = True) -> list[DiagnosisResult]:
    """Return the outcomes of all checks of services.

    With `are_recent_used` each may be up to RECENT_SECONDS old.

    A check that does not end within READY_SECONDS is reported as failed, and goes on in its thread:
    it is not started again before it ends.
    """
    checks = (_checks[name].result(is_recent_used=are_recent_used) for name in SERVICE_CHECKS)
    return list(await asyncio.gather(*checks))


def format_results(results: Sequence[DiagnosisResult]) -> str:
    return "".join(
        f"{each.severity:8} {each.name:11} {_age_text(each.age):22} {each.text}\n"
        for each in results
    )


def _age_text(age: float | None) -> str:
    return "not seen working" if age is None else f"worked {age:,.0f} s ago"


class _RepeatedCheck:
    """Check of one service, which concurrent and frequent requests share."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._threads = ThreadPool(f"flamewatch-check-{name.replace(' ', '-')}", threads=1)
        self._running: asyncio.Future[DiagnosisResult] | None = None
        self._ended_at = self._worked_at = float("-inf")

    async def result(self, *, is_recent_used: bool) -> DiagnosisResult:
        running = self._running
        is_usable = running is not None and running.get_loop() is _loop()
        is_recent = is_recent_used and time.monotonic() - self._ended_at < RECENT_SECONDS
        if running is None or not is_usable or (running.done() and not is_recent):
            running = asyncio.ensure_future(self._threads.run(SERVICE_CHECKS[self._name]))
            running.add_done_callback(self._note_end)
            self._running = running
        try:
            async with asyncio.timeout(READY_SECONDS):
                found = await asyncio.shield(running)
        except TimeoutError:
            text = f"It has not responded for {READY_SECONDS:g} s."
            found = DiagnosisResult(self._name, Severity.FAILED, text)
        return replace(found, age=self._age(found))

    def _note_end(self, ended: "asyncio.Future[DiagnosisResult]") -> None:
        self._ended_at = time.monotonic()
        if not ended.cancelled() and ended.exception() is None and ended.result().is_ok:
            self._worked_at = self._ended_at

    def _age(self, found: DiagnosisResult) -> float | None:
        """Return the seconds since the service worked: as it says, or since its last check."""
        if found.age:
            return found.age
        age = time.monotonic() - self._worked_at
        return None if isinf(age) else age


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


def _is_local(scope: HTTPScope) -> bool:
    """Return True for a program on this machine; a proxy there forwards requests of others."""
    client = scope.get("client")
    is_forwarded = any(name in FORWARDING_HEADERS for name, _value in scope["headers"])
    return client is not None and is_loopback(str(client[0])) and not is_forwarded


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


_checking: "asyncio.Future[CheckResult] | None" = None
_threads = ThreadPool("flamewatch-ready", threads=1)
_checks = {name: _RepeatedCheck(name) for name in SERVICE_CHECKS}
ADDRESSES: dict[str, Callable[[], Awaitable[CheckResult]]] = {"/ok": live, "/ready": ready}


async def respond(scope: HTTPScope, send: ASGISendCallable) -> None:
    """Respond to a request for one of ADDRESSES, whatever its method."""
    if scope["path"] == "/ready" and b"verbose" in scope.get("query_string", b"").split(b"&"):
        await respond_verbosely(scope, send)
        return
    status, text = await ADDRESSES[scope["path"]]()
    await send_text(send, status, f"{text}\n")
