"""Django without threads: what serves the addresses of the APIs.

Django's own ASGIHandler opens a ThreadSensitiveContext for each request; sync signal receivers,
sync middleware and the closing of responses each start a thread in it, and a held request keeps
it. This one runs the view and nothing else: views here are asynchronous, and their SQL goes to a
pool of its own, which looks after its connections.
"""

from collections.abc import Callable, Coroutine
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpRequest, HttpResponse

from common.disconnect import unless_disconnected
from common.request_body import Disconnected
from endpoints import bodies
from endpoints.asgi_types import Receive, Scope, Send, headers_of
from endpoints.error_responses import reject
from endpoints.errors import BadRequest
from endpoints.unread_body import Incoming

# A handshake has some hundred bytes; its labels may have a thousand.
MAX_BODY_BYTES = 64 * 2**10
_LIMIT = "This address"


class LeanHandler(ASGIHandler):
    """For the addresses of one module of URLs."""

    _get_response_async: Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]

    def __init__(self, urlconf: str) -> None:
        super().__init__()
        self._urlconf = urlconf

    def load_middleware(self, is_async: bool = False) -> None:
        self._view_middleware: list[object] = []
        self._template_response_middleware: list[object] = []
        self._exception_middleware: list[object] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = Incoming(receive)
        try:
            response = await self._respond(scope, incoming)
        except Disconnected:
            return
        response["Content-Length"] = str(len(response.content))
        await self.send_response(response, incoming.answering(send))

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponse:
        try:
            body = await bodies.read(receive, _LIMIT, MAX_BODY_BYTES)
            body = bodies.decoded(body, headers_of(scope), _LIMIT, MAX_BODY_BYTES)
            request = _request(scope, body)
            request.urlconf = self._urlconf
            return await unless_disconnected(self._get_response_async(request), receive)
        except Disconnected:
            raise
        except Exception as error:
            return reject(error)


def _request(scope: Scope, body: bytes) -> ASGIRequest:
    try:
        return ASGIRequest(scope, BytesIO(body))
    except UnicodeDecodeError:
        raise BadRequest("The address has to be percent-encoded UTF-8.") from None
