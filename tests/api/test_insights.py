"""`/api/v1/projects/<project>/insights`: rules that match, with shares and evidence."""

import pytest

from projects.models import Project
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
URL = "/api/v1/projects/-/insights"
RANGE = {"service": "shop", "type": "CPU", "from": "2026-11-20T11:00:00Z"} | {
    "to": "2026-11-20T13:00:00Z"
}


def test_rules_are_listed_by_share(reader: Client, project: Project) -> None:
    rows.stored(
        rows.deployment(project),
        {"main;copy.deepcopy": 300, "main;view;json.dumps": 600, "main;work": 100},
    )
    response = reader.request("GET", URL, params=RANGE)
    assert response.status_code == 200, response.text
    document = response.json()
    assert [row["rule"] for row in document["rows"]] == ["python-json", "python-deepcopy"]
    first = document["rows"][0]
    assert first["share"] == pytest.approx(0.6)
    assert first["stack"] == ["main", "view", "json.dumps"]
    assert first["callers"][0]["name"] == "view"
    assert first["callers"][0]["total"] == pytest.approx(0.6 * 1000 * 1000)
    assert first["title"] == "JSON takes a large part of the time"


def test_no_profiles_give_no_rows(reader: Client) -> None:
    response = reader.request("GET", URL, params=RANGE | {"service": "none"})
    assert response.json().get("rows") == []
