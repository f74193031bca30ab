"""ASGI handler for Django pages on a bounded number of threads, shared fairly.

Django's own ASGIHandler starts a thread for each request. Here pages that query profiles share the
threads of all queries (profiles.query.run_query); other pages have a small pool of their own, so
that signing in never waits for another user's flame graph. The parts of a streaming response are
sent while the thread still makes the next ones.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import cache, partial
from http import HTTPStatus
from io import BytesIO
from typing import Any, TypeVar

from django.core import signals
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase
from django.urls import Resolver404, resolve, set_script_prefix

from common.asgi import Scope
from common.client_address import client_address
from common.database_pool import DatabasePoolFull
from common.disconnect import unless_disconnected
from common.fair_threads import FairLimits, FairThreads, QueueFull
from common.loop_turns import turns_of_process
from common.request_body import Disconnected, TooLong, TooSlow, read_body
from common.worker_processes.workers import JobCrashed, JobFailed, WorkerLost
from endpoints.download_audit import record_download
from frontend.http.busy_pages import (
    DATABASE_ERRORS,
    database_outage_page,
    deadline_page,
    invalid_query_page,
    queue_full_page,
    queue_timeout_page,
    worker_failure_page,
)
from frontend.http.fragments import text_error
from frontend.http.page_client import PageClient, page_client
from frontend.http.thread_response import Part, ResponseHead, ThreadResponse, send_parts
from profiles.query import (
    DeadlinePassed,
    InvalidQuery,
    QueryContext,
    QueryJob,
    QueryStatus,
    TooManyQueriesWaiting,
    run_query,
)
from projects.audit import Origin
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

# Ample for forms, which are a few kB long.
MAX_BODY_BYTES = 2**20
WAIT_SECONDS = 20.0  # in the queue
LIGHT_PAGES = FairLimits(
    threads=4,
    running_of_tenant=2,
    running_of_client=2,
    waiting_of_tenant=64,
    waiting=512,
)
# What a request is made from; the rest of the scope belongs to the server's process.
_SCOPE = (
    *("type", "http_version", "method", "scheme", "path", "raw_path", "root_path"),
    *("query_string", "headers", "client", "server"),
)
_STATUSES = {4: QueryStatus.INVALID, 5: QueryStatus.ERROR}  # by hundreds of the response's status
T = TypeVar("T")
_light_pages = FairThreads("flamewatch-page", LIGHT_PAGES)


class PageRequest(ASGIRequest):
    """Request of a page; those on the threads of queries have the context of their queries."""

    query_context: QueryContext | None = None
    is_streamed = True  # parts of a streaming response are sent as soon as they are made


class PageHandler(ASGIHandler):
    """ASGI application for all URLs of Django except those of the APIs."""

    request_class = PageRequest

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await read_body(receive, MAX_BODY_BYTES)
            await unless_disconnected(self._respond(scope, body, send), receive)
        except Disconnected:
            return
        except TooLong:
            text = f"Request body too large: the limit is {MAX_BODY_BYTES:,} bytes.\n"
            too_large = text_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
            await self.send_response(too_large, send)
        except TooSlow as late:
            too_late = text_error(HTTPStatus.REQUEST_TIMEOUT, f"{late}\n")
            await self.send_response(too_late, send)

    async def _respond(self, scope: Any, body: bytes, send: Any) -> None:
        try:
            client = await page_client(scope)
        except (*DATABASE_ERRORS, DatabasePoolFull) as error:
            await self.send_response(database_outage_page(scope, error), send)
            return
        await turns_of_process.wait(client.tenant)
        handover = ThreadResponse()
        working = asyncio.ensure_future(_run_in_fair_thread(client, scope, body, handover))
        try:
            begun = await self._begin(scope, handover, working)
            if isinstance(begun, ResponseHead):
                run = partial(_run_light_page, client)
                await _send(begun, handover.content(working, run), send)
            else:
                await self.send_response(begun, send)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _begin(
        self, scope: Any, handover: ThreadResponse, working: "asyncio.Future[None]"
    ) -> ResponseHead | HttpResponseBase:
        """Return the head of the response, or a page that says why there is none."""
        try:
            if not await handover.has_started(working, WAIT_SECONDS):
                return queue_timeout_page(scope, WAIT_SECONDS)
            return await handover.head(working)
        except QueueFull as full:
            return queue_full_page(scope, full.of_tenant, full.limit)
        except DeadlinePassed:
            return deadline_page(scope)
        except InvalidQuery as error:
            return invalid_query_page(scope, str(error))
        except (WorkerLost, JobCrashed, JobFailed) as error:
            return worker_failure_page(scope, error)

    def respond(
        self,
        context: QueryContext | None,
        send: Callable[[Part], None],
        scope: Scope,
        body: bytes,
    ) -> None:
        """Process a request in one thread, with that thread's database connection."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, error = self.create_request(scope, BytesIO(body))
        if isinstance(request, PageRequest):
            request.query_context = context
        response: Any = error if request is None else self.get_response(request)
        if context is not None:
            context.record.facts.status = _STATUSES.get(response.status_code // 100, QueryStatus.OK)
        send_parts(response, send)


def respond_to_page(
    context: QueryContext | None, send: Callable[[Part], None], scope: Scope, body: bytes
) -> None:
    """Respond to a request of a page, also in a worker process."""
    get_page_handler().respond(context, send, scope, body)


@cache
def get_page_handler() -> PageHandler:
    return PageHandler()


async def _send(head: ResponseHead, content: AsyncIterator[bytes], send: Any) -> None:
    headers = [*head.headers]
    await send({"type": "http.response.start", "status": head.status, "headers": headers})
    async for part in content:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _run_in_fair_thread(
    client: PageClient, scope: Scope, body: bytes, handover: ThreadResponse
) -> None:
    passed = {name: scope[name] for name in _SCOPE if name in scope}
    if not client.is_query:

        def respond() -> None:
            handover.start()
            respond_to_page(None, handover.put, passed, body)

        await asyncio.wrap_future(_submit_light_page(client, respond))
        return
    job = QueryJob(respond_to_page, (passed, body), handover.put)
    origin = Origin(client_address(scope))

    def run(context: QueryContext) -> None:
        handover.start()
        if client.needs_server:
            job.run_here(context)
        else:
            job(context)
        if context.record.facts.status is QueryStatus.OK:
            record_download(context, origin, user=client.user)

    try:
        await run_query(client.project, client.key, run, kind=_kind(scope["path"]))
    except TooManyQueriesWaiting as waiting:
        raise QueueFull(waiting.of_project, waiting.limit) from None


async def _run_light_page(client: PageClient, work: Callable[[], bytes | None]) -> bytes | None:
    result: bytes | None = await asyncio.wrap_future(_submit_light_page(client, work))
    return result


def _kind(path: str) -> str:
    """Return the name of the page's URL, a label of metrics."""
    try:
        return resolve(path).url_name or "page"
    except Resolver404:
        return "unknown_page"


def _submit_light_page(client: PageClient, work: Callable[[], T]) -> "Future[T]":
    try:
        return _light_pages.submit(client.tenant, client.key, work)
    except QueueFull as full:
        reason = RejectionReason.PAGES_WAITING if full.of_tenant else RejectionReason.SERVER_BUSY
        rejections.note(client.project, reason)
        raise
