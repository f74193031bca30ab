"""Notes at a time or at a function, by `/api/v1/projects/<project>/annotations`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings

from projects.models import Annotation, AuditEntry, Project, User
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

AT = "2026-11-20T12:02:00Z"
DEPLOY = {
    "time": AT,
    "text": "deploy 2.31.0",
    "service": "checkout",
    "version": "2.31.0",
    "link": "https://ci.example/builds/31",
}
RANGE = {"from": "2026-11-20T12:00:00Z", "to": "2026-11-20T13:00:00Z"}


def path(project: str = "-") -> str:
    return f"/api/v1/projects/{project}/annotations"


def create(client: Client, **changes: Any) -> httpx.Response:
    fields = {k: v for k, v in (DEPLOY | changes).items() if v is not None}
    return client.request("POST", path(), json=fields)


def texts(client: Client, **params: Any) -> list[str]:
    document = client.request("GET", path(), params=RANGE | params).json()
    return [row["text"] for row in document["rows"]]


def test_a_key_that_writes_creates_one_that_a_key_that_reads_lists(
    agent: Client, reader: Client, project: Project
) -> None:
    response = create(agent)
    assert response.status_code == 201, response.text
    row = response.json()
    assert row.pop("created")
    assert agent.key.startswith(row.pop("created_by_key"))
    note = Annotation.objects.get(pk=row.pop("id"))
    assert row == DEPLOY | {"time": "2026-11-20T12:02:00+00:00", "function": ""}
    assert (note.project, note.at) == (project, datetime(2026, 11, 20, 12, 2, tzinfo=UTC))
    listed = reader.request("GET", path(), params=RANGE).json()
    assert listed["rows"][0] == response.json()
    assert AuditEntry.objects.get(action="annotation.create").detail == {"annotation": note.pk}


def test_request_without_the_needed_scope_is_403(agent: Client, reader: Client) -> None:
    assert_error_response(create(reader), 403, "PERMISSION_DENIED", "write")
    assert_error_response(agent.request("GET", path()), 403, "PERMISSION_DENIED", "read")
    note = create(agent).json()["id"]
    rejected = reader.request("DELETE", f"{path()}/{note}")
    assert_error_response(rejected, 403, "PERMISSION_DENIED", "write")
    assert Annotation.objects.count() == 1


def test_the_time_defaults_to_now(agent: Client) -> None:
    assert create(agent, time=None).status_code == 201
    at = Annotation.objects.get().at
    assert at is not None
    assert abs(timezone.now() - at) < timedelta(minutes=1)


def test_list_is_filtered_by_range_and_service_and_paged(agent: Client, reader: Client) -> None:
    create(agent, text="a")
    create(agent, text="late", time="2026-11-20T13:00:00Z")
    create(agent, text="all services", service=None, version=None)
    create(agent, text="another", service="cart")
    create(agent, text="of f", function="f", time=None, version=None)
    assert texts(reader) == ["a", "all services", "another", "of f"]
    assert texts(reader, service="checkout") == ["a", "all services", "of f"]
    first = reader.request("GET", path(), params=RANGE | {"size": 3}).json()
    assert texts(reader, size=3, page=first["next_page"]) == ["of f"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": None}, "text"),
        ({"text": "  "}, "text"),
        ({"text": "x" * 501}, "text"),
        ({"time": ""}, "time"),
        ({"time": "yesterday"}, "time"),
        ({"time": "2026-11-20T12:00:00"}, "time"),
        ({"service": "x" * 256}, "service"),
        ({"service": None}, "version"),
        ({"function": "f"}, "time"),
        ({"function": "f", "time": None}, "version"),
        ({"function": "f", "time": None, "version": None, "service": None}, "function"),
        ({"link": "http://ci.example"}, "link"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"link": "https://"}, "link"),
        ({"link": "https://[ci"}, "link"),
        ({"link": "https://a b"}, "link"),
        ({"link": "https://ci.example/" + "x" * 500}, "link"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_field_that_cannot_be_used_is_400_and_named(
    change: dict[str, Any], field: str, agent: Client
) -> None:
    assert_error_response(create(agent, **change), 400, "INVALID_ARGUMENT", f"{field}: ")
    assert not Annotation.objects.exists()


def test_null_is_no_missing_field(agent: Client) -> None:
    response = agent.request("POST", path(), json={"text": "deployed", "link": None})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "link: must not be null")


def test_a_body_over_the_limit_is_413(agent: Client) -> None:
    assert_error_response(create(agent, text="x" * 2**17), 413, "RESOURCE_EXHAUSTED")


def test_key_deletes_a_note_that_a_key_created(agent: Client) -> None:
    note = create(agent).json()["id"]
    assert agent.request("DELETE", f"{path()}/{note}").status_code == 204
    assert not Annotation.objects.exists()
    assert_error_response(agent.request("DELETE", f"{path()}/{note}"), 404, "NOT_FOUND")
    assert_error_response(agent.request("DELETE", f"{path()}/{10**30}"), 404, "NOT_FOUND")
    assert AuditEntry.objects.filter(action="annotation.delete").count() == 1


def test_a_key_cannot_delete_the_note_of_a_person(
    agent: Client, project: Project, alice: User
) -> None:
    note = Annotation.objects.create(project=project, at=timezone.now(), text="x", created_by=alice)
    assert_error_response(agent.request("DELETE", f"{path()}/{note.pk}"), 404, "NOT_FOUND")
    assert Annotation.objects.exists()


def test_another_projects_notes_are_404_and_not_listed(
    agent: Client, reader: Client, other_project: Project
) -> None:
    foreign = Annotation.objects.create(
        project=other_project,
        at=datetime(2026, 11, 20, 12, 2, tzinfo=UTC),
        text="theirs",
        created_key="fw_other",
    )
    there = path(other_project.project_id)
    assert texts(reader) == []
    for response in (
        agent.request("POST", there, json=DEPLOY),
        reader.request("GET", there),
        agent.request("DELETE", f"{there}/{foreign.pk}"),
        agent.request("DELETE", f"{path()}/{foreign.pk}"),
    ):
        assert_error_response(response, 404, "NOT_FOUND")
    assert Annotation.objects.get() == foreign


def test_note_over_the_limit_replaces_the_oldest_of_a_key(
    agent: Client, project: Project, alice: User, settings: Settings
) -> None:
    settings.MAX_ANNOTATIONS = 3
    Annotation.objects.create(project=project, at=timezone.now(), text="kept", created_by=alice)
    for text in ("first", "second", "third"):
        assert create(agent, text=text).status_code == 201
    assert {row.text for row in Annotation.objects.all()} == {"kept", "second", "third"}


def test_the_notes_of_people_are_never_replaced(
    agent: Client, project: Project, alice: User, settings: Settings
) -> None:
    settings.MAX_ANNOTATIONS = 1
    Annotation.objects.create(project=project, at=timezone.now(), text="kept", created_by=alice)
    reason = "FLAMEWATCH_MAX_ANNOTATIONS allows 1"
    assert_error_response(create(agent), 429, "RESOURCE_EXHAUSTED", reason)
    assert Annotation.objects.get().text == "kept"


@pytest.mark.usefixtures("stopped_clock")
def test_each_request_counts_as_a_query_of_its_project(agent: Client, settings: Settings) -> None:
    settings.QUERIES_PER_MINUTE = 1
    assert create(agent).status_code == 201
    reason = "FLAMEWATCH_QUERIES_PER_MINUTE allows 1"
    assert_error_response(create(agent), 429, "RESOURCE_EXHAUSTED", reason)
    rejected = agent.request("DELETE", f"{path()}/1")
    assert_error_response(rejected, 429, "RESOURCE_EXHAUSTED", reason)
