"""Clients that do not read their responses: budgets of unsent bytes, and a minimum rate."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import pytest

from common.asgi import Send
from common.request_body import WINDOW_BYTES
from profiler_site import health
from profiler_site.process import http_protocol
from profiler_site.process.unsent_responses import UnsentResponses
from projects.models import DayRejections, Project
from projects.registration import registry
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.endpoints.asgi import ADDRESS
from tests.ingest.real_server import live_server
from tests.profiler_site.process.test_connection_limits import AbortRecorder

A, B = ("project", 1), ("address", ADDRESS)
BODY = b"x" * 2**24
GET = b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
SECONDS = 0.4  # deadline of receivers in these tests


def opened(count: int) -> list[AbortRecorder]:
    return [AbortRecorder() for _ in range(count)]


def aborted(connections: list[AbortRecorder]) -> list[bool]:
    return [connection.is_aborted for connection in connections]


def test_the_oldest_response_of_a_tenant_makes_room_for_its_newest() -> None:
    unsent, connections, other = UnsentResponses(100, of_tenant=10), opened(4), AbortRecorder()
    unsent.add(other, B, 10)
    for connection in connections[:2]:
        unsent.add(connection, A, 5)
    unsent.remove(connections[0])
    unsent.add(connections[2], A, 5)
    assert not any(aborted(connections))
    unsent.add(connections[3], A, 5)
    assert aborted(connections) == [False, True, False, False]
    assert not other.is_aborted
    assert len(unsent) == 3


def test_single_response_over_the_budgets_is_not_aborted() -> None:
    unsent, connections = UnsentResponses(15, of_tenant=10), opened(2)
    unsent.add(connections[0], A, 20)
    assert aborted(connections) == [False, False]
    unsent.add(connections[1], A, 20)
    assert aborted(connections) == [True, False]


def test_total_budget_aborts_a_response_of_the_largest_tenant() -> None:
    unsent, connections = UnsentResponses(20, of_tenant=15), opened(4)
    for connection, tenant, size in zip(connections, (B, A, A, B), (5, 6, 6, 5), strict=True):
        unsent.add(connection, tenant, size)
    assert aborted(connections) == [False, True, False, False]


# -- on a real server -------------------------------------------------------------------------


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Serve BODY at /ok."""

    async def large() -> tuple[int, str]:
        return 200, BODY.decode()

    monkeypatch.setitem(health.ADDRESSES, "/ok", large)
    monkeypatch.setattr(http_protocol, "RECEIVE_SECONDS", SECONDS)
    monkeypatch.setattr(http_protocol, "unsent", UnsentResponses())
    with live_server() as port:
        yield port


def connected(port: int) -> socket.socket:
    """Return a connection that takes few bytes before they are read, after its request."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    connection.connect(("127.0.0.1", port))
    connection.settimeout(60)
    connection.sendall(GET)
    return connection


async def until_unsent(count: int) -> None:
    while len(http_protocol.unsent) != count:  # noqa: ASYNC110  the server has no event for it
        await asyncio.sleep(0.01)


def received(connection: socket.socket) -> int:
    """Return the number of bytes up to the end of the connection."""
    size = 0
    with connection, contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(2**20):
            size += len(piece)
    return size


def received_of(connection: socket.socket, least: int) -> int:
    """Return the number of bytes received, at least `least` or up to the end of the connection."""
    size = 0
    with connection:
        while size <= least and (piece := connection.recv(2**20)):
            size += len(piece)
    return size


@pytest.mark.server
@pytest.mark.django_db(transaction=True)
async def test_a_client_that_reads_nothing_is_disconnected(port: int) -> None:
    before = rejections.totals()[RejectionReason.UNREAD_RESPONSES]
    connection = connected(port)
    await until_unsent(1)
    await until_unsent(0)
    assert await asyncio.to_thread(received, connection) < len(BODY)
    assert rejections.totals()[RejectionReason.UNREAD_RESPONSES] == before + 1


@pytest.mark.server
@pytest.mark.django_db(transaction=True)
async def test_a_slow_client_receives_all(port: int) -> None:
    """Read for three deadlines, far more than the minimum in each, and the rest at once."""
    connection = connected(port)
    await until_unsent(1)
    size, loop = 0, asyncio.get_running_loop()
    end = loop.time() + 3 * SECONDS
    while loop.time() < end:
        size += len(await asyncio.to_thread(connection.recv, 4 * WINDOW_BYTES))
        await asyncio.sleep(SECONDS / 10)
    assert size < len(BODY), "the client was slow"
    assert len(http_protocol.unsent) == 1
    connection.shutdown(socket.SHUT_WR)  # so that the server closes the connection after it
    assert size + await asyncio.to_thread(received, connection) > len(BODY)  # with the head


@pytest.mark.server
@pytest.mark.django_db(transaction=True)
async def test_bytes_not_yet_sent_by_the_application_count(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send BODY as Django does, of which the transport never has more than two pieces."""

    async def respond(scope: object, send: Send) -> None:
        headers = [(b"content-length", b"%d" % len(BODY))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at in range(0, len(BODY), 2**16):
            piece, is_last = BODY[at : at + 2**16], at + 2**16 >= len(BODY)
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})

    monkeypatch.setattr(health, "respond", respond)
    monkeypatch.setattr(http_protocol, "unsent", UnsentResponses(of_tenant=len(BODY)))
    monkeypatch.setattr(http_protocol, "RECEIVE_SECONDS", 60.0)
    first = connected(port)
    await until_unsent(1)
    second = connected(port)
    assert await asyncio.to_thread(received, first) < len(BODY)
    assert await asyncio.to_thread(received_of, second, len(BODY)) > len(BODY)


@pytest.mark.django_db(transaction=True)
async def test_an_aborted_response_is_counted_for_its_project(project: Project) -> None:
    unsent, connections = UnsentResponses(of_tenant=10), opened(2)
    for connection in connections:
        unsent.add(connection, ("project", project.pk), 10)
    await registry.flush()
    row = await DayRejections.objects.aget(project=project)
    assert (row.reason, row.count) == (RejectionReason.UNREAD_RESPONSES, 1)
