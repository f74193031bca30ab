"""Profiles that worker processes decode, in each protocol, with real processes."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import grpc.aio
import httpx
import pytest
from pytest_django import Settings

from common.recent_costs import costs_of_process
from common.worker_processes.messages import (
    JobLimits,
    JobRequest,
    Reply,
    ReplyKind,
    decode_reply,
    encode_reply,
)
from common.worker_processes.workers import Outcome
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from ingest.files import snapshots
from ingest.pyroscope import conversion
from ingest.uploads import conversion_pool, decode_job, decode_pool, pipeline
from ingest.uploads.decode_workers import workers
from profiles.engine.errors import BadProfile
from profiles.models import Profile, ResultSnapshot
from profiles.storage import head
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.common.worker_processes import jobs
from tests.ingest.client import Client
from tests.ingest.formats.otlp.conversions import sample
from tests.ingest.grpc_client import DEPLOYMENT, GrpcClient, grpc_server
from tests.ingest.pprof import SIMPLE
from tests.ingest.pyroscope.client import PyroscopeClient
from tests.waiting import until

IMPORT = "/api/v1/projects/-/profiles:import"
SECONDS = 60.0  # more than any test takes
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]


@pytest.fixture(autouse=True)
def all_profiles_need_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode_pool, "WORKER_BYTES", 1)


@dataclass(frozen=True)
class UploadCase:
    """Way to send a profile, and the module and name of the function that reads its body first."""

    name: str
    send: Callable[[Client], httpx.Response]
    module: object = pipeline
    function: str = "decode_body"
    jobs: int = 1  # of workers


def send_requested(agent: Client) -> httpx.Response:
    return agent.upload(agent.captured_request()["name"])


def send_offline(agent: Client) -> httpx.Response:
    return agent.offline()


def send_import(agent: Client) -> httpx.Response:
    return agent.request("POST", f"{IMPORT}?service=shop&duration=5s", content=SIMPLE)


def send_snapshot(agent: Client) -> httpx.Response:
    return agent.request("POST", f"{IMPORT}?snapshot=Title", content=SIMPLE)


def send_ingest(agent: Client) -> httpx.Response:
    return PyroscopeClient(agent).ingest(SIMPLE, format="pprof")


PROTOCOLS = [
    UploadCase("requested", send_requested),
    UploadCase("offline", send_offline),
    UploadCase("import", send_import),
    UploadCase("snapshot", send_snapshot, snapshots),
    UploadCase("ingest", send_ingest, conversion, "assign_types", jobs=2),
]
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)


def decoding_rejections() -> int:
    return rejections.totals()[RejectionReason.DECODING]


def decode(body: bytes = SIMPLE) -> decode_job.DecodedUpload:
    return decode_pool.decode(1, decode_job.decode_body, body, "CPU", (), in_worker=True)


@each_protocol
def test_profile_is_decoded_by_a_worker(protocol: UploadCase, agent: Client) -> None:
    before = workers.statistics.jobs[Outcome.DONE]
    response = protocol.send(agent)
    assert response.status_code == 200, response.text
    assert workers.statistics.jobs[Outcome.DONE] == before + protocol.jobs
    stored = [*Profile.objects.all(), *ResultSnapshot.objects.all()]
    assert len(stored) == 1


def test_worker_and_thread_decode_a_profile_alike() -> None:
    by_worker = decode()
    function = decode_job.decode_body
    assert by_worker == decode_pool.decode(1, function, SIMPLE, "CPU", (), in_worker=False)
    assert by_worker.content.weight == 40_000_000


@each_protocol
def test_profile_above_the_memory_limit_is_400_with_the_limit(
    protocol: UploadCase, agent: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.allocate)
    settings.DECODE_MEMORY_BYTES = 64 * 2**20
    before = decoding_rejections()
    response = protocol.send(agent)
    assert response.status_code == 400, response.text
    assert "FLAMEWATCH_DECODE_MEMORY_BYTES allows 67,108,864 bytes" in response.text
    assert decoding_rejections() == before + 1
    assert not Profile.objects.exists()


@pytest.mark.slow
@each_protocol
def test_profile_above_the_cpu_limit_is_400_with_the_limit(
    protocol: UploadCase, agent: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.compute)
    settings.DECODE_CPU_SECONDS = 0.1  # the kernel counts whole seconds
    before = decoding_rejections()
    response = protocol.send(agent)
    assert response.status_code == 400, response.text
    assert "FLAMEWATCH_DECODE_CPU_SECONDS allows 0.1 s of CPU time" in response.text
    assert decoding_rejections() == before + 1


@each_protocol
def test_profile_that_crashes_two_workers_is_400(
    protocol: UploadCase, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.crash)
    before, crashes = decoding_rejections(), workers.statistics.ends[Outcome.CRASHED]
    response = protocol.send(agent)
    assert response.status_code == 400, response.text
    assert "crashes the program that decodes it" in response.text
    assert decoding_rejections() == before + 1
    assert workers.statistics.ends[Outcome.CRASHED] == crashes + 2


@each_protocol
def test_profile_whose_workers_are_lost_is_503(
    protocol: UploadCase, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.exit_silently)
    before = decoding_rejections()
    response = protocol.send(agent)
    assert response.status_code == 503, response.text
    assert "worker process" in response.text
    assert "retryDelay" in response.text
    assert int(response.headers["Retry-After"]) > 0
    assert decoding_rejections() == before


def test_profile_that_a_busy_machine_does_not_decode_in_time_is_503(
    agent: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "decode_body", jobs.sleep)
    settings.DECODE_WALL_SECONDS = 0.5
    before = decoding_rejections()
    response = send_offline(agent)
    assert response.status_code == 503, response.text
    assert "FLAMEWATCH_DECODE_WALL_SECONDS allows 0.5 s" in response.text
    assert decoding_rejections() == before


def test_rejected_profile_does_not_count_against_the_quota(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "decode_body", jobs.crash)
        assert send_offline(agent).status_code == 400
    assert send_offline(agent).status_code == 200


def test_otlp_profile_that_crashes_two_workers_is_left_out_of_its_request(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send() -> httpx.Response:
        headers = {"Content-Type": "application/x-protobuf"}
        body = sample("1.10-values.pb")
        return agent.request("POST", "/v1development/profiles", content=body, headers=headers)

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "decode_body", jobs.crash)
        before = decoding_rejections()
        response = send()
        assert response.status_code == 200
        assert b"crashes the program that decodes it" in response.content
        assert decoding_rejections() == before + 1
    assert send().status_code == 200
    assert Profile.objects.get().weight == 420_000_000


@pytest.mark.parametrize(
    ("job", "words"),
    [(jobs.crash, "crashes the program"), (jobs.exit_silently, "Try again later")],
    ids=["crash", "lost"],
)
def test_grpc_upload_whose_worker_ends_gets_the_reason(
    agent: Client, monkeypatch: pytest.MonkeyPatch, job: Callable[..., object], words: str
) -> None:
    profile = pb.Profile(profile_type=pb.CPU, deployment=DEPLOYMENT, profile_bytes=SIMPLE)
    profile.duration.FromSeconds(10)

    async def send() -> None:
        async with grpc_server() as address, grpc.aio.insecure_channel(address) as channel:
            client = GrpcClient(channel, agent.key)
            try:
                with monkeypatch.context() as patch:
                    patch.setattr(pipeline, "decode_body", job)
                    with pytest.raises(grpc.aio.AioRpcError) as failure:
                        await client.offline(profile)
                assert words in (failure.value.details() or "")
                await client.offline(profile)
            finally:
                await head.stop()

    asyncio.run(send())
    assert Profile.objects.count() == 1


def test_upload_whose_client_has_gone_ends_its_worker(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("common.worker_processes.process._CANCEL_SECONDS", 0.1)
    monkeypatch.setattr(pipeline, "decode_body", jobs.sleep)
    before = workers.statistics.ends[Outcome.CANCELLED]

    async def send_and_leave() -> None:
        sending = asyncio.create_task(
            agent.send(
                "POST",
                f"{agent.profiles}:createOffline",
                json={
                    "profileType": "CPU",
                    "deployment": {"target": "shop"},
                    "duration": "10s",
                    "profileBytes": "AAAA",
                },
            )
        )
        while not workers._busy:  # noqa: ASYNC110  there is no event
            await asyncio.sleep(0.01)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    asyncio.run(send_and_leave())
    until(
        lambda: workers.statistics.ends[Outcome.CANCELLED] == before + 1, SECONDS, "a killed worker"
    )


@pytest.mark.slow
def test_project_pays_for_the_cpu_time_of_its_workers() -> None:
    project = 10**7  # of no other test
    before = costs_of_process.get(("project", project), 0.0)
    threads = decode_pool._threads("decode-of-test", 1)
    limits = JobLimits(SECONDS, SECONDS, 2**30, 2**20)
    ended = threading.Event()

    def wait_and_use_cpu() -> None:
        for function, seconds in ((jobs.use_cpu, 0.3), (jobs.wait_seconds, 1.0)):
            request = JobRequest(function, (seconds,), limits)
            workers.perform_charged(("project", project), request)
        ended.set()

    threads.start(("project", project), wait_and_use_cpu)
    assert ended.wait(SECONDS)
    until(lambda: threads.is_idle, SECONDS, "the end of the job")
    cost = costs_of_process.get(("project", project), time.monotonic()) - before
    assert 0.25 < cost < 0.9


def test_conversions_and_decoding_have_workers_of_their_own() -> None:
    decode()
    asyncio.run(conversion_pool.convert(1, jobs.process_id))
    assert not {*workers.process_ids()} & {*conversion_pool.pool.process_ids()}


@pytest.mark.slow
def test_long_conversion_does_not_delay_a_decode() -> None:
    decode()  # starts the worker
    converting = threading.Thread(
        target=lambda: asyncio.run(conversion_pool.convert(1, jobs.use_cpu, 3.0))
    )
    converting.start()
    until(lambda: conversion_pool.pool._busy, SECONDS, "a busy worker of conversions")
    decode()
    assert converting.is_alive()
    converting.join()


def test_worker_has_only_pipes_and_no_environment_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLAMEWATCH_SECRET_KEY", "secret")
    limits = JobLimits(SECONDS, SECONDS, 2**30, 2**20)
    opened = workers.perform("t", JobRequest(jobs.open_files, (), limits)).content
    names = {name for descriptor, name in opened.items() if descriptor > 2}
    assert names
    assert not [name for name in names if not name.startswith(("pipe:", "/proc/"))]
    environment = workers.perform("t", JobRequest(jobs.environment, (), limits)).content
    assert not [name for name in environment if name.startswith("FLAMEWATCH_")]


def test_worker_that_is_killed_is_replaced_and_the_profile_stored(agent: Client) -> None:
    decode()
    for pid in workers.process_ids():
        os.kill(pid, signal.SIGKILL)
    assert send_offline(agent).status_code == 200
    assert Profile.objects.count() == 1


def test_rejection_is_unchanged_by_its_way_from_the_worker() -> None:
    with pytest.raises(BadProfile, match="Not a pprof profile"):
        decode(b"no profile")


def test_content_is_unchanged_by_its_way_from_the_worker() -> None:
    limits = decode_pool.body_limits()
    content = decode_job.decode_body(SIMPLE, limits, "CPU", ())
    classes = workers._program.classes
    reply = encode_reply(Reply(ReplyKind.DONE, content), classes)
    assert decode_reply(reply, classes).content == content
