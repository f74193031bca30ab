"""Findings by `/api/v1/projects/<project>/regressions`."""

from typing import Any

import pytest

from findings.models import Direction, FindingState
from projects.credentials import keys
from projects.models import Project
from tests.findings.factory import add_finding
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


def ask(client: Client, **params: Any) -> dict[str, Any]:
    response = client.request("GET", "/api/v1/projects/-/regressions", params=params)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def functions(client: Client, **params: Any) -> list[str]:
    return [row["function"] for row in ask(client, **params)["rows"]]


@pytest.fixture
def found(project: Project, other_project: Project) -> None:
    add_finding(project, function="shop.a")
    add_finding(project, function="shop.b", state=FindingState.RESOLVED, service="till")
    add_finding(project, function="shop.c", direction=Direction.IMPROVEMENT, type="WALL")
    add_finding(project, function="shop.d", version="3", before=0.0)
    add_finding(other_project, function="foreign")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, ["shop.a", "shop.b", "shop.d"]),
        ({"direction": "any"}, ["shop.a", "shop.b", "shop.c", "shop.d"]),
        ({"direction": "improvement"}, ["shop.c"]),
        ({"state": "new"}, ["shop.a", "shop.d"]),
        ({"service": "till"}, ["shop.b"]),
        ({"type": "WALL", "direction": "any"}, ["shop.c"]),
        ({"function": "OP.D"}, ["shop.d"]),
        ({"version": "3"}, ["shop.d"]),
    ],
)
def test_filters_restrict_the_list(
    found: None, reader: Client, params: dict[str, str], expected: list[str]
) -> None:
    assert functions(reader, **params) == expected


def test_pages_have_each_row_once(found: None, reader: Client) -> None:
    first = ask(reader, size=2)
    assert [row["function"] for row in first["rows"]] == ["shop.a", "shop.b"]
    second = ask(reader, size=2, page=first["next_page"])
    assert [row["function"] for row in second["rows"]] == ["shop.d"]
    assert second["next_page"] is None


def test_new_function_has_no_relative_change(found: None, reader: Client) -> None:
    (row,) = ask(reader, function="shop.d")["rows"]
    assert row["relative"] is None
    (row,) = ask(reader, function="shop.a")["rows"]
    assert row["relative"] == pytest.approx(0.23)
    assert row["interval"] == [19e6, 27e6]


def test_key_of_other_services_sees_none(found: None, project: Project) -> None:
    key = keys.create(project, "till", write=False, read=True, services=("till",))[1]
    assert functions(Client("acme-shop", key)) == ["shop.b"]
    response = Client("acme-shop", key).request(
        "GET", "/api/v1/projects/-/regressions", params={"service": "shop"}
    )
    assert_error_response(response, 403, "PERMISSION_DENIED", "shop")


def test_unknown_state_is_rejected(reader: Client) -> None:
    response = reader.request("GET", "/api/v1/projects/-/regressions", params={"state": "open"})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "state")


def test_commits_are_those_between_the_versions(reader: Client, project: Project) -> None:
    add_finding(project, version="1.5", version_before="1.4")
    source_url = "https://gitlab.com/acme/shop/-/blob/{version}/{file}"
    Project.objects.filter(pk=project.pk).update(source_url=source_url)
    [row] = ask(reader)["rows"]
    assert row["commits"] == "https://gitlab.com/acme/shop/-/compare/1.4...1.5"
