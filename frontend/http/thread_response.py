"""Response that a thread makes and the event loop sends, part by part if it is streaming."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

from django.http import HttpResponseBase, StreamingHttpResponse


class ThreadResponse:
    """Handover of a response from a thread to the event loop on which this object was made.

    The parts wait in memory for a slow client, so that the thread is free once it has made them.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = asyncio.Event()
        self._response: asyncio.Future[HttpResponseBase] = self._loop.create_future()
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()

    # -- In the thread

    def start(self) -> None:
        """Note that the work on the request has begun."""
        self._call(self._started.set)

    def write(self, response: HttpResponseBase) -> None:
        """Hand over a response and, if it is streaming, its parts as they are made; close it."""
        if not response.streaming:
            response.close()
            self._call(self._set_response, response)
            return
        self._call(self._set_response, _copy_head(response))
        try:
            for part in cast("Iterable[bytes]", response):
                self._call(self._parts.put_nowait, part)
        finally:
            self._call(self._parts.put_nowait, None)
            response.close()

    def _call(self, function: Any, *arguments: object) -> None:
        self._loop.call_soon_threadsafe(function, *arguments)

    # -- On the event loop

    def _set_response(self, response: HttpResponseBase) -> None:
        if not self._response.done():  # it is cancelled if the client is gone
            self._response.set_result(response)

    async def has_started(self, working: "asyncio.Future[None]", seconds: float) -> bool:
        """Wait until the work has begun or ended; return False if neither happens in time."""
        started = asyncio.ensure_future(self._started.wait())
        try:
            ends: set[asyncio.Future[Any]] = {working, started}
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return working.done() or self._started.is_set()
        finally:
            started.cancel()

    async def response(self, working: "asyncio.Future[None]") -> HttpResponseBase:
        """Return the response; raise the error of the work if it ended without one."""
        ends: set[asyncio.Future[Any]] = {working, self._response}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not self._response.done():
            await working
        response = await self._response
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = self._read(working)
        return response

    async def _read(self, working: "asyncio.Future[None]") -> AsyncIterator[bytes]:
        """Yield the parts. Raise the error of work that failed, so that the response is cut off."""
        while (part := await self._parts.get()) is not None:
            yield part
        await working


def _copy_head(response: HttpResponseBase) -> StreamingHttpResponse:
    """Return a response with the same head, whose content the event loop sets."""
    copy = StreamingHttpResponse(status=response.status_code, headers=response.headers)
    copy.cookies = response.cookies
    return copy
