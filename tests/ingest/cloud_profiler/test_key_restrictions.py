"""Expired API keys, and allowed services of keys, at Cloud Profiler's endpoints."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from common import write_behind
from profiles.models import Profile
from projects.credentials import keys
from projects.models import ApiKey, DayRejections, Deployment, Project
from projects.profile_types import ProfileType
from projects.registration import registry
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response
from tests.profiles import rows
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)
PAYMENTS: dict[str, Any] = {**DEPLOYMENT, "target": "payments"}


def rejections(project: Project) -> dict[str, int]:
    write_behind.write_now()
    counts = DayRejections.objects.filter(project=project)
    return dict(counts.values_list("reason", "count"))


def expire(project: Project) -> ApiKey:
    key = project.api_keys.get()
    keys.change(key, services=key.services, expires=timezone.now() - HOUR)
    return key


@pytest.fixture
def checkout_agent(project: Project) -> Client:
    """Return a client whose key may send and read checkout and catalog-* only."""
    _, text = keys.create(project, "ci", read=True, services=["checkout", "catalog-*"])
    return Client(project.project_id, text)


def test_expired_key_is_401_with_time_and_remedy(agent: Client, project: Project) -> None:
    agent.captured_request()
    key = expire(project)
    for response in (agent.handshake(), agent.offline()):
        words = (key.prefix, "expired on", "Create a key")
        assert_error_response(response, 401, "UNAUTHENTICATED", *words)
    assert rejections(project) == {"key_expired": 2}


def test_upload_of_a_name_whose_key_has_expired_is_403(agent: Client, project: Project) -> None:
    name = agent.captured_request()["name"]
    expire(project)
    response = Client(agent.project).upload(name)
    assert_error_response(response, 403, "PERMISSION_DENIED", "revoked or has expired")


def test_handshake_of_another_service_is_403_and_registers_nothing(
    checkout_agent: Client, project: Project
) -> None:
    response = checkout_agent.handshake(HANDSHAKE | {"deployment": PAYMENTS})
    key = project.api_keys.get()
    words = (f"{key.prefix}…", "checkout, catalog-* only", "payments")
    assert_error_response(response, 403, "PERMISSION_DENIED", *words)
    assert not Deployment.objects.exists()
    assert rejections(project) == {"key_services": 1}


@pytest.mark.parametrize("service", ["checkout", "catalog-eu"])
def test_handshake_and_upload_of_an_allowed_service_are_stored(
    service: str, checkout_agent: Client
) -> None:
    deployment = DEPLOYMENT | {"target": service}
    response = checkout_agent.handshake(HANDSHAKE | {"deployment": deployment})
    assert checkout_agent.upload(response.json()["name"]).status_code == 200
    assert Profile.objects.get().service == service


def test_restricted_key_of_a_known_agent_costs_no_query(checkout_agent: Client) -> None:
    checkout_agent.captured_request()
    registry.note_profiled(Deployment.objects.get().pk, ProfileType.CPU)
    with count_queries() as queries:
        assert_error_response(checkout_agent.handshake(), 409, "ABORTED")
    assert queries == []


def test_offline_upload_of_another_service_is_403(checkout_agent: Client) -> None:
    response = checkout_agent.offline(deployment=PAYMENTS)
    assert_error_response(response, 403, "PERMISSION_DENIED", "payments")
    assert not Profile.objects.exists()


@pytest.mark.parametrize("sends_key", [True, False])
def test_upload_of_a_service_that_is_no_longer_allowed_is_403(
    sends_key: bool, agent: Client, project: Project
) -> None:
    name = agent.captured_request()["name"]
    keys.change(project.api_keys.get(), services=["payments"], expires=None)
    client = agent if sends_key else Client(agent.project)
    assert_error_response(client.upload(name), 403, "PERMISSION_DENIED", "checkout")


def test_file_of_another_service_is_403(checkout_agent: Client) -> None:
    path = f"/api/v1/projects/{checkout_agent.project}/profiles:import?service=payments"
    response = checkout_agent.request("POST", path, content=b"main;work 5\n")
    assert_error_response(response, 403, "PERMISSION_DENIED", "payments")


def test_list_has_allowed_services_only(checkout_agent: Client, project: Project) -> None:
    for service in ("checkout", "payments", "catalog-eu"):
        rows.stored(rows.deployment(project, service=service))
    listed = checkout_agent.request("GET", checkout_agent.profiles).json()["profiles"]
    assert {each["deployment"]["target"] for each in listed} == {"checkout", "catalog-eu"}
    response = checkout_agent.request("GET", f"{checkout_agent.profiles}?service=payments")
    assert_error_response(response, 403, "PERMISSION_DENIED", "payments")


def test_last_use_has_the_address_of_the_agent(agent: Client, project: Project) -> None:
    agent.captured_request()
    write_behind.write_now()
    assert project.api_keys.get().last_used_from == "127.0.0.1"
