"""Queries with a key that may read some services only."""

from typing import Any

import pytest

from common import write_behind
from projects import annotations
from projects.annotations import AnnotationFields
from projects.credentials import keys
from projects.models import DayRejections, Project
from tests.api.conftest import HOUR, SHOP
from tests.ingest.client import Client, assert_error_response
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
TILL: dict[str, Any] = SHOP | {"service": "till"}
OF_A_SERVICE = ["tree", "top", "compare", "history", "series", "profiles"]


@pytest.fixture(autouse=True)
def profiles(project: Project) -> None:
    """Store profiles of the services shop and till."""
    for service in ("shop", "till"):
        rows.stored(rows.deployment(project, service=service))


@pytest.fixture
def shop_reader(project: Project) -> Client:
    _, text = keys.create(project, "shop", read=True, services=["shop"])
    return Client(project.project_id, text)


def get(client: Client, name: str, params: dict[str, Any]) -> Any:
    return client.request("GET", f"/api/v1/projects/-/{name}", params=params)


@pytest.mark.parametrize("name", OF_A_SERVICE)
def test_query_of_another_service_is_403_also_if_its_result_is_cached(
    name: str, shop_reader: Client, reader: Client
) -> None:
    baseline = {"b.version": "1"} if name == "compare" else {}
    assert get(reader, name, TILL | baseline).status_code == 200
    assert get(shop_reader, name, SHOP | baseline).status_code == 200
    response = get(shop_reader, name, TILL | baseline)
    assert_error_response(response, 403, "PERMISSION_DENIED", "shop only", "till")


def test_rejected_query_is_counted(shop_reader: Client, project: Project) -> None:
    get(shop_reader, "tree", TILL)
    write_behind.write_now()
    row = DayRejections.objects.get(project=project)
    assert (row.reason, row.count) == ("key_services", 1)


def test_lists_have_allowed_services_only(shop_reader: Client) -> None:
    services = get(shop_reader, "services", HOUR).json()["services"]
    assert [each["service"] for each in services] == ["shop"]
    deployments = get(shop_reader, "deployments", {}).json()["rows"]
    assert [each["service"] for each in deployments] == ["shop"]
    response = get(shop_reader, "deployments", {"service": "till"})
    assert_error_response(response, 403, "PERMISSION_DENIED", "till")


def test_notes_are_those_of_allowed_services_and_of_all(
    shop_reader: Client, project: Project
) -> None:
    for service in ("shop", "till", ""):
        fields = AnnotationFields(f"note {service}", rows.NOON, service=service)
        annotations.create(project.pk, fields, key="fw_x")
    notes = get(shop_reader, "annotations", HOUR).json()["rows"]
    assert [each["service"] for each in notes] == ["shop", ""]


@pytest.mark.parametrize(("service", "status"), [("shop", 201), ("till", 403), ("", 403)])
def test_notes_can_be_created_for_allowed_services_only(
    service: str, status: int, shop_reader: Client
) -> None:
    message = {"text": "Deployed", "service": service}
    response = shop_reader.request("POST", "/api/v1/projects/-/annotations", json=message)
    assert response.status_code == status


def test_note_of_another_service_cannot_be_deleted(shop_reader: Client, project: Project) -> None:
    fields = AnnotationFields("note", rows.NOON, service="till")
    row = annotations.create(project.pk, fields, key="fw_x")
    response = shop_reader.request("DELETE", f"/api/v1/projects/-/annotations/{row.pk}")
    assert_error_response(response, 403, "PERMISSION_DENIED", "till")


def test_capture_of_another_service_is_403(shop_reader: Client) -> None:
    message = {"service": "till", "type": "CPU"}
    response = shop_reader.request("POST", "/api/v1/projects/-/capture", json=message)
    assert_error_response(response, 403, "PERMISSION_DENIED", "till")
