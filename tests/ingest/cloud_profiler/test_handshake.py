"""CreateProfile: `POST /v2/projects/{project}/profiles`."""

import copy
import gzip
from typing import Any

import orjson
import pytest
from pytest_django import Settings

from common import write_behind
from ingest.cloud_profiler import names
from profiles.models import Profile
from projects.models import (
    Agent,
    ApiKey,
    DayRejections,
    DayUsage,
    Deployment,
    Project,
    Quota,
)
from projects.profile_types import ProfileType
from projects.registration import registry
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


def test_first_handshake_gets_a_capture_request_at_once(agent: Client) -> None:
    response = agent.captured_request()
    assert response["profileType"] == "CPU"
    assert response["duration"] == "10s"
    assert response["labels"] == {}
    assert response["deployment"] == {"projectId": agent.project, **DEPLOYMENT}
    assert response["name"].startswith(f"projects/{agent.project}/profiles/")


def test_profile_name_has_type_project_deployment_and_agent(
    agent: Client, project: Project
) -> None:
    name_id = agent.captured_request()["name"].rpartition("/")[2]
    moment = Deployment.objects.get().last_seen.timestamp()
    issued = names.check(name_id, agent.project, moment)
    assert issued.type is ProfileType.CPU
    assert issued.project == project.pk
    assert issued.deployment == Deployment.objects.get().pk
    assert issued.agent == Agent.objects.get().pk


def test_an_agent_and_its_deployment_are_registered(agent: Client) -> None:
    ours = {
        "X-Flamewatch-Agent": "6f1c1f7e-3f5b-4b8e-9a52-0d1f7a1f2b11",
        "X-Flamewatch-Host": "web-1",
        "User-Agent": "flamewatch-python/0.1",
    }
    Client(agent.project, agent.key, ours).handshake()
    row = Agent.objects.select_related("deployment").get()
    assert (row.identity, row.hostname) == (ours["X-Flamewatch-Agent"], "web-1")
    assert (row.user_agent, row.types) == ("flamewatch-python/0.1", ["CPU"])
    deployment = row.deployment
    assert (deployment.service, deployment.zone) == ("checkout", "eu-1")
    assert (deployment.version, deployment.language) == ("1.4", "go")


def test_only_offered_types_are_asked_for(agent: Client) -> None:
    response = agent.handshake(HANDSHAKE | {"profileType": ["THREADS"]})
    assert response.json()["profileType"] == "THREADS"


def test_peak_heap_is_never_asked_for(agent: Client) -> None:
    response = agent.handshake(HANDSHAKE | {"profileType": ["PEAK_HEAP"]})
    assert_error_response(response, 409, "ABORTED")


def test_agent_without_a_capture_request_gets_409_with_a_delay(
    agent: Client, project: Project
) -> None:
    agent.captured_request()
    registry.note_profiled(Deployment.objects.get().pk, ProfileType.CPU)
    assert_error_response(agent.handshake(), 409, "ABORTED", "Nothing to capture now (retry in ")


def test_a_handshake_of_a_registered_agent_runs_no_query(agent: Client) -> None:
    agent.captured_request()
    registry.note_profiled(Deployment.objects.get().pk, ProfileType.CPU)
    with count_queries() as queries:
        assert_error_response(agent.handshake(), 409, "ABORTED")
    assert queries == []


def test_our_agents_need_not_know_their_project(key: str, project: Project) -> None:
    assert Client("-", key).captured_request()["deployment"]["projectId"] == project.project_id


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"Authorization": "Bearer {}"}, ""),
        ({"Authorization": "bearer {}"}, ""),
        ({"X-Goog-Api-Key": "{}"}, ""),
        ({}, "?key={}"),
        ({}, "?alt=json&key={}"),
    ],
)
def test_key_is_accepted_in_each_header_and_parameter(
    headers: dict[str, str], query: str, agent: Client
) -> None:
    filled = {name: value.format(agent.key) for name, value in headers.items()}
    anonymous = Client(agent.project, headers=filled)
    path = anonymous.profiles + query.format(agent.key)
    assert anonymous.request("POST", path, json=HANDSHAKE).status_code == 200


def test_a_key_may_come_as_a_label_and_is_stripped(agent: Client) -> None:
    message = copy.deepcopy(HANDSHAKE)
    message["deployment"]["labels"]["api-key"] = agent.key
    response = Client(agent.project).handshake(message)
    assert response.status_code == 200
    assert agent.key not in response.text
    assert "api-key" not in response.text


@pytest.mark.parametrize("content_type", ["text/plain;charset=UTF-8", "application/json", "x"])
def test_json_is_read_whatever_the_header_says(content_type: str, agent: Client) -> None:
    body = orjson.dumps(HANDSHAKE)
    response = agent.request(
        "POST", agent.profiles, content=body, headers={"Content-Type": content_type}
    )
    assert response.status_code == 200


def test_the_body_may_be_gzip(agent: Client) -> None:
    body = gzip.compress(orjson.dumps(HANDSHAKE))
    headers = {"Content-Encoding": "gzip"}
    response = agent.request("POST", agent.profiles, content=body, headers=headers)
    assert response.status_code == 200


def test_the_body_may_come_in_chunks(agent: Client) -> None:
    async def chunks() -> Any:
        body = orjson.dumps(HANDSHAKE)
        yield body[:20]
        yield body[20:]

    assert agent.request("POST", agent.profiles, content=chunks()).status_code == 200


# -- error responses ----------------------------------------------------------------------


def test_no_key_is_401(agent: Client) -> None:
    assert_error_response(Client(agent.project).handshake(), 401, "UNAUTHENTICATED", "API key")


@pytest.mark.parametrize("key", ["x", "fw_abc", "fw_aaaaaaaaaa_" + "a" * 38, "x" * 1000])
def test_an_unknown_key_is_401(key: str, project: Project) -> None:
    assert_error_response(Client(project.project_id, key).handshake(), 401, "UNAUTHENTICATED")


def test_a_revoked_key_is_401(agent: Client) -> None:
    assert agent.handshake().status_code == 200
    key = ApiKey.objects.get()
    key.revoked = key.created
    key.save()
    assert_error_response(agent.handshake(), 401, "UNAUTHENTICATED")


def test_a_key_that_may_only_read_is_403(reader: Client) -> None:
    assert_error_response(reader.handshake(), 403, "PERMISSION_DENIED", "write")


def test_another_projects_path_is_404(stranger: Client, project: Project) -> None:
    response = Client(project.project_id, stranger.key).handshake()
    assert_error_response(response, 404, "NOT_FOUND")
    missing = Client("no-such-project", stranger.key).handshake()
    assert response.json()["error"]["message"] == missing.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff\xfe", b"null"])
def test_a_body_that_is_no_json_object_is_400(body: bytes, agent: Client) -> None:
    response = agent.request("POST", agent.profiles, content=body)
    assert_error_response(response, 400, "INVALID_ARGUMENT", "JSON")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"deployment": None}, "deployment"),
        ({"deployment": {"target": "Not A Target"}}, "deployment.target"),
        ({"deployment": {"target": "a", "labels": {"Zone": "x"}}}, "deployment.labels"),
        ({"deployment": {"target": "a", "labels": {"zone": "x" * 513}}}, "deployment.labels.zone"),
        ({"profileType": ["GPU"]}, "profileType[0]"),
        ({"profileType": []}, "profileType"),
    ],
)
def test_a_field_that_cannot_be_used_is_400_and_named(
    change: dict[str, Any], field: str, agent: Client
) -> None:
    assert_error_response(
        agent.handshake(HANDSHAKE | change), 400, "INVALID_ARGUMENT", f"{field}: "
    )
    assert not Deployment.objects.exists()


def test_a_body_that_is_too_large_is_413(agent: Client) -> None:
    response = agent.request("POST", agent.profiles, content=b" " * 65_537)
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "65,536 bytes")


def test_an_address_with_a_thousand_parameters_is_400(agent: Client) -> None:
    query = "&".join(f"p{i}=1" for i in range(1001))
    response = agent.request("POST", f"{agent.profiles}?{query}", json=HANDSHAKE)
    assert_error_response(response, 400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_another_method_is_405(method: str, agent: Client) -> None:
    assert_error_response(
        agent.request(method, agent.profiles),
        405,
        "UNIMPLEMENTED",
        "This URL supports GET and POST",
    )


@pytest.mark.parametrize("path", ["/v2/", "/v2/projects", "/v2/projects/x", "/v2/a/b/c/d"])
def test_unknown_path_is_404(path: str, agent: Client) -> None:
    assert_error_response(agent.request("POST", path), 404, "NOT_FOUND")


def test_one_deployment_too_many_is_429_and_says_the_limit(agent: Client, project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=1)
    agent.captured_request()
    second = HANDSHAKE | {"deployment": {"target": "billing"}}
    words = "new deployments per day", "resets", "new_deployments_per_day"
    assert_error_response(agent.handshake(second), 429, "RESOURCE_EXHAUSTED", *words)


def test_a_project_over_its_daily_quota_captures_nothing(agent: Client, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=0)
    words = "limit of 0 profiles per day"
    assert_error_response(agent.handshake(), 429, "RESOURCE_EXHAUSTED", words)
    assert Agent.objects.exists()  # the agent is registered all the same


def test_agent_over_the_new_agents_limit_still_gets_requests_and_its_profiles_are_stored(
    agent: Client, project: Project, settings: Settings
) -> None:
    settings.NEW_AGENTS_PER_DAY = 0
    name = agent.captured_request()["name"]
    response = agent.upload(name)
    assert response.status_code == 200, response.text
    assert Profile.objects.get().agent is None
    assert not Agent.objects.exists()
    broken = agent.upload(name, b"no profile")
    assert_error_response(broken, 400, "INVALID_ARGUMENT")
    assert agent.offline().status_code == 200
    assert Profile.objects.count() == 2


def test_a_project_with_too_many_parked_handshakes_is_named_its_quota(
    agent: Client, project: Project
) -> None:
    agent.captured_request()
    registry.note_profiled(Deployment.objects.get().pk, ProfileType.CPU)
    Quota.objects.create(project=project, parked_handshakes=0)
    words = "limit of 0 waiting agents", "try again in", "(parked_handshakes)"
    assert_error_response(agent.handshake(), 409, "ABORTED", *words)
    write_behind.write_now()
    assert DayRejections.objects.get().reason == "parked_handshakes"
    assert not DayUsage.objects.exclude(rejected=0).exists(), "no profile was rejected"


def test_unavailable_database_is_503(agent: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    from projects.credentials import authentication

    def away(key: str) -> object:
        raise OperationalError("could not connect to the secret host")

    monkeypatch.setattr(authentication._keys, "_load", away)
    error = assert_error_response(agent.handshake(), 503, "UNAVAILABLE", "database")
    assert "secret" not in error["message"]


def test_unexpected_exception_is_500_without_its_text(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> object:
        raise RuntimeError("the secret")

    monkeypatch.setattr("ingest.caller.Caller.describe_agent", broken)
    error = assert_error_response(agent.handshake(), 500, "INTERNAL")
    assert "secret" not in error["message"]
