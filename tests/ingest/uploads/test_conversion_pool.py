"""Responses to files that exceed the limits of their conversion, in each protocol."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest
from pytest_django import Settings

from common.worker_processes.messages import Reply, ReplyKind, decode_reply, encode_reply
from endpoints.errors import BadField, BadRequest
from ingest.files import importing
from ingest.otlp import export
from ingest.pyroscope import conversion
from ingest.uploads import conversion_pool
from profiles.engine.errors import BadProfile, TooLarge
from profiles.models import Profile
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.common.worker_processes import jobs
from tests.ingest.client import Client
from tests.ingest.formats import imported
from tests.ingest.formats.otlp.conversions import sample
from tests.ingest.pprof import SIMPLE
from tests.ingest.pyroscope.client import PyroscopeClient
from tests.paths import ROOT

IMPORT = "/api/v1/projects/-/profiles:import?service=shop"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]


@dataclass(frozen=True)
class SendingCase:
    """Way to send what is converted, and the module and name of the function that converts it."""

    name: str
    send: Callable[[Client], httpx.Response]
    module: object
    function: str

    def message(self, response: httpx.Response) -> str:
        found = response.json()
        return str(found["error"]["message"] if "error" in found else found["message"])


def send_import(agent: Client) -> httpx.Response:
    return agent.request("POST", IMPORT, content=b"main;work 3\n")


def send_snapshot(agent: Client) -> httpx.Response:
    path = "/api/v1/projects/-/profiles:import?snapshot=Title"
    return agent.request("POST", path, content=b"main;work 3\n")


def send_ingest(agent: Client) -> httpx.Response:
    return PyroscopeClient(agent).ingest(b"main;work 3\n", format="folded")


def send_recording(agent: Client) -> httpx.Response:
    body = imported.sample("async-profiler-4.jfr.gz")
    return PyroscopeClient(agent).multipart({"jfr": body}, format="jfr")


def send_otlp(agent: Client) -> httpx.Response:
    return agent.request(
        "POST",
        "/v1development/profiles",
        content=sample("1.10-values.json"),
        headers={"Content-Type": "application/json"},
    )


PROTOCOLS = [
    SendingCase("import", send_import, importing, "convert_file"),
    SendingCase("snapshot", send_snapshot, importing, "convert_file"),
    SendingCase("ingest", send_ingest, conversion, "convert_body"),
    SendingCase("recording", send_recording, conversion, "convert_body"),
    SendingCase("otlp", send_otlp, export, "from_json"),
]
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)


def conversion_rejections() -> int:
    return rejections.totals()[RejectionReason.CONVERSION]


@each_protocol
def test_a_file_is_converted_by_a_worker(protocol: SendingCase, agent: Client) -> None:
    before = conversion_pool.pool.statistics.jobs.total()
    assert protocol.send(agent).status_code == 200
    assert conversion_pool.pool.statistics.jobs.total() == before + 1


@pytest.mark.slow
@each_protocol
def test_a_file_above_a_limit_is_413_with_the_limit(
    protocol: SendingCase, agent: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.sleep)
    settings.CONVERSION_WALL_SECONDS = 1.0
    before = conversion_rejections()
    response = protocol.send(agent)
    assert response.status_code == 413, response.text
    assert "FLAMEWATCH_CONVERSION_WALL_SECONDS allows 1 s" in protocol.message(response)
    assert conversion_rejections() == before + 1
    assert not Profile.objects.exists()


@each_protocol
def test_a_file_that_crashes_two_workers_is_400(
    protocol: SendingCase, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.crash)
    before = conversion_rejections()
    response = protocol.send(agent)
    assert response.status_code == 400, response.text
    assert "crashes the program that converts it" in protocol.message(response)
    assert conversion_rejections() == before + 1


@each_protocol
def test_file_whose_workers_are_lost_is_503(
    protocol: SendingCase, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.module, protocol.function, jobs.exit_silently)
    before = conversion_rejections()
    response = protocol.send(agent)
    assert response.status_code == 503, response.text
    assert "worker process" in protocol.message(response)
    assert "retryDelay" in response.text
    assert int(response.headers["Retry-After"]) > 0
    assert conversion_rejections() == before


@pytest.mark.slow
def test_a_conversion_ends_at_its_cpu_time(
    agent: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "convert_file", jobs.compute)
    settings.CONVERSION_CPU_SECONDS = 0.1  # the kernel counts whole seconds
    response = send_import(agent)
    assert response.status_code == 413, response.text
    assert "FLAMEWATCH_CONVERSION_CPU_SECONDS" in response.json()["error"]["message"]


def test_a_pprof_file_is_stored_by_the_bytes_that_were_sent(agent: Client) -> None:
    """Check that a worker does not send back the file itself."""
    first = agent.request("POST", f"{IMPORT}&duration=5s", content=SIMPLE)
    again = agent.request("POST", f"{IMPORT}&duration=5s", content=gzip.decompress(SIMPLE))
    names = [response.json()["profiles"][0]["name"] for response in (first, again)]
    assert names[0] == names[1]
    assert Profile.objects.get().weight == 40_000_000


@pytest.mark.parametrize(
    "error",
    [
        BadField("field", "reason"),
        BadProfile("reason"),
        BadRequest("reason"),
        TooLarge("limit", 7, 5, "bytes"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_rejection_is_unchanged_by_its_way_from_the_worker(error: Exception) -> None:
    classes = conversion_pool.pool._program.classes
    again = decode_reply(encode_reply(Reply(ReplyKind.REJECTED, error), classes), classes).content
    assert (type(again), str(again)) == (type(error), str(error))


def test_the_modules_of_workers_import_no_django() -> None:
    program = conversion_pool.pool._program
    code = f"import sys, {', '.join(program.preload)}; print('django' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
