"""Capture now, by `POST /api/v1/projects/<project>/capture`."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from common.fair_threads import FairThreads
from profiles.queries import concurrency
from profiles.queries.concurrency import LIMITS
from projects.credentials import operator_token
from projects.models import AuditEntry, Project
from scheduler.long_poll import queue_of_process
from tests.ingest.client import HANDSHAKE, Client, assert_error_response, until_parked

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

PARAMS = {"service": "checkout", "type": "CPU"}
OFFERED = HANDSHAKE | {"profileType": ["CPU", "PEAK_HEAP"]}


@pytest.fixture(autouse=True)
def long_holds(settings: Settings) -> None:
    """Set a long poll timeout, so that the agent is still parked when the request arrives."""
    settings.POLL_TIMEOUT_SECONDS = 50


def capture(client: Client, **changes: Any) -> httpx.Response:
    return client.request("POST", path(client.project), json=PARAMS | changes)


def path(project: str) -> str:
    return f"/api/v1/projects/{project}/capture"


def while_parked(agent: Client, asker: Client, **changes: Any) -> list[httpx.Response]:
    """Return the responses to a capture request and to the agent that is parked meanwhile."""

    async def both() -> list[httpx.Response]:
        await agent.send("POST", agent.profiles, json=OFFERED)  # the agent's first profile
        parked = asyncio.create_task(agent.send("POST", agent.profiles, json=OFFERED))
        await until_parked()
        response = await asker.send("POST", path(asker.project), json=PARAMS | changes)
        await (
            queue_of_process().close()
        )  # the agent still captures its first profile, so waiting for it is unnecessary
        return [response, await parked]

    return asyncio.run(both())


@pytest.mark.parametrize("scope", ["agent", "reader"])
def test_keys_of_both_scopes_request_captures(
    scope: str, agent: Client, request: pytest.FixtureRequest
) -> None:
    asker: Client = request.getfixturevalue(scope)
    response, _count_parked_agents = while_parked(agent, asker)
    assert response.status_code == 201, response.text
    capture_request = response.json()
    assert capture_request.pop("slot")
    assert capture_request == {"service": "checkout", "type": "CPU", "waiting": 1}


def test_audit_log_records_the_project_and_the_key(agent: Client, project: Project) -> None:
    while_parked(agent, agent)
    entry = AuditEntry.objects.get(action="capture.now")
    assert entry.project == project
    assert agent.key.startswith(entry.actor_key)


def test_operator_token_requests_captures(agent: Client, project: Project) -> None:
    operator = Client(project.project_id, operator_token.make(project.project_id))
    response, _count_parked_agents = while_parked(agent, operator)
    assert response.status_code == 201, response.text
    assert AuditEntry.objects.get(action="capture.now").actor_key == "operator"


def test_operator_token_of_another_project_is_rejected(
    project: Project, other_project: Project
) -> None:
    token = operator_token.make(other_project.project_id)
    assert_error_response(capture(Client(project.project_id, token)), 401, "UNAUTHENTICATED")


def test_a_service_without_agents_is_409_and_a_sentence(agent: Client) -> None:
    assert_error_response(capture(agent), 409, "FAILED_PRECONDITION", "checkout")


def test_type_that_no_agent_offers_is_409_with_the_offered_ones(agent: Client) -> None:
    agent.handshake()
    response, _count_parked_agents = while_parked(agent, agent, type="HEAP")
    assert_error_response(response, 409, "FAILED_PRECONDITION", "HEAP", "CPU")


@pytest.mark.parametrize("restriction", [{"zone": "eu-1"}, {"version": "1.4"}])
def test_zone_and_version_restrict_the_agents(restriction: dict[str, str], agent: Client) -> None:
    assert while_parked(agent, agent, **restriction)[0].status_code == 201


@pytest.mark.parametrize("restriction", [{"zone": "us-1"}, {"version": "9"}])
def test_zone_or_version_without_agents_is_409(restriction: dict[str, str], agent: Client) -> None:
    assert_error_response(while_parked(agent, agent, **restriction)[0], 409, "FAILED_PRECONDITION")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"service": None}, "service"),
        ({"service": 5}, "service"),
        ({"type": None}, "type"),
        ({"type": "GPU"}, "type"),
        ({"type": "PEAK_HEAP"}, "type"),
        ({"zone": 5}, "zone"),
        ({"zone": None}, "zone"),
    ],
)
def test_a_field_that_cannot_be_used_is_400_and_named(
    change: dict[str, Any], field: str, agent: Client
) -> None:
    assert_error_response(capture(agent, **change), 400, "INVALID_ARGUMENT", f"{field}: ")


@pytest.mark.usefixtures("stopped_clock")
def test_a_capture_counts_as_a_query_of_its_project(agent: Client, settings: Settings) -> None:
    settings.QUERIES_PER_MINUTE = 2
    for _ in range(2):
        assert_error_response(capture(agent), 409, "FAILED_PRECONDITION")
    for rejected in (capture(agent), capture(agent, service=None)):
        assert_error_response(
            rejected, 429, "RESOURCE_EXHAUSTED", "FLAMEWATCH_QUERIES_PER_MINUTE allows 2"
        )


def test_a_capture_waits_in_the_queue_of_queries(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = FairThreads("flamewatch-query", replace(LIMITS, waiting_of_tenant=0))
    monkeypatch.setattr(concurrency, "_threads", full)
    assert_error_response(capture(agent), 429, "RESOURCE_EXHAUSTED", "0 queries of this project")


def test_the_operator_is_not_counted(project: Project, settings: Settings) -> None:
    settings.QUERIES_PER_MINUTE = 0
    operator = Client(project.project_id, operator_token.make(project.project_id))
    assert_error_response(capture(operator), 409, "FAILED_PRECONDITION")


def test_no_key_is_401(project: Project) -> None:
    assert_error_response(capture(Client(project.project_id)), 401, "UNAUTHENTICATED")


def test_another_projects_path_is_404(stranger: Client, project: Project) -> None:
    assert_error_response(capture(Client(project.project_id, stranger.key)), 404, "NOT_FOUND")


def test_another_method_is_405(agent: Client) -> None:
    response = agent.request("GET", path(agent.project))
    assert_error_response(response, 405, "UNIMPLEMENTED")
