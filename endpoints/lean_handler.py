"""Django handler for the APIs that starts no threads.

Django's own ASGIHandler opens a ThreadSensitiveContext for each request. Synchronous signal
receivers, synchronous middleware and the closing of responses each start a thread in it, and a
parked request would keep that thread. This handler only runs the view: views here are asynchronous,
and their SQL runs in common.database_pool, which manages its own connections.
"""

import contextlib
from collections.abc import Callable, Coroutine
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpRequest, HttpResponse

from common.asgi import Receive, Scope, Send, get_headers
from common.disconnect import unless_disconnected
from common.loop_turns import turns_of_process
from common.request_body import Disconnected
from endpoints import bodies, credentials
from endpoints.error_responses import reject
from endpoints.errors import BadRequest
from endpoints.nul import require_no_nul
from endpoints.plain_asgi import IncomingRequest

# A handshake has a few hundred bytes, and its labels at most a thousand.
MAX_BODY_BYTES = 64 * 2**10
_LIMIT = "This address"


class LeanHandler(ASGIHandler):
    """ASGI application that serves the URLs of one URLconf.

    `respond_to_error` makes the responses to errors outside of the views.
    """

    _get_response_async: Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]

    def __init__(
        self, urlconf: str, respond_to_error: Callable[[Exception], HttpResponse] = reject
    ) -> None:
        super().__init__()
        self._urlconf = urlconf
        self._respond_to_error = respond_to_error

    def load_middleware(self, is_async: bool = False) -> None:
        self._view_middleware: list[object] = []
        self._template_response_middleware: list[object] = []
        self._exception_middleware: list[object] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = IncomingRequest(receive)
        try:
            response = await self._respond(scope, incoming)
        except Disconnected:
            return
        if response.streaming:
            # Without it, a file would be read to its end for a client that has left.
            with contextlib.suppress(Disconnected):
                await unless_disconnected(self.send_response(response, send), incoming)
            return
        response["Content-Length"] = str(len(response.content))
        await self.send_response(response, incoming.delay_end(send))

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponse:
        try:
            headers = get_headers(scope)
            tenant = await credentials.tenant(headers, scope)
            body = await bodies.read(receive, _LIMIT, MAX_BODY_BYTES)
            await turns_of_process.wait(tenant)
            body = bodies.decode_body(body, headers, _LIMIT, MAX_BODY_BYTES)
            request = _request(scope, body)
            request.urlconf = self._urlconf
            return await unless_disconnected(self._get_response_async(request), receive)
        except Disconnected:
            raise
        except Exception as error:
            return self._respond_to_error(error)


def _request(scope: Scope, body: bytes) -> ASGIRequest:
    require_no_nul([("the address", scope["path"])])
    try:
        return ASGIRequest(scope, BytesIO(body))
    except UnicodeDecodeError:
        raise BadRequest("The URL must be percent-encoded UTF-8.") from None
