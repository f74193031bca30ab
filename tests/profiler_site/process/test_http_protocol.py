"""Deadline for the head of a request on a connection."""

import asyncio
import contextlib
import time
import urllib.request
from collections.abc import Iterator

import pytest

from profiler_site.process import http_protocol
from tests.ingest.real_server import Connection, live_server

pytestmark = [pytest.mark.server, pytest.mark.django_db(transaction=True)]
HALF = b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
SECONDS = 2.0  # deadline for a request head in these tests
CONNECTIONS = 2000


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", SECONDS)
    with live_server() as port:
        yield port


async def _gone(connection: Connection) -> float:
    """Return the time at which the server closed the connection."""
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(connection.reader.read(), 60) == b""
    return time.monotonic()


async def _ok_seconds(port: int) -> float:
    began = time.monotonic()
    text = await asyncio.to_thread(
        lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/ok", timeout=30).read()
    )
    assert text == b"ok\n"
    return time.monotonic() - began


async def test_thousands_of_half_heads_are_closed_and_meanwhile_ok_responds(port: int) -> None:
    half = [await Connection.open(port) for _ in range(CONNECTIONS)]
    for connection in half:
        connection.writer.write(HALF)
    assert await _ok_seconds(port) < 5
    last = time.monotonic()
    closed = await asyncio.gather(*map(_gone, half))
    assert max(closed) - last < SECONDS + 10  # a loaded machine closes later
    assert await _ok_seconds(port) < 5
    for connection in half:
        connection.close()


async def test_bytes_now_and_then_do_not_put_the_deadline_off(port: int) -> None:
    connection, began = await Connection.open(port), time.monotonic()
    connection.writer.write(HALF)
    closing = asyncio.create_task(_gone(connection))
    while not closing.done():
        connection.writer.write(b"x")
        await asyncio.sleep(0.1)
    assert SECONDS - 0.5 < await closing - began < SECONDS + 10
    connection.close()


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"G"])
async def test_a_connection_that_asks_nothing_is_closed(port: int, sent: bytes) -> None:
    connection = await Connection.open(port)
    connection.writer.write(sent)
    await _gone(connection)
    connection.close()


async def test_a_reused_connection_has_the_same_deadline_for_its_next_head(port: int) -> None:
    connection = await Connection.open(port)
    for _ in range(2):
        await connection.send("GET", "/ok", {})
        assert await connection.read_response() == (200, b"ok\n")
    began = time.monotonic()
    connection.writer.write(HALF)
    assert SECONDS - 0.5 < await _gone(connection) - began < SECONDS + 10
    connection.close()


async def test_an_idle_connection_outlives_the_deadline_of_heads(port: int) -> None:
    connection = await Connection.open(port)
    await connection.send("GET", "/ok", {})
    assert await connection.read_response() == (200, b"ok\n")
    await asyncio.sleep(SECONDS + 0.5)
    await connection.send("GET", "/ok", {})
    assert await connection.read_response() == (200, b"ok\n")
    connection.close()


async def test_a_head_that_does_not_end_is_rejected(port: int) -> None:
    connection = await Connection.open(port)
    connection.writer.write(HALF + b"x" * (http_protocol.HEAD_BYTES + 1))
    status, text = await connection.read_response()
    assert status == 431
    assert b"65,536 bytes" in text
    connection.close()
