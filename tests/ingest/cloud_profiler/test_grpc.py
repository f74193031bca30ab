"""Cloud Profiler's API over gRPC."""

import asyncio
from collections.abc import AsyncIterator, Awaitable

import grpc
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.utils import timezone
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from pytest_django import Settings

from ingest.cloud_profiler import upload_message
from ingest.cloud_profiler.grpc_service import PROFILER_SERVICE
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from ingest.grpc import receiving
from profiles.models import Profile
from projects.credentials import key_files, keys
from projects.credentials.key_files import KeyFileKind
from projects.models import ApiKey, Deployment, Project
from scheduler.long_poll import queue_of_process
from tests.ingest import pprof
from tests.ingest.client import until_parked
from tests.ingest.grpc_client import DEPLOYMENT, GrpcClient, assert_aborted, grpc_server
from tests.key_files import signed_by_java

Streaming = grpc.aio.StreamUnaryMultiCallable[bytes, bytes]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def address() -> AsyncIterator[str]:
    await queue_of_process().open()
    async with grpc_server() as address:
        yield address
    await queue_of_process().close()


@pytest_asyncio.fixture
async def channel(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield channel


@pytest.fixture
def agent(channel: grpc.aio.Channel, key: str) -> GrpcClient:
    return GrpcClient(channel, key, {"user-agent": "gcloud-go-profiler/0.7.1"})


async def rejected(call: Awaitable[object], *words: str) -> float:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    return assert_aborted(raised.value, *words)


async def test_a_requested_profile_is_captured_and_stored(agent: GrpcClient) -> None:
    profile = await agent.create()
    assert profile.profile_type == pb.CPU
    assert profile.name.startswith("projects/acme-shop/profiles/")
    assert profile.duration.ToTimedelta().total_seconds() > 0
    assert profile.deployment == DEPLOYMENT
    stored = await agent.update(profile, pprof.SIMPLE, instance="pod-1")
    assert (stored.name, dict(stored.labels)) == (profile.name, {"instance": "pod-1"})
    assert not stored.profile_bytes
    row = await Profile.objects.aget()
    assert (row.service, row.type, row.labels) == ("checkout", "CPU", {"instance": "pod-1"})


async def test_repeating_an_upload_stores_it_once(agent: GrpcClient) -> None:
    profile = await agent.create()
    first = await agent.update(profile, pprof.SIMPLE)
    assert await agent.update(profile, pprof.SIMPLE) == first
    assert await Profile.objects.acount() == 1


async def test_errors_are_aborted_with_retry_info(agent: GrpcClient, key: str) -> None:
    profile = await agent.create()
    await rejected(agent.update(profile, b"no profile"), "Not a pprof profile")
    await rejected(agent.update(profile, b""), "profileBytes: is missing")
    await rejected(agent.create(parent="projects/other"), "No such project")
    await rejected(agent.create(parent=""), "parent: must be projects/PROJECT")
    await rejected(agent.create(pb.Deployment(target="Not a name")), "deployment.target")
    await rejected(agent.update(pb.Profile(name="profiles/1"), pprof.SIMPLE), "profile.name")
    await rejected(agent.update(pb.Profile(name="projects/p/profiles/1"), pprof.SIMPLE), "No such")
    await rejected(agent.list(), "lacks the scope read")
    agent.key = key[:-1]
    await rejected(agent.create(), "not valid")
    agent.key = ""
    await rejected(agent.create(), "Missing API key")


async def test_nothing_to_capture_is_aborted_with_the_delay(agent: GrpcClient) -> None:
    await agent.create()
    delay = await rejected(agent.create(), "Nothing to capture now")
    assert 0 < delay < 3600


@pytest.mark.slow
async def test_a_parked_handshake_is_answered_before_the_deadline_of_its_client(
    agent: GrpcClient, settings: Settings
) -> None:
    await agent.create()
    settings.POLL_TIMEOUT_SECONDS = 600
    await rejected(agent.create(timeout=3), "Nothing to capture now")


async def test_a_client_that_leaves_is_not_parked_any_more(
    agent: GrpcClient, settings: Settings
) -> None:
    await agent.create()
    settings.POLL_TIMEOUT_SECONDS = 600
    call = asyncio.ensure_future(agent.create())
    await until_parked()
    call.cancel()
    async with asyncio.timeout(30):
        while queue_of_process().counts().waiting:  # noqa: ASYNC110  the queue has no event for it
            await asyncio.sleep(0.01)


async def test_releasing_parked_agents_answers_their_calls(
    agent: GrpcClient, settings: Settings
) -> None:
    await agent.create()
    settings.POLL_TIMEOUT_SECONDS = 600
    call = asyncio.ensure_future(agent.create())
    await until_parked()
    await queue_of_process().close()
    await rejected(call)


async def test_java_without_credentials_sends_the_key_as_a_label(
    channel: grpc.aio.Channel, key: str
) -> None:
    agent = GrpcClient(channel)
    deployment = pb.Deployment()
    deployment.CopyFrom(DEPLOYMENT)
    deployment.labels["api-key"] = key
    profile = await agent.create(deployment)
    assert "api-key" not in profile.deployment.labels
    stored = await agent.update(profile, pprof.SIMPLE)
    assert stored.name == profile.name
    row = await Deployment.objects.aget()
    assert (row.service, row.zone, row.version, row.language) == ("checkout", "eu-1", "1.4", "go")


async def test_a_token_signed_by_java_is_accepted(
    channel: grpc.aio.Channel, project: Project
) -> None:
    file = await asyncio.to_thread(_key_file, project)
    profile = await GrpcClient(channel, signed_by_java(file)).create()
    assert profile.profile_type == pb.CPU


def _key_file(project: Project) -> dict[str, str]:
    return key_files.create(keys.create(project, "java")[0], KeyFileKind.STANDARD)


async def test_revoking_the_key_ends_uploads(agent: GrpcClient) -> None:
    profile = await agent.create()
    row = await ApiKey.objects.aget()
    await asyncio.to_thread(keys.revoke, row)
    await rejected(agent.update(profile, pprof.SIMPLE), "not valid")
    agent.key = ""
    await rejected(agent.update(profile, pprof.SIMPLE), "revoked")


async def test_offline_profile_has_its_own_type_duration_and_labels(agent: GrpcClient) -> None:
    profile = pb.Profile(
        profile_type=pb.WALL,
        deployment=DEPLOYMENT,
        duration=Duration(seconds=2, nanos=500_000_000),
        profile_bytes=pprof.profile(
            {("main",): (1, 2)}, (("samples", "count"), ("wall", "nanoseconds"))
        ),
        labels={"instance": "pod-2"},
    )
    profile.start_time.GetCurrentTime()
    stored = await agent.offline(profile)
    assert stored.profile_type == pb.WALL
    assert stored.duration.ToTimedelta().total_seconds() == 2.5
    assert stored.start_time.seconds == profile.start_time.seconds
    row = await Profile.objects.aget()
    assert (row.type, row.duration_ns, row.labels) == ("WALL", 2_500_000_000, {"instance": "pod-2"})
    profile.duration.seconds = -1
    await rejected(agent.offline(profile), "duration")
    profile.profile_type = 99  # type: ignore[assignment]
    profile.duration.seconds = 1
    await rejected(agent.offline(profile), "99 is not a profile type")


async def test_profiles_are_listed_by_pages(agent: GrpcClient, project: Project) -> None:
    for service in ("a", "b", "c"):
        deployment = pb.Deployment(target=service)
        await agent.update(await agent.create(deployment), pprof.SIMPLE)
    agent.key = await asyncio.to_thread(
        lambda: keys.create(project, "reader", write=False, read=True)[1]
    )
    first = await agent.list(size=2)
    assert [profile.deployment.target for profile in first.profiles] == ["c", "b"]
    second = await agent.list(size=2, token=first.next_page_token)
    assert [profile.deployment.target for profile in second.profiles] == ["a"]
    assert not second.next_page_token
    await rejected(agent.list(size=-1), "pageSize")
    await rejected(agent.list(token="?"), "pageToken")
    assert not first.profiles[0].profile_bytes
    agent.metadata = {"x-goog-fieldmask": "profiles.profile_bytes"}
    with_bytes = await agent.list()
    assert [profile.deployment.target for profile in with_bytes.profiles] == ["c", "b", "a"]
    assert all(profile.profile_bytes[:2] == b"\x1f\x8b" for profile in with_bytes.profiles)


async def test_message_around_a_profile_is_limited(agent: GrpcClient) -> None:
    profile = await agent.create()
    profile.deployment.labels.update({f"label-{i}": "x" * 500 for i in range(100)})
    await rejected(agent.update(profile, pprof.SIMPLE), f"{upload_message.MAX_REST_BYTES:,} bytes")
    await rejected(agent.create(profile.deployment), "limit is 1,024", "deployment.labels")
    profile.deployment.labels.update({f"other-{i}": "x" * 500 for i in range(100)})
    await rejected(agent.create(profile.deployment), "65,536 bytes")


async def test_call_without_a_message_is_rejected(
    address: str, channel: grpc.aio.Channel, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "READ_SECONDS", 0.05)
    create: Streaming = channel.stream_unary(f"/{PROFILER_SERVICE}/CreateProfile")
    call = create(metadata=(("authorization", f"Bearer {key}"),))
    await rejected(call, "The message was not complete")
    call = create()
    await call.done_writing()
    await rejected(call, "no message")


async def test_slow_clients_without_a_key_leave_room_for_those_with_one(
    channel: grpc.aio.Channel, agent: GrpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "WAIT_SECONDS", 0.05)
    create: Streaming = channel.stream_unary(f"/{PROFILER_SERVICE}/CreateProfile")
    slow = [create() for _ in range(receiving.MESSAGES_OF_SENDER + 1)]
    done, _waiting = await asyncio.wait(
        [asyncio.ensure_future(_code(call)) for call in slow], return_when=asyncio.FIRST_COMPLETED
    )
    assert [task.result() for task in done] == [grpc.StatusCode.ABORTED]
    assert (await agent.create()).name
    for call in slow:
        call.cancel()


async def _code(call: grpc.aio.StreamUnaryCall[bytes, bytes]) -> grpc.StatusCode:
    return await call.code()


async def test_a_message_over_the_size_limit_is_rejected(key: str, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 1000
    await queue_of_process().open()
    async with grpc_server() as address, grpc.aio.insecure_channel(address) as channel:
        agent = GrpcClient(channel, key)
        profile = await agent.create()
        await rejected(agent.update(profile, b"x" * 1001), "FLAMEWATCH_MAX_UPLOAD_BYTES", "1,001")
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await agent.update(profile, b"x" * 100_000)
        assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_plaintext_from_another_machine_is_rejected_with_a_public_https_url(
    agent: GrpcClient, settings: Settings
) -> None:
    settings.BEHIND_TLS = True
    agent.metadata["x-forwarded-for"] = "192.0.2.1"  # through a proxy on this machine
    await rejected(agent.create(), "over https only")
    agent.metadata["x-forwarded-proto"] = "https"
    assert (await agent.create()).name


async def test_health_service_reports_the_state_of_ready(channel: grpc.aio.Channel) -> None:
    client, service = GrpcClient(channel), "grpc.health.v1.Health"
    for name in ("", PROFILER_SERVICE):
        request = health_pb2.HealthCheckRequest(service=name)
        response = await client.call("Check", request, health_pb2.HealthCheckResponse, service)
        assert response.status == health_pb2.HealthCheckResponse.SERVING
    request = health_pb2.HealthCheckRequest(service="other")
    await rejected(
        client.call("Check", request, health_pb2.HealthCheckResponse, service), "No such service"
    )


async def test_reflection_lists_and_describes_the_services(channel: grpc.aio.Channel) -> None:
    reflect: grpc.aio.StreamStreamMultiCallable[
        reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
    ] = channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    call = reflect()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    listed = await call.read()
    assert isinstance(listed, reflection_pb2.ServerReflectionResponse)
    names = {service.name for service in listed.list_services_response.service}
    assert {PROFILER_SERVICE, "grpc.health.v1.Health"} <= names
    symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol=PROFILER_SERVICE)
    await call.write(symbol)
    described = await call.read()
    assert isinstance(described, reflection_pb2.ServerReflectionResponse)
    assert b"CreateOfflineProfile" in described.file_descriptor_response.file_descriptor_proto[0]
    await call.done_writing()
    assert await call.code() is grpc.StatusCode.OK


async def test_an_unknown_method_is_unimplemented(agent: GrpcClient) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await agent.call("NoSuchMethod", pb.Profile(), pb.Profile)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_expired_key_and_foreign_service_are_aborted(
    channel: grpc.aio.Channel, project: Project
) -> None:
    expired = await sync_to_async(keys.create)(project, "old", expires=timezone.now())
    await rejected(GrpcClient(channel, expired[1]).create(), expired[0].prefix, "expired on")
    restricted = await sync_to_async(keys.create)(project, "ci", services=["payments"])
    client = GrpcClient(channel, restricted[1])
    await rejected(client.create(), "payments only, not for checkout")
    assert not await Deployment.objects.aexists()
