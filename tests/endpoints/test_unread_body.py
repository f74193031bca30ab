"""Error responses reach the client even when its request was not read to the end."""

import asyncio
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from endpoints import plain_asgi
from endpoints.plain_asgi import IncomingRequest
from tests.ingest.real_server import live_server

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]

BODY = b"x" * 40_000_000  # more than the limit of an upload and the socket buffers together
UPLOAD = "PATCH /v2/projects/acme/profiles/name"
HANDSHAKE = "POST /v2/projects/acme/profiles"


def send(port: int, request: str, *headers: str) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    fields = ["Host: 127.0.0.1", f"Content-Length: {len(BODY)}", "Connection: close", *headers]
    head = "\r\n".join([f"{request} HTTP/1.1", *fields, "", ""])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.encode() + BODY)
        with connection.makefile("rb") as response:
            return response.read()


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (UPLOAD, b"404"),
        (HANDSHAKE, b"413"),
    ],
)
def test_a_response_is_sent_before_the_connection_is_closed(
    request_line: str, status: bytes
) -> None:
    with live_server() as port:
        head, _, body = send(port, request_line).partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert body.endswith(b"}")


class Exchange:
    """ASGI request of these chunks that never ends, with a record of the response."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = list(chunks)
        self.sent: list[Mapping[str, Any]] = []

    async def receive(self) -> Mapping[str, Any]:
        if not self.chunks:
            await asyncio.get_running_loop().create_future()
        return {"type": "http.request", "body": self.chunks.pop(0), "more_body": True}

    async def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)

    async def respond(self) -> None:
        send = IncomingRequest(self.receive).delay_end(self.send)
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b"too large"})


def test_the_response_is_sent_before_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_asgi, "MAX_DISCARD_SECONDS", 0.01)
    exchange = Exchange(b"x")
    asyncio.run(exchange.respond())
    assert [message.get("body") for message in exchange.sent] == [None, b"too large", None]
    assert [message.get("more_body", False) for message in exchange.sent] == [False, True, False]


def test_unread_body_is_discarded_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_asgi, "MAX_DISCARD_BYTES", 100)
    exchange = Exchange(b"x" * 60, b"x" * 60, b"x" * 60)
    asyncio.run(exchange.respond())
    assert len(exchange.chunks) == 1
