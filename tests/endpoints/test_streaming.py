"""Long responses of the API: sent part by part, and no further once the client has left."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path

from endpoints.lean_handler import LeanHandler

made: list[int] = []


async def stream(_request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(make_parts())


async def make_parts() -> AsyncIterator[bytes]:
    for number in range(10_000):
        made.append(number)
        await asyncio.sleep(0)
        yield b"part"


urlpatterns = [path("stream", stream)]


async def test_no_further_part_is_made_for_a_client_that_has_left() -> None:
    sent: list[Mapping[str, Any]] = []
    has_left = asyncio.Event()
    body = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, Any]:
        if (message := next(body, None)) is not None:
            return message
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)
        if len(sent) == 4:
            has_left.set()

    scope = {
        **{"type": "http", "method": "GET", "path": "/stream", "query_string": b""},
        **{"headers": [], "scheme": "http", "client": ("127.0.0.1", 1), "http_version": "1.1"},
    }
    await LeanHandler(__name__)(scope, receive, send)
    assert sent[0]["status"] == 200
    assert [message["body"] for message in sent[1:4]] == [b"part"] * 3
    assert len(made) < 100
