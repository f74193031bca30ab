"""Serve static files without Django's pages and their threads."""

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
    return HttpResponse("There is no such file.\n", "text/plain; charset=utf-8", status=404)


class StaticHandler(ASGIHandler):
    """An ASGI application for the addresses under STATIC_URL; files are read by asyncio's threads,
    of which there is a bounded number."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self._files = ServeStaticMiddleware(_nothing)
        self._security = SecurityMiddleware(lambda request: HttpResponse())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            request = ASGIRequest(scope, BytesIO())
        except UnicodeDecodeError:
            response: Any = HttpResponse(status=400)
        else:
            response = await self._files(request)
            self._security.process_response(request, response)
        await self.send_response(response, send)
