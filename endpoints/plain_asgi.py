"""Plain ASGI endpoints, which do without Django: responses, and requests that no endpoint takes."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.urls import Resolver404, resolve

from common.asgi import Receive, Scope, Send, get_headers
from common.client_address import client_address, is_loopback
from endpoints.error_responses import error_response
from endpoints.errors import PlainHttp, UnknownPath

# Bounds on what is read and discarded of a request after its error response.
MAX_DISCARD_SECONDS = 10.0
MAX_DISCARD_BYTES = 2**30


async def send_response(send: Send, status: int, headers: Mapping[str, str], body: bytes) -> None:
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    fields.append((b"Content-Length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: Exception) -> None:
    """Send the error response for an exception."""
    rejection = error_response(error)
    await send_response(send, rejection.status, rejection.headers, rejection.body)


class IncomingRequest:
    """ASGI `receive` that records whether the last message of the request was received.

    It delivers error responses to clients that have not finished sending: the kernel resets a
    connection that is closed with unread bytes, and the client loses the response. So the response
    is sent at once, but ended only after the rest of the request was read and discarded, within
    MAX_DISCARD_SECONDS and MAX_DISCARD_BYTES.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._has_ended = False

    async def __call__(self) -> Mapping[str, Any]:
        message = await self._receive()
        self._has_ended = not message.get("more_body", False)
        return message

    def delay_end(self, send: Send) -> Send:
        """Return a `send` whose response ends only after the request has ended."""

        async def finish(message: Mapping[str, Any]) -> None:
            is_end = message["type"] == "http.response.body" and not message.get("more_body")
            if self._has_ended or not is_end:
                return await send(message)
            await send({**message, "more_body": True})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(MAX_DISCARD_SECONDS):
                    await self._discard()
            await send({"type": "http.response.body"})

        return finish

    async def _discard(self) -> None:
        size = 0
        while not self._has_ended and size < MAX_DISCARD_BYTES:
            size += len((await self()).get("body", b""))


def is_plain_http(scope: Scope) -> bool:
    """Return True for plain HTTP from another machine where the server's public URL is https.

    Such a request carries its API key unencrypted. A redirect, as for pages, would not help:
    programs would follow it, and send the key unencrypted again with each request. `scope` is the
    one behind the proxies.
    """
    is_unencrypted = settings.BEHIND_TLS and scope["scheme"] != "https"
    return is_unencrypted and not is_loopback(client_address(scope))


async def reject_plain_http(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 403 (an ASGI application)."""
    request = IncomingRequest(receive)
    await send_error(request.delay_end(send), PlainHttp(settings.FLAMEWATCH_URL))


def is_unknown_to_programs(scope: Scope) -> bool:
    """Return True for an unknown path that no browser requests: those accept HTML.

    A profiling client of another server would get a page of HTML, which it logs without its reason.
    """
    if "text/html" in get_headers(scope).get("accept", ""):
        return False
    return not (_is_known(scope["path"]) or _is_known(scope["path"] + "/"))


def _is_known(path: str) -> bool:
    try:
        resolve(path)
    except Resolver404:
        return False
    return True


async def reject_unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 in JSON (an ASGI application)."""
    await send_error(IncomingRequest(receive).delay_end(send), UnknownPath(scope["path"]))
