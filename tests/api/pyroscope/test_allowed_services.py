"""Pyroscope's query API with a key that may read some services only."""

from typing import Any

import pytest

from projects.credentials import keys
from projects.models import Project
from tests.api.pyroscope.conftest import CPU, Call
from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def till_reader(project: Project) -> Client:
    _, text = keys.create(project, "till", write=False, read=True, services=["till"])
    return Client(project.project_id, text)


@pytest.mark.parametrize("selector", ["{}", '{service_name=~".*"}', '{service_name!="x"}'])
def test_lists_have_allowed_services_only(selector: str, call: Call, till_reader: Client) -> None:
    message = {"name": "service_name", "matchers": [selector]}
    assert call("LabelValues", till_reader, **message).json()["names"] == ["till"]
    series = call("Series", till_reader, matchers=[selector], labelNames=["service_name", "zone"])
    assert [each["labels"][0]["value"] for each in series.json()["labelsSet"]] == ["till"]


def test_profile_types_are_those_of_allowed_services(call: Call, till_reader: Client) -> None:
    types = call("ProfileTypes", till_reader).json()["profileTypes"]
    assert [each["ID"] for each in types] == [CPU]


def test_merge_of_all_services_has_allowed_ones_only(call: Call, till_reader: Client) -> None:
    message = {"profileTypeID": CPU, "labelSelector": "{}", "maxNodes": 100}
    response = call("SelectMergeStacktraces", till_reader, **message)
    assert response.json()["flamegraph"]["total"] == "5000000"


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        ("SelectMergeStacktraces", {"labelSelector": '{service_name="shop"}'}),
        ("SelectMergeProfile", {"labelSelector": '{service_name="shop"}'}),
        ("SelectSeries", {"labelSelector": '{service_name="shop"}', "step": 60}),
    ],
)
def test_query_of_another_service_is_403(
    procedure: str, message: dict[str, Any], call: Call, till_reader: Client
) -> None:
    response = call(procedure, till_reader, profileTypeID=CPU, **message)
    assert response.status_code == 403
    assert response.json()["code"] == "permission_denied"
    assert "till only, not for shop" in response.json()["message"]


def test_list_of_another_service_is_403(call: Call, till_reader: Client) -> None:
    message = {"name": "zone", "matchers": ['{service_name="shop"}']}
    assert call("LabelValues", till_reader, **message).status_code == 403
