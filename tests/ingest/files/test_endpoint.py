"""Import of files: `POST /api/v1/projects/{project}/profiles:import`."""

import gzip
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from frontend.pages.agents.agent_kind import sender_name
from profiles.models import Profile, TimeSource
from projects.models import Agent, DayUsage, Delivery
from tests.ingest.client import Client, assert_error_response
from tests.ingest.formats import imported
from tests.ingest.pprof import SIMPLE
from tests.paths import SAMPLES
from tests.profiles.pprof_proto import Profile as PprofMessage
from tests.profiles.pprofs import pprof

pytestmark = pytest.mark.django_db(transaction=True)
FOLDED = b"main;work 3\nmain 1\n"
DOTNET_TYPES = [("cpu", "nanoseconds"), ("lock_time", "nanoseconds")]


def send(agent: Client, body: bytes, project: str = "-", **params: Any) -> httpx.Response:
    path = f"/api/v1/projects/{project}/profiles:import"
    return agent.request("POST", path, content=body, params={"service": "shop"} | params)


def test_folded_stacks_are_stored_as_a_profile_of_the_service(agent: Client) -> None:
    response = send(agent, FOLDED, version="1.4", zone="eu-1", language="python")
    assert response.status_code == 200, response.text
    [described] = response.json()["profiles"]
    row = Profile.objects.select_related("deployment").get()
    assert described["name"] == f"projects/{agent.project}/profiles/{row.name_id}"
    assert response.json()["format"] == "folded"
    assert (described["type"], described["service"], described["samples"]) == ("CPU", "shop", 2)
    assert described["metrics"] == [{"name": "samples", "unit": "count", "total": 4}]
    deployment = row.deployment
    assert (deployment.version, deployment.zone, deployment.language) == ("1.4", "eu-1", "python")


def test_the_sender_is_registered_as_a_file_import(agent: Client) -> None:
    assert send(agent, FOLDED).status_code == 200
    [row] = Agent.objects.all()
    assert row.user_agent.split(" ")[0] == "flamewatch-file-import"
    assert sender_name(row.user_agent).startswith("python-httpx/")
    assert row.delivery == Delivery.FILE
    assert not row.is_running


def test_the_answer_has_the_address_of_the_flame_graph(agent: Client) -> None:
    [described] = send(agent, FOLDED).json()["profiles"]
    row = Profile.objects.get()
    url = httpx.URL(described["url"])
    assert url.path == f"/p/{agent.project}/flame"
    assert url.params["profile"] == row.name_id
    start, end = (datetime.fromisoformat(url.params[name]) for name in ("from", "to"))
    assert start <= row.time < end


def test_a_recording_of_several_types_is_several_profiles(agent: Client) -> None:
    response = send(agent, imported.sample("async-profiler-4.jfr.gz"))
    types = [described["type"] for described in response.json()["profiles"]]
    assert types == ["CPU", "WALL", "HEAP", "HEAP_ALLOC", "CONTENTION"]
    assert Profile.objects.count() == 5


def test_a_pprof_file_is_stored_as_its_own_type(agent: Client) -> None:
    response = send(agent, SIMPLE, duration="5s")
    assert [each["type"] for each in response.json()["profiles"]] == ["CPU"]
    row = Profile.objects.get()
    assert (row.weight, row.duration_ns) == (40_000_000, 5 * 10**9)


def test_a_difference_of_heap_profiles_is_allocation_over_its_duration(agent: Client) -> None:
    response = send(agent, (SAMPLES / "go-heap-delta.pb.gz").read_bytes())
    [described] = response.json()["profiles"]
    row = Profile.objects.get()
    assert (described["type"], row.type) == ("HEAP_ALLOC", "HEAP_ALLOC")
    assert 10**9 <= row.duration_ns < 2 * 10**9
    assert {metric["name"] for metric in described["metrics"]} == {"alloc_objects", "alloc_space"}
    assert "difference of two heap profiles" in described["warnings"][0]


def test_a_repaired_file_says_what_was_repaired(agent: Client) -> None:
    profile = PprofMessage.FromString(pprof({"main;work": (3, 5)}, DOTNET_TYPES))
    for function in profile.function:
        function.id = 0
    [described] = send(agent, profile.SerializeToString()).json()["profiles"]
    assert (described["type"], described["samples"]) == ("CPU", 1)
    assert [text for text in described["warnings"] if "Every function has the id 0" in text]


def test_repeated_file_is_stored_once(agent: Client) -> None:
    first = send(agent, FOLDED).json()
    again = send(agent, gzip.compress(FOLDED)).json()
    assert [each["name"] for each in first["profiles"]] == [
        each["name"] for each in again["profiles"]
    ]
    assert Profile.objects.count() == 1
    assert DayUsage.objects.get().profiles == 1


def test_a_file_without_a_duration_gets_ten_seconds_and_a_warning(agent: Client) -> None:
    [described] = send(agent, FOLDED).json()["profiles"]
    assert described["duration"] == "10s"
    assert "Send it as `duration`" in " ".join(described["warnings"])


def test_a_stated_duration_is_used_without_a_warning(agent: Client) -> None:
    [described] = send(agent, FOLDED, duration="30s").json()["profiles"]
    assert (described["duration"], described["warnings"]) == ("30s", [])


def test_a_stated_time_is_the_start(agent: Client) -> None:
    time = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    send(agent, FOLDED, time=time.isoformat())
    row = Profile.objects.get()
    assert (row.time, row.time_source) == (time, TimeSource.PROFILE)


def test_a_time_before_the_retention_is_reported(agent: Client) -> None:
    [described] = send(agent, FOLDED, time="2020-01-01T00:00:00Z").json()["profiles"]
    assert "retention" in " ".join(described["warnings"])


def test_type_unit_format_and_labels_are_those_stated(agent: Client) -> None:
    stated = {"type": "WALL", "unit": "milliseconds", "format": "folded", "label.instance": "a"}
    [described] = send(agent, FOLDED, **stated).json()["profiles"]
    assert described["metrics"] == [{"name": "wall", "unit": "nanoseconds", "total": 4_000_000}]
    assert Profile.objects.get().labels == {"instance": "a"}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"service": ""}, "service: is missing"),
        ({"service": "My Shop"}, "use my-shop"),
        ({"type": "GPU"}, "type: 'GPU' is none of CPU"),
        ({"format": "gprof"}, "format: 'gprof' is none of pprof"),
        ({"unit": "cycles"}, "unit: 'cycles'"),
        ({"time": "yesterday"}, "time: 'yesterday'"),
        ({"duration": "long"}, "duration: 'long'"),
        ({"label.Instance": "a"}, "label"),
        ({"zones": "eu"}, "zones: is unknown here"),
        ({"version": "\x01"}, "version"),
    ],
)
def test_a_bad_parameter_is_named(params: dict[str, str], words: str, agent: Client) -> None:
    response = send(agent, FOLDED, **params)
    assert_error_response(response, 400, "INVALID_ARGUMENT", words)
    assert not Profile.objects.exists()


def test_a_file_that_cannot_be_read_is_400_with_the_reason(agent: Client) -> None:
    response = send(agent, b"{}")
    assert_error_response(response, 400, "INVALID_ARGUMENT", "speedscope, .cpuprofile")
    assert DayUsage.objects.filter(profiles__gt=0).count() == 0


def test_a_file_over_the_limit_is_413(agent: Client, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = send(agent, FOLDED)
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_UPLOAD_BYTES")


def test_a_file_that_unpacks_to_more_than_the_limit_is_413(
    agent: Client, settings: Settings
) -> None:
    settings.MAX_PROFILE_BYTES = 2**16
    response = send(agent, gzip.compress(bytes(2**20)))
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_PROFILE_BYTES")
    assert "Retry-After" not in response.headers  # it is rejected for good


def test_another_project_is_404(agent: Client) -> None:
    response = send(agent, FOLDED, project="another-1")
    assert_error_response(response, 404, "NOT_FOUND", "No such project")


def test_a_request_without_a_key_is_401(agent: Client) -> None:
    response = send(Client(agent.project), FOLDED)
    assert_error_response(response, 401, "UNAUTHENTICATED", "API key")


def test_a_key_that_only_reads_is_403(reader: Client) -> None:
    assert_error_response(send(reader, FOLDED), 403, "PERMISSION_DENIED", "scope write")


def test_other_methods_are_405(agent: Client) -> None:
    response = agent.request("GET", "/api/v1/projects/-/profiles:import")
    assert_error_response(response, 405, "UNIMPLEMENTED", "POST")
