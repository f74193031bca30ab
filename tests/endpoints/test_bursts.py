"""Bursts of requests of one tenant, during which another tenant sends one request."""

import asyncio
import uuid
from collections.abc import Callable

import pytest
from pytest_django import Settings

from common.loop_turns import STEPS_PER_TURN
from tests.endpoints.asgi import Scope, post, respond
from tests.ingest.client import HANDSHAKE, Client

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
BURST = 200
# Requests of the burst that may get a response between the other tenant's request and its response.
# These are some ten turns of the loop apart, because the request is suspended that often.
FEW = 20 * STEPS_PER_TURN
OTHER = "192.0.2.99"  # client address


def handshakes(agent: Client) -> list[Scope]:
    return [post(agent, agent.profiles, HANDSHAKE)] * BURST


def handshakes_of_new_agents(agent: Client) -> list[Scope]:
    return [
        post(agent, agent.profiles, HANDSHAKE, X_Flamewatch_Agent=str(uuid.UUID(int=number)))
        for number in range(BURST)
    ]


def invalid_uploads(agent: Client) -> list[Scope]:
    return [post(agent, f"{agent.profiles}:createOffline", {"profileType": "CPU"})] * BURST


def invalid_captures(agent: Client) -> list[Scope]:
    return [post(agent, f"/api/v1/projects/{agent.project}/capture", {})] * BURST


@pytest.mark.parametrize(
    "burst",
    [
        handshakes,
        handshakes_of_new_agents,
        invalid_uploads,
        invalid_captures,
    ],
)
async def test_another_tenant_is_served_during_a_burst(
    burst: Callable[[Client], list[Scope]],
    agent: Client,
    stranger: Client,
    settings: Settings,
) -> None:
    settings.POLL_TIMEOUT_SECONDS, settings.MAX_PARKED_PER_DEPLOYMENT = 0.2, 1
    other = post(stranger, stranger.profiles, {}, peer=OTHER)
    for each in (other, post(agent, agent.profiles, HANDSHAKE)):
        await respond(each)  # caches the keys, the deployment and its agent
    served: list[int] = []
    has_begun = asyncio.Event()

    async def serve(scope: Scope) -> None:
        served.append((await respond(scope))[0])
        has_begun.set()

    crowd = [asyncio.create_task(serve(each)) for each in burst(agent)]
    await has_begun.wait()
    assert (await respond(other))[0] == 400
    before = len(served)
    await asyncio.gather(*crowd)
    assert before <= FEW, f"{before} of {len(served)} requests of the burst were served before"
