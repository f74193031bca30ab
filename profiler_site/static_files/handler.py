"""Serve static files without the middleware and threads of Django's pages."""

from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from servestatic.middleware import ServeStaticMiddleware

PREFIX = f"/{settings.STATIC_URL.strip('/')}/"


async def _nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse("File not found.\n", "text/plain; charset=utf-8", status=404)


class StaticHandler(ASGIHandler):
    """ASGI application for the paths under STATIC_URL.

    Files are read in asyncio's default thread pool, which is bounded.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self._files = ServeStaticMiddleware(_nothing)
        self._security = SecurityMiddleware(lambda request: HttpResponse())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            request = ASGIRequest(scope, BytesIO())
        except UnicodeDecodeError:
            request = None
        if request is None or "\0" in request.path:
            response: Any = HttpResponse(status=400)
        else:
            response = await self._files(request)
            self._security.process_response(request, response)
        await self.send_response(response, send)
