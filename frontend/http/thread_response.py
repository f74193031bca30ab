"""Response that a thread makes, or a worker process, and the event loop sends, part by part."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

from django.db import close_old_connections
from django.http import HttpResponseBase, StreamingHttpResponse


class ResponseHead(NamedTuple):
    status: int
    headers: tuple[tuple[bytes, bytes], ...]


class PulledResponse(StreamingHttpResponse):
    """Long response whose next part is made only when the client has received those before.

    Each part is made by a turn of its own in a thread, without anything that belongs to one, such
    as a database cursor: a slow client costs the memory of one part, and no thread.
    """


Part: TypeAlias = ResponseHead | bytes | PulledResponse  # the head comes first
# Runs a function in a thread, when it is its turn.
Run: TypeAlias = Callable[[Callable[[], bytes | None]], Awaitable[bytes | None]]


def send_parts(response: HttpResponseBase, send: Callable[[Part], None]) -> None:
    """Send the head of a response and its content, each part as soon as it is made; close it.

    Closing sends request_finished, on which Django closes stale database connections. The event
    loop pulls the content of a PulledResponse, and closes it.
    """
    if isinstance(response, PulledResponse):
        send(_head(response))
        send(response)
        return
    try:
        send(_head(response))
        parts = response if response.streaming else [cast("Any", response).content]
        for part in cast("Iterable[bytes]", parts):
            send(part)
    finally:
        response.close()


def _head(response: HttpResponseBase) -> ResponseHead:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    cookies = (cookie.output(header="") for cookie in response.cookies.values())
    headers += [(b"Set-Cookie", text.strip().encode("ascii")) for text in cookies]
    return ResponseHead(response.status_code, (*headers,))


class ThreadResponse:
    """Handover of a response from a thread to the event loop on which this object was made.

    The parts wait in memory for a slow client, so that the thread is free once it has made them.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = asyncio.Event()
        self._parts: asyncio.Queue[Part | None] = asyncio.Queue()

    # -- In the thread

    def start(self) -> None:
        """Note that the work on the request has begun."""
        self._loop.call_soon_threadsafe(self._started.set)

    def put(self, part: Part) -> None:
        self._loop.call_soon_threadsafe(self._parts.put_nowait, part)

    # -- On the event loop

    async def has_started(self, working: "asyncio.Future[None]", seconds: float) -> bool:
        """Wait until the work has begun or ended; return False if neither happens in time."""
        started = asyncio.ensure_future(self._started.wait())
        try:
            ends: set[asyncio.Future[Any]] = {working, started}
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return working.done() or self._started.is_set()
        finally:
            started.cancel()

    async def head(self, working: "asyncio.Future[None]") -> ResponseHead:
        """Return the head; raise the error of the work if it ended without one."""
        working.add_done_callback(lambda _: self._parts.put_nowait(None))
        part = await self._parts.get()
        if part is None:
            await working
        return cast("ResponseHead", part)

    async def content(self, working: "asyncio.Future[None]", run: Run) -> AsyncIterator[bytes]:
        """Yield the parts after the head. Raise the error of work that failed meanwhile."""
        while (part := await self._parts.get()) is not None:
            if isinstance(part, PulledResponse):
                pull = partial(_pull, part, iter(cast("Iterable[bytes]", part)))
                while (pulled := await run(pull)) is not None:
                    yield pulled
            else:
                yield cast("bytes", part)
        await working


def _pull(response: PulledResponse, parts: Iterator[bytes]) -> bytes | None:
    """Return the next part; None after the last one, when the response is closed."""
    close_old_connections()  # as at the beginning of each request: the last part may be long ago
    part = next(parts, None)
    if part is None:
        response.close()
    return part
