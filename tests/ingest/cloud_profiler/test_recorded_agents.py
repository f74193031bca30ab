"""Requests of Cloud Profiler's agents, recorded and sent again.

recorded/ has the bodies of Go's agent 0.7.1 (gRPC), Node.js's 7.0.0 and Python's 4.1.0, sent by the
programs of tests/end_to_end/clients. Only two fields are replaced: the names of profiles by issued
ones, and the offered types by one of them, whose first profile is requested at once.
"""

import json
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from pytest_django import Settings

from ingest.cloud_profiler.grpc_service import PROFILER_SERVICE
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from profiles.models import Profile
from projects.models import Deployment
from scheduler.long_poll import queue_of_process
from tests.ingest.client import Client
from tests.ingest.grpc_client import grpc_server

pytestmark = pytest.mark.django_db(transaction=True)
Method = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
RECORDED = Path(__file__).parent / "recorded"
GO_TYPES = ["CPU", "HEAP", "THREADS", "HEAP_ALLOC", "CONTENTION"]
# As each agent sends them.
HEADERS = {
    "node": {
        "Content-Type": "text/plain;charset=UTF-8",
        "User-Agent": "gcloud-node-profiler/7.0.0",
    },
    "python": {
        "Content-Type": "application/json",
        "User-Agent": "(gzip) gcloud-python-profiler/4.1.0",
    },
}


async def test_recorded_requests_of_the_go_agent_are_accepted(key: str, settings: Settings) -> None:
    settings.CAPTURE_SECONDS = 0.1  # for so long the agent gets no other request
    settings.POLL_TIMEOUT_SECONDS = 30
    await queue_of_process().open()
    metadata = (("x-goog-api-key", key), ("user-agent", "gcloud-go-profiler/0.7.1"))
    handshake = pb.CreateProfileRequest()
    handshake.ParseFromString((RECORDED / "go-create.pb").read_bytes())
    assert [pb.ProfileType.Name(type) for type in handshake.profile_type] == GO_TYPES
    async with grpc_server() as address, grpc.aio.insecure_channel(address) as channel:
        create: Method = channel.unary_unary(f"/{PROFILER_SERVICE}/CreateProfile")
        update: Method = channel.unary_unary(f"/{PROFILER_SERVICE}/UpdateProfile")
        for type in GO_TYPES:
            del handshake.profile_type[:]
            handshake.profile_type.append(cast("pb.ProfileType", pb.ProfileType.Value(type)))
            response = pb.Profile.FromString(
                await create(handshake.SerializeToString(), metadata=metadata)
            )
            sent = pb.UpdateProfileRequest()
            sent.ParseFromString((RECORDED / f"go-update-{type}.pb").read_bytes())
            sent.profile.name = response.name
            await update(sent.SerializeToString(), metadata=metadata)
    await queue_of_process().close()
    rows = {row.type: row async for row in Profile.objects.all()}
    assert sorted(rows) == sorted(GO_TYPES)
    assert {row.service for row in rows.values()} == {"go-shop"}
    assert all(row.labels == {"instance": "instance-1"} for row in rows.values())
    deployment = await Deployment.objects.aget()
    assert (deployment.zone, deployment.version, deployment.language) == ("zone-1", "1.0", "go")


@pytest.mark.parametrize(
    ("language", "types"), [("node", ["HEAP", "WALL"]), ("python", ["CPU", "WALL"])]
)
def test_recorded_requests_of_rest_agents_are_accepted(
    agent: Client, language: str, types: list[str]
) -> None:
    handshake = json.loads((RECORDED / f"{language}-create.json").read_bytes())
    assert sorted(handshake["profileType"]) == types
    for type in types:
        handshake["profileType"] = [type]
        response = send(agent, language, "POST", agent.profiles, json.dumps(handshake).encode())
        message = json.loads((RECORDED / f"{language}-update-{type}.json").read_bytes())
        message["name"] = response["name"]
        stored = send(
            agent, language, "PATCH", f"/v2/{response['name']}", json.dumps(message).encode()
        )
        assert stored["profileType"] == response["profileType"]
    rows = list(Profile.objects.order_by("type"))
    assert [row.type for row in rows] == types
    assert {row.service for row in rows} == {f"{language}-shop"}


def send(agent: Client, language: str, method: str, path: str, body: bytes) -> dict[str, Any]:
    response = agent.request(
        method, path, content=body, params={"alt": "json"}, headers=HEADERS[language]
    )
    assert response.status_code == 200, response.text
    message: dict[str, Any] = response.json()
    return message
