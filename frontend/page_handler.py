"""ASGI handler for Django pages on a bounded number of threads, shared fairly.

Django's own ASGIHandler starts a thread for each request. Here pages that query profiles share the
threads of all queries (profiles.query.run_query); other pages have a small pool of their own, so
that signing in never waits for another user's flame graph.
"""

import asyncio
from concurrent.futures import Future
from http import HTTPStatus
from io import BytesIO
from typing import Any

from django.core import signals
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.urls import set_script_prefix

from common.disconnect import unless_disconnected
from common.fair_threads import FairLimits, FairThreads, QueueFull
from common.loop_turns import turns_of_process
from common.request_body import Disconnected, TooLong, TooSlow, read_body
from frontend import page_concurrency
from frontend.fragments import text_error
from frontend.page_client import PageClient, page_client
from profiles.query import QueryContext, TooManyQueriesWaiting, run_query
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
_light_pages = FairThreads("flamewatch-page", LIGHT_PAGES)


class PageRequest(ASGIRequest):
    """Request of a page; those on the threads of queries have the context of their queries."""

    query_context: QueryContext | None = None


class PageHandler(ASGIHandler):
    """ASGI application for all URLs of Django except those of the APIs."""

    request_class = PageRequest

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await read_body(receive, MAX_BODY_BYTES)
            response = await unless_disconnected(self._respond(scope, body), receive)
        except Disconnected:
            return
        except TooLong:
            text = f"Request body too large: the limit is {MAX_BODY_BYTES:,} bytes.\n"
            response = text_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        except TooSlow as late:
            response = text_error(HTTPStatus.REQUEST_TIMEOUT, f"{late}\n")
        await self.send_response(response, send)

    async def _respond(self, scope: Any, body: bytes) -> HttpResponse:
        whose = await page_client(scope)
        await turns_of_process.wait(whose.tenant)
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def in_thread(context: QueryContext | None = None) -> HttpResponse:
            loop.call_soon_threadsafe(started.set)
            return self._in_thread(scope, body, context)

        working = asyncio.ensure_future(_in_fair_thread(whose, in_thread))
        waiting = asyncio.ensure_future(started.wait())
        try:
            await asyncio.wait(
                {working, waiting}, timeout=WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if not working.done() and not started.is_set():
                return page_concurrency.waited_too_long(scope, WAIT_SECONDS)
            return await working
        except QueueFull as full:
            return page_concurrency.too_many_requests(scope, full.of_tenant, full.limit)
        finally:
            waiting.cancel()
            working.cancel()
            await asyncio.gather(waiting, working, return_exceptions=True)

    def _in_thread(self, scope: Any, body: bytes, context: QueryContext | None) -> HttpResponse:
        """Process a request in one thread, with that thread's database connection."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, error = self.create_request(scope, BytesIO(body))
        if isinstance(request, PageRequest):
            request.query_context = context
        response: Any = error if request is None else self.get_response(request)
        try:
            return _whole(response)
        finally:
            # sends request_finished, on which Django closes stale database connections
            response.close()


async def _in_fair_thread(whose: PageClient, work: Any) -> HttpResponse:
    response: HttpResponse
    if not whose.is_query:
        future = _submit_light_page(whose, work)
        response = await asyncio.wrap_future(future)
        return response
    try:
        response = await run_query(whose.project, whose.client, work)
    except TooManyQueriesWaiting as waiting:
        raise QueueFull(waiting.of_project, waiting.limit) from None
    return response


def _submit_light_page(whose: PageClient, work: Any) -> "Future[HttpResponse]":
    try:
        return _light_pages.submit(whose.tenant, whose.client, work)
    except QueueFull as full:
        reason = RejectionReason.PAGES_WAITING if full.of_tenant else RejectionReason.SERVER_BUSY
        rejections.note(whose.project, reason)
        raise


def _whole(response: Any) -> HttpResponse:
    """Read a streaming response into memory: there is no thread left when it is sent."""
    if isinstance(response, HttpResponse):
        return response
    whole = HttpResponse(b"".join(response), status=response.status_code, headers=response.headers)
    whole.cookies = response.cookies
    return whole
