"""UpdateProfile: `PATCH /v2/projects/{project}/profiles/{id}`."""

import base64
import gzip
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest
from django.db import OperationalError
from pytest_django import Settings

from common import write_behind
from ingest.cloud_profiler import endpoint, names
from ingest.uploads.upload_budget import UploadBudget
from profiles.models import Profile, TimeSource
from profiles.storage import head
from profiles.storage.insert import InsertOutcome
from projects.credentials import keys
from projects.models import Agent, AgentReport, ApiKey, DayUsage, Deployment, Project, Quota
from tests.ingest import pprof
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response
from tests.ingest.pprof import SIMPLE, profile
from tests.wake_ups import count_wakes

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_upload_is_stored_and_its_response_has_no_bytes(agent: Client, name: str) -> None:
    response = agent.upload(name, labels={"instance": "web-1"}, duration="10s")
    assert response.status_code == 200, response.text
    row = Profile.objects.get()
    assert response.json() == {
        "name": name,
        "profileType": "CPU",
        "deployment": {"projectId": agent.project, **DEPLOYMENT},
        "duration": "10s",
        "labels": {"instance": "web-1"},
        "startTime": row.time.isoformat().replace("+00:00", "Z"),
    }


def test_stored_row_has_agent_totals_and_labels(agent: Client, name: str, project: Project) -> None:
    agent.upload(name, labels={"instance": "web-1"})
    row = Profile.objects.get()
    assert (row.project, row.deployment) == (project, Deployment.objects.get())
    assert (row.agent, row.service, row.type) == (Agent.objects.get(), "checkout", "CPU")
    assert (row.samples, row.weight) == (2, 40_000_000)
    assert row.totals == [["cpu", "nanoseconds", 40_000_000], ["samples", "count", 4]]
    assert (row.labels, row.name_id) == ({"instance": "web-1"}, name.rpartition("/")[2])


def test_stored_time_is_that_of_the_assignment(agent: Client, name: str) -> None:
    agent.upload(name, profile({("main",): (1, 1)}, time_ns=10**18))
    row = Profile.objects.get()
    assert row.time_source == TimeSource.ASSIGNED
    assert abs(row.time - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("measured", "said", "stored"),
    [(9_900_000_000, "10s", 9.9), (0, "8s", 8.0), (0, None, 10.0)],
)
def test_measured_duration_takes_precedence_over_the_stated_one(
    measured: int, said: str | None, stored: float, agent: Client, name: str
) -> None:
    agent.upload(name, profile({("main",): (1, 1)}, duration_ns=measured), duration=said)
    assert Profile.objects.get().duration_ns == stored * 10**9


def test_instantaneous_profile_has_no_duration(agent: Client) -> None:
    name = agent.handshake(HANDSHAKE | {"profileType": ["THREADS"]}).json()["name"]
    body = profile({("main",): (7,)}, types=[("goroutine", "count")])
    assert agent.upload(name, body, duration="10s").json()["duration"] == "0s"
    row = Profile.objects.get()
    assert (row.type, row.duration_ns, row.weight) == ("THREADS", 0, 7)


def test_upload_with_the_whole_assigned_profile_is_accepted(agent: Client) -> None:
    response = agent.captured_request()
    message = response | {"profileBytes": base64.b64encode(SIMPLE).decode()}
    assert agent.request("PATCH", f"/v2/{response['name']}", json=message).status_code == 200


def test_the_first_profile_counts_for_the_deployment(agent: Client, name: str) -> None:
    agent.upload(name)
    assert Deployment.objects.get().profiled == ["CPU"]
    assert_error_response(
        agent.handshake(), 409, "ABORTED"
    )  # no second profile is requested at once


def test_signed_name_is_sufficient_without_a_key(agent: Client, name: str) -> None:
    assert Client(agent.project).upload(name).status_code == 200


def test_name_is_rejected_after_its_key_is_revoked(
    agent: Client, name: str, project: Project
) -> None:
    """Check that a name is good for nothing once its key is revoked, with another key neither."""
    keys.revoke(ApiKey.objects.get())
    assert_error(Client(agent.project).upload(name), 403, "PERMISSION_DENIED", "revoked")
    other = Client(agent.project, keys.create(project, "new")[1])
    assert_error(other.upload(name), 403, "PERMISSION_DENIED", "revoked")


def test_path_without_a_project_is_accepted_with_a_key(agent: Client, name: str) -> None:
    name_id = name.rpartition("/")[2]
    assert agent.upload(f"projects/-/profiles/{name_id}").status_code == 200


@pytest.mark.parametrize("mask", ["profileBytes", "profile_bytes,labels", "labels"])
def test_an_update_mask_changes_nothing(mask: str, agent: Client, name: str) -> None:
    assert agent.upload(f"{name}?updateMask={mask}&alt=json").status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
def test_json_is_read_whatever_the_header_says(content_type: str, agent: Client, name: str) -> None:
    body = orjson.dumps({"profile_bytes": base64.urlsafe_b64encode(SIMPLE).decode().rstrip("=")})
    headers = {"Content-Type": content_type}
    response = agent.request("PATCH", f"/v2/{name}", content=body, headers=headers)
    assert response.status_code == 200, response.text


def test_the_body_may_be_gzip_and_come_in_chunks(agent: Client, name: str) -> None:
    async def chunks() -> Any:
        body = gzip.compress(orjson.dumps({"profileBytes": base64.b64encode(SIMPLE).decode()}))
        yield body[:50]
        yield body[50:]

    headers = {"Content-Encoding": "gzip"}
    response = agent.request("PATCH", f"/v2/{name}", content=chunks(), headers=headers)
    assert response.status_code == 200, response.text


# -- error responses ----------------------------------------------------------------------


def assert_error(response: httpx.Response, status: int, code: str, *words: str) -> None:
    assert_error_response(response, status, code, *words)
    assert not Profile.objects.exists()
    assert not DayUsage.objects.filter(profiles__gt=0).exists()


def test_an_unknown_key_is_401(name: str, agent: Client) -> None:
    assert_error(Client(agent.project, "fw_x").upload(name), 401, "UNAUTHENTICATED")


def test_a_revoked_key_is_401(name: str, agent: Client) -> None:
    key = ApiKey.objects.get()
    key.revoked = key.created
    key.save()
    assert_error(agent.upload(name), 401, "UNAUTHENTICATED")


def test_a_key_that_may_only_read_is_403(name: str, reader: Client) -> None:
    assert_error(reader.upload(name), 403, "PERMISSION_DENIED")


def test_another_tenants_key_is_404(name: str, stranger: Client) -> None:
    assert_error(stranger.upload(name), 404, "NOT_FOUND")
    moved = name.replace("acme-shop", stranger.project)
    assert_error(stranger.upload(moved), 404, "NOT_FOUND")
    assert_error(Client(stranger.project).upload(moved), 404, "NOT_FOUND")


@pytest.mark.parametrize("name_id", ["x", "a" * 76, "%01", "offline-x", "a:b", "ä"])
def test_an_unknown_name_is_404(name_id: str, agent: Client) -> None:
    assert_error(agent.upload(f"projects/{agent.project}/profiles/{name_id}"), 404, "NOT_FOUND")


def test_a_forged_name_is_404(name: str, agent: Client) -> None:
    forged = name[:-5] + ("A" if name[-5] != "A" else "B") + name[-4:]
    assert_error(agent.upload(forged), 404, "NOT_FOUND")


def test_an_expired_name_is_404(name: str, agent: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "GOOD_FOR_SECONDS", -1)
    assert_error(agent.upload(name), 404, "NOT_FOUND", "expired")


def test_name_of_a_deleted_deployment_is_404(name: str, agent: Client) -> None:
    Deployment.objects.all().delete()
    assert_error(agent.upload(name), 404, "NOT_FOUND")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_400(body: bytes, name: str, agent: Client) -> None:
    response = agent.request("PATCH", f"/v2/{name}", content=body)
    assert_error(response, 400, "INVALID_ARGUMENT", "JSON")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"profileBytes": None}, "profileBytes"),
        ({"profileBytes": "%%%"}, "profileBytes"),
        ({"labels": {"instance": "x" * 513}}, "labels.instance"),
        ({"labels": {"Instance": "x"}}, "labels"),
        ({"duration": "soon"}, "duration"),
    ],
)
def test_a_field_that_cannot_be_used_is_400_and_named(
    fields: dict[str, Any], field: str, name: str, agent: Client
) -> None:
    assert_error(agent.upload(name, **fields), 400, "INVALID_ARGUMENT", f"{field}: ")


def broken_index() -> bytes:
    """Return a profile with a sample at a location that does not exist."""
    sample = pprof.field(2, pprof.field(1, pprof.varint(99)) + pprof.field(2, pprof.varint(1)))
    kind = pprof.field(1, pprof.field(1, 1) + pprof.field(2, 2))
    strings = b"".join(pprof.field(6, text) for text in (b"", b"cpu", b"nanoseconds"))
    return gzip.compress(kind + sample + strings)


@pytest.mark.parametrize(
    "body",
    [
        b"not a profile",
        gzip.compress(b"not a profile"),
        SIMPLE[:-10],
        SIMPLE[:20] + b"\xff" + SIMPLE[21:],
        broken_index(),
        gzip.compress(b""),
    ],
    ids=["text", "gzip of text", "cut short", "damaged", "broken index", "empty"],
)
def test_bytes_that_are_no_profile_are_400(body: bytes, name: str, agent: Client) -> None:
    assert_error(agent.upload(name, body), 400, "INVALID_ARGUMENT")
    assert agent.upload(name).status_code == 200  # and the name is still valid


def test_a_profile_that_is_too_large_packed_is_413(
    name: str, agent: Client, settings: Settings
) -> None:
    settings.MAX_UPLOAD_BYTES = len(SIMPLE) - 1
    words = "FLAMEWATCH_MAX_UPLOAD_BYTES", f"{len(SIMPLE) - 1:,}"
    assert_error(agent.upload(name), 413, "RESOURCE_EXHAUSTED", *words)


def test_a_body_is_rejected_by_its_declared_size(
    name: str, agent: Client, settings: Settings
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000
    response = agent.request("PATCH", f"/v2/{name}", content=b" " * 100_000)
    assert_error(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_UPLOAD_BYTES", "100,000")


def test_a_body_in_chunks_is_rejected_when_it_is_too_large(
    name: str, agent: Client, settings: Settings
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while True:
            sent += 1
            assert sent < 100
            yield b" " * 10_000

    response = agent.request("PATCH", f"/v2/{name}", content=endless())
    assert_error(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_UPLOAD_BYTES")


def test_a_gzip_bomb_is_413(name: str, agent: Client, settings: Settings) -> None:
    settings.MAX_PROFILE_BYTES = 100_000
    bomb = gzip.compress(b"\0" * 10_000_000)
    assert_error(
        agent.upload(name, bomb), 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_PROFILE_BYTES"
    )


def test_gzip_bomb_as_content_encoding_is_413(name: str, agent: Client, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 100_000
    bomb = gzip.compress(b" " * 10_000_000)
    headers = {"Content-Encoding": "gzip"}
    response = agent.request("PATCH", f"/v2/{name}", content=bomb, headers=headers)
    assert_error(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_UPLOAD_BYTES")


def test_too_many_samples_are_413(name: str, agent: Client, settings: Settings) -> None:
    settings.MAX_SAMPLES = 1
    assert_error(agent.upload(name), 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_SAMPLES")


def test_too_deep_a_stack_is_413(name: str, agent: Client, settings: Settings) -> None:
    settings.MAX_DEPTH = 1
    assert_error(agent.upload(name), 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_DEPTH")


def test_a_label_with_too_many_values_is_429_and_noted(
    name: str, agent: Client, settings: Settings
) -> None:
    settings.MAX_LABEL_VALUES = 1
    assert agent.offline(labels={"request": "1"}).status_code == 200
    response = agent.upload(name, labels={"request": "2"})
    assert_error_response(response, 429, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_LABEL_VALUES")
    assert agent.upload(name, labels={"request": "1"}).status_code == 200
    write_behind.write_now()
    assert AgentReport.objects.filter(rejection__contains="'request'").count() == 1


def test_a_profile_beyond_the_projects_quota_is_413(
    name: str, agent: Client, project: Project
) -> None:
    Quota.objects.create(project=project, bytes_per_profile=10)
    assert_error(agent.upload(name), 413, "RESOURCE_EXHAUSTED", "bytes_per_profile")


@pytest.mark.parametrize("limit", ["profiles_per_minute", "profiles_per_day", "stored_bytes"])
def test_a_quota_that_is_reached_is_429_and_says_when_it_resets(
    limit: str, name: str, agent: Client, project: Project
) -> None:
    Quota.objects.create(project=project, **{limit: 0})
    assert_error(agent.upload(name), 429, "RESOURCE_EXHAUSTED", limit)


def test_upload_is_503_until_the_database_returns(
    name: str, agent: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(batch: object) -> list[InsertOutcome]:
        raise OperationalError("no route to the secret host")

    writer = head.Writer(insert=away)
    with monkeypatch.context() as patched, caplog.at_level(logging.CRITICAL):
        patched.setattr(head, "_writer", writer)
        response = agent.upload(name)
        writer.stop()
    assert_error(response, 503, "UNAVAILABLE", "database")
    assert "secret" not in response.text
    assert agent.upload(name).status_code == 200


def test_too_many_bytes_in_flight_are_503(
    name: str, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "process_budget", UploadBudget(total=100, per_project=100))
    assert_error(agent.upload(name), 503, "UNAVAILABLE", "later")


def test_an_address_with_many_parameters_is_400(name: str, agent: Client) -> None:
    assert_error(agent.upload(name + "?" + "&".join(["a=1"] * 21)), 400, "INVALID_ARGUMENT", "20")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_another_method_is_405(method: str, name: str, agent: Client) -> None:
    assert_error(agent.request(method, f"/v2/{name}"), 405, "UNIMPLEMENTED", "PATCH")


def test_rejected_upload_does_not_count_against_the_quota(
    name: str, agent: Client, project: Project
) -> None:
    Quota.objects.create(project=project, profiles_per_day=1, profiles_per_minute=1)
    assert agent.upload(name, b"not a profile").status_code == 400
    assert agent.upload(name).status_code == 200
    assert agent.upload(name).status_code == 429


def test_the_agents_report_is_stored(agent: Client, name: str) -> None:
    comments = ["flamewatch.samples=90", "flamewatch.samples_dropped=10", "https://example.org"]
    agent.upload(name, profile({("main",): (1, 1)}, comments=comments))
    write_behind.write_now()
    report = AgentReport.objects.get(agent=Agent.objects.get())
    assert (report.samples, report.dropped, report.cpu_share) == (90, 10, None)
    assert report.last_type == "CPU"


def test_repeated_upload_is_not_counted_again(agent: Client, name: str) -> None:
    body = profile({("main",): (1, 1)}, comments=["flamewatch.samples=90"])
    agent.upload(name, body)
    agent.upload(name, body)
    write_behind.write_now()
    assert AgentReport.objects.get().samples == 90


def test_a_rejected_upload_is_recorded_with_its_reason(agent: Client, name: str) -> None:
    assert agent.upload(name, b"garbage").status_code == 400
    write_behind.write_now()
    report = AgentReport.objects.get()
    assert report.rejection.startswith("400: ")
    assert (report.rejected, report.last_profile) == (1, None)


def test_upload_wakes_the_event_loop_once(
    name: str, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the event loop wakes once for an upload that two threads decode and store."""
    agent.upload(name)  # fills the caches of what is read from the database once
    wakes = count_wakes(monkeypatch)
    assert agent.upload(name).status_code == 200
    assert len(wakes) == 1


def test_a_rejected_upload_does_not_delay_the_next_commit(
    name: str, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "GATHER_SECONDS", 60)
    assert agent.upload(name, b"garbage").status_code == 400
    assert agent.upload(name).status_code == 200  # 503 after 15 s if it waited for the first one
