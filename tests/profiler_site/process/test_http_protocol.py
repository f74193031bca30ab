"""Deadline for the head of a request, and limits of unauthenticated connections."""

import asyncio
import contextlib
import json
import time
import urllib.request
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from endpoints.error_responses import RETRY_INFO
from profiler_site import health
from profiler_site.process import http_protocol
from profiler_site.process.connection_limits import ConnectionLimits
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.ingest.client import Client
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


# -- unauthenticated connections of one address -------------------------------------------

ALLOWED = 3


@pytest.fixture
def counted_port(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[int]:
    """Serve with ALLOWED unauthenticated connections of an address, this machine's too."""
    settings.MAX_UNAUTHENTICATED_CONNECTIONS = ALLOWED
    monkeypatch.setattr(http_protocol, "LOOPBACK", ())
    monkeypatch.setattr(http_protocol, "connections", ConnectionLimits())
    with live_server() as port:
        yield port


async def _idle(port: int, count: int) -> list[Connection]:
    """Open connections and ask for /ok on each, so that the server has seen them."""
    opened = [await Connection.open(port) for _ in range(count)]
    for connection in opened:
        await connection.send("GET", "/ok", {})
        assert await connection.read_response() == (200, b"ok\n")
    return opened


async def _until_counted(count: int) -> None:
    """Wait until so many connections count: the server learns later that one is closed."""
    while http_protocol.connections._unauthenticated.total() != count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def _close(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()


async def _status(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    connection = await Connection.open(port)
    await connection.send("GET", path, {}, **headers)
    response = await connection.read_response()
    connection.close()
    return response


def test_the_paths_of_health_checks_are_those_that_are_served() -> None:
    assert {path.decode() for path in http_protocol.HEALTH_PATHS} == set(health.ADDRESSES)


async def test_one_connection_too_many_is_503_except_for_health_checks(counted_port: int) -> None:
    before = rejections.totals()[RejectionReason.CONNECTIONS_PER_ADDRESS]
    opened = await _idle(counted_port, ALLOWED)
    status, body = await _status(counted_port, "/v2/projects/-/profiles")
    assert status == 503
    error = json.loads(body)["error"]
    assert "FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS allows 3 connections" in error["message"]
    assert error["details"][0]["@type"] == RETRY_INFO
    for path in ("/ok", "/ready"):
        assert (await _status(counted_port, path))[0] == 200
    assert rejections.totals()[RejectionReason.CONNECTIONS_PER_ADDRESS] == before + 1
    _close(opened)


async def test_a_large_body_on_one_connection_too_many_gets_its_answer(counted_port: int) -> None:
    opened = await _idle(counted_port, ALLOWED)
    late = await Connection.open(counted_port)
    late.writer.write(
        b"POST /v2/projects/-/profiles HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n"
    )
    late.writer.write(b"x" * 400_000)
    await late.writer.drain()
    assert (await late.read_response())[0] == 503
    _close([*opened, late])


async def test_a_connection_with_a_valid_key_is_not_counted(
    counted_port: int, reader: Client
) -> None:
    opened = await _idle(counted_port, ALLOWED)
    key = {"Authorization": f"Bearer {reader.key}"}
    await opened[0].send("GET", "/api/v1/projects/-/services", {}, **key)
    assert (await opened[0].read_response())[0] == 200
    assert (await _status(counted_port, "/account/login/"))[0] == 200
    await _until_counted(ALLOWED - 1)
    opened += await _idle(counted_port, 1)
    await opened[1].send("GET", "/api/v1/projects/-/services", {}, Authorization="Bearer x")
    assert (await opened[1].read_response())[0] == 401
    assert (await _status(counted_port, "/account/login/"))[0] == 503
    _close(opened)


async def test_a_closed_connection_makes_room(counted_port: int) -> None:
    opened = await _idle(counted_port, ALLOWED)
    _close(opened)
    await _until_counted(0)
    assert (await _status(counted_port, "/account/login/"))[0] == 200


async def test_connections_of_this_machine_are_not_counted(port: int, settings: Settings) -> None:
    settings.MAX_UNAUTHENTICATED_CONNECTIONS = ALLOWED
    opened = await _idle(port, ALLOWED + 2)
    assert (await _status(port, "/account/login/"))[0] == 200
    _close(opened)


async def test_a_restricted_connection_without_a_request_is_closed_soon(
    counted_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "RESTRICTED_HEAD_SECONDS", 0.2)
    opened = await _idle(counted_port, ALLOWED)
    silent, began = await Connection.open(counted_port), time.monotonic()
    assert await _gone(silent) - began < http_protocol.HEAD_SECONDS
    _close([*opened, silent])
