"""Parked agents over real sockets: cost, wake-up and disconnection."""

import asyncio
import threading
import time
import uuid
from collections import Counter

import pytest
from django.utils import timezone
from pytest_django import Settings

from endpoints.error_responses import RETRY_INFO
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest
from scheduler.long_poll import queue_of_process
from tests.ingest.client import HANDSHAKE, Client, until_parked
from tests.ingest.real_server import Connection, live_server

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

MANY = 500


@pytest.fixture(autouse=True)
def long_holds(settings: Settings) -> None:
    settings.POLL_TIMEOUT_SECONDS = 50
    settings.MAX_PARKED_PER_DEPLOYMENT = MANY


@pytest.fixture
def deployment(project: Project) -> Deployment:
    """Create a deployment that has its first profile, so that its agents are parked."""
    now = timezone.now()
    return Deployment.objects.create(
        project=project,
        service="checkout",
        zone="eu-1",
        version="1.4",
        language="go",
        first_seen=now,
        last_seen=now,
        profiled=["CPU"],
    )


async def park(port: int, agent: Client) -> Connection:
    connection = await Connection.open(port)
    await connection.send(
        "POST",
        agent.profiles,
        HANDSHAKE,
        X_Goog_Api_Key=agent.key,
        X_Flamewatch_Agent=str(uuid.uuid4()),
    )
    return connection


def capture_request(deployment: Deployment) -> CaptureRequest:
    return CaptureRequest(
        id=str(uuid.uuid4()),
        project=deployment.project_id,
        deployment=deployment.pk,
        type=ProfileType.CPU,
        scheduled=time.time(),
    )


@pytest.mark.slow
def test_parked_agents_take_no_threads_and_all_get_a_response(
    agent: Client, deployment: Deployment
) -> None:
    responses: list[tuple[int, bytes]] = []

    async def park_many(port: int) -> int:
        connections = [await park(port, agent) for _ in range(MANY)]
        await until_parked(MANY)
        threads = threading.active_count()
        queue_of_process().add_requests([capture_request(deployment) for _ in range(100)])
        await until_no_more_than(MANY - 100)
        stopping.set()
        responses.extend(await asyncio.gather(*(each.read_response() for each in connections)))
        for connection in connections:
            connection.close()
        return threads

    stopping = threading.Event()
    before = threading.active_count()
    with live_server() as port:
        parking = threading.Thread(target=lambda: counted.append(asyncio.run(park_many(port))))
        counted: list[int] = []
        parking.start()
        assert stopping.wait(60)
    parking.join(30)
    assert Counter(status for status, _ in responses) == {200: 100, 409: MANY - 100}
    assert all(RETRY_INFO.encode() in body for status, body in responses if status == 409)
    assert counted[0] - before < 20


async def until_no_more_than(waiting: int) -> None:
    while queue_of_process().counts().waiting > waiting:  # noqa: ASYNC110  the queue has no event for it
        await asyncio.sleep(0.001)


def test_a_client_that_leaves_is_no_longer_parked(agent: Client, deployment: Deployment) -> None:
    async def leave(port: int) -> tuple[int, bytes]:
        leaving = await park(port, agent)
        await until_parked()
        leaving.close()
        await until_no_more_than(0)
        staying = await park(port, agent)
        await until_parked()
        queue_of_process().add_requests([capture_request(deployment)])
        response = await staying.read_response()
        staying.close()
        return response

    with live_server() as port:
        status, body = asyncio.run(leave(port))
    assert status == 200
    assert b'"profileType":"CPU"' in body


def test_connection_is_reused_for_several_handshakes(agent: Client, settings: Settings) -> None:
    settings.POLL_TIMEOUT_SECONDS = 0.05

    async def thrice(port: int) -> list[int]:
        connection, statuses = await Connection.open(port), []
        for _ in range(3):
            await connection.send(
                "POST", agent.profiles, HANDSHAKE, Authorization=f"Bearer {agent.key}"
            )
            statuses.append((await connection.read_response())[0])
        connection.close()
        return statuses

    with live_server() as port:
        assert asyncio.run(thrice(port)) == [200, 409, 409]


def test_an_upload_that_is_cut_off_changes_nothing(agent: Client) -> None:
    name = agent.captured_request()["name"]

    async def cut_off(port: int) -> int:
        connection = await Connection.open(port)
        head = f"PATCH /v2/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n"
        connection.writer.write(head.encode() + b'{"profileBytes":')
        await connection.writer.drain()
        connection.close()
        after = await Connection.open(port)
        await after.send("GET", "/ok", {})
        status, _ = await after.read_response()
        after.close()
        return status

    with live_server() as port:
        assert asyncio.run(cut_off(port)) == 200
    assert agent.upload(name).status_code == 200
