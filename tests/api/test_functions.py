"""`/api/v1/projects/<project>/functions`: services with a function, their cost and versions."""

import pytest

from projects.credentials import keys
from projects.models import Agent, Project, User
from projects.prices import change_prices
from tests.ingest.client import Client, assert_error_response
from tests.profiles import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
URL = "/api/v1/projects/-/functions"
RANGE = {"from": "2026-11-20T11:00:00Z", "to": "2026-11-20T13:00:00Z"}


def test_services_have_share_cost_callers_and_versions(
    reader: Client, project: Project, alice: User
) -> None:
    shop = rows.deployment(project, "shop", version="1.4")
    rows.stored(shop, {"main;cart;json.dumps": 250_000, "main;work": 750_000})
    rows.stored(rows.deployment(project, "till"), {"main;work": 1})
    change_prices(project, {"currency": "EUR", "core_hour": 0.2}, actor=alice)
    response = reader.request("GET", URL, params=RANGE | {"find": "json."})
    assert response.status_code == 200, response.text
    document = response.json()
    assert (document["examined"], document["complete"]) == (2, True)
    assert document["currency"] == "EUR"
    [row] = document["services"]
    assert (row["service"], row["share"], row["profiles"]) == ("shop", 0.25, 1)
    assert row["cores"] is None  # no agent runs
    assert row["callers"] == [{"name": "cart", "total": 250_000_000}]
    assert row["versions"] == [
        {"version": "1.4", "share": 0.25, "mean": 250_000_000.0, "profiles": 1}
    ]
    assert [share for share in row["steps"]["share"] if share is not None] == [0.25]


def test_cores_are_those_of_the_agents_that_run(
    reader: Client, project: Project, alice: User
) -> None:
    shop = rows.deployment(project, "shop")
    rows.stored(shop, {"main;json.dumps": 2_500_000, "main;work": 7_500_000})
    change_prices(project, {"currency": "EUR", "core_hour": 0.2}, actor=alice)
    now = shop.last_seen
    for number in range(3):
        Agent.objects.create(
            deployment=shop, identity=f"agent-{number}", first_seen=now, last_seen=now
        )
    Agent.objects.update(last_seen="2200-01-01T00:00:00Z")
    [row] = reader.request("GET", URL, params=RANGE | {"find": "json."}).json()["services"]
    assert row["cores"] == pytest.approx(0.25 * 3)  # 2.5 of 10 s, three agents
    assert row["cost_a_month"] == pytest.approx(0.25 * 3 * 0.2 * 730)


def test_key_of_a_service_searches_in_it_alone(project: Project) -> None:
    for service in ("shop", "till"):
        rows.stored(rows.deployment(project, service), {"main;json.dumps": 1})
    _, text = keys.create(project, "till", read=True, services=["till"])
    client = Client(project.project_id, text)
    document = client.request("GET", URL, params=RANGE | {"find": "json."}).json()
    assert [row["service"] for row in document["services"]] == ["till"]
    assert document["examined"] == 1


@pytest.mark.parametrize(("find", "text"), [("", "missing"), ("/(/", "missing )")])
def test_text_is_required_and_valid(reader: Client, find: str, text: str) -> None:
    response = reader.request("GET", URL, params=RANGE | {"find": find})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "find", text)
