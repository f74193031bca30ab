"""ListProfiles: `GET /v2/projects/{project}/profiles`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from common.fair_threads import QueueFull
from profiles.queries import concurrency
from tests.ingest.client import DEPLOYMENT, Client, assert_error_response
from tests.ingest.pprof import profile

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)


def taken(hour: int) -> str:
    return (NOON + timedelta(hours=hour)).isoformat().replace("+00:00", "Z")


@pytest.fixture
def three(agent: Client) -> None:
    """Store profiles of checkout, checkout and billing, an hour apart."""
    agent.offline(startTime=taken(0))
    agent.offline(startTime=taken(1), deployment=DEPLOYMENT | {"labels": {"version": "1.5"}})
    threads = profile({("main",): (7,)}, types=[("goroutine", "count")])
    billing = {"target": "billing", "labels": {"zone": "us-1"}}
    agent.offline(threads, startTime=taken(2), deployment=billing, profileType="THREADS")


def listed(client: Client, **params: Any) -> list[dict[str, Any]]:
    response = client.request("GET", client.profiles, params=params)
    assert response.status_code == 200, response.text
    return list(response.json()["profiles"])


def times(client: Client, **params: Any) -> list[str]:
    return [profile["startTime"] for profile in listed(client, **params)]


def test_it_lists_profiles_newest_first(three: None, reader: Client) -> None:
    newest = listed(reader)[0]
    name = newest.pop("name")
    assert name.startswith(f"projects/{reader.project}/profiles/offline-")
    assert newest == {
        "profileType": "THREADS",
        "deployment": {
            "projectId": reader.project,
            "target": "billing",
            "labels": {"zone": "us-1"},
        },
        "duration": "0s",
        "labels": {},
        "startTime": taken(2),
    }
    assert times(reader) == [taken(2), taken(1), taken(0)]


@pytest.mark.parametrize(
    ("filters", "hours"),
    [
        ({"service": "checkout"}, [1, 0]),
        ({"type": "THREADS"}, [2]),
        ({"type": "HEAP"}, []),
        ({"zone": "eu-1"}, [0]),
        ({"version": "1.5"}, [1]),
        ({"start": taken(1)}, [2, 1]),
        ({"end": taken(1)}, [0]),
        ({"start": taken(1), "end": taken(2), "service": "checkout"}, [1]),
        ({"service": "nothing"}, []),
    ],
)
def test_filters_restrict_it(
    filters: dict[str, str], hours: list[int], three: None, reader: Client
) -> None:
    assert times(reader, **filters) == [taken(hour) for hour in hours]


def test_pages_follow_each_other(three: None, reader: Client, agent: Client) -> None:
    first = reader.request("GET", reader.profiles, params={"pageSize": 2}).json()
    assert len(first["profiles"]) == 2
    agent.offline(startTime=taken(3))  # new profiles do not shift the pages
    params = {"pageSize": 2, "pageToken": first["nextPageToken"]}
    second = reader.request("GET", reader.profiles, params=params).json()
    assert [profile["startTime"] for profile in second["profiles"]] == [taken(0)]
    assert "nextPageToken" not in second


def test_another_tenants_profiles_are_not_there(three: None, stranger: Client) -> None:
    assert listed(stranger) == []


def test_a_key_that_may_only_write_is_403(agent: Client) -> None:
    response = agent.request("GET", agent.profiles)
    assert_error_response(response, 403, "PERMISSION_DENIED", "read")


def test_no_key_is_401(reader: Client) -> None:
    assert_error_response(
        Client(reader.project).request("GET", reader.profiles), 401, "UNAUTHENTICATED"
    )


def test_another_projects_path_is_404(stranger: Client, reader: Client) -> None:
    assert_error_response(stranger.request("GET", reader.profiles), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pageSize", "many"),
        ("pageSize", "-1"),
        ("pageToken", "x"),
        ("pageToken", "ä"),
        ("pageToken", "MH4xfgA"),  # 0~1~NUL
        ("type", "GPU"),
        ("start", "yesterday"),
        ("start", "0001-01-01T00:00:00+23:59"),
        ("end", "2026-01-01T00:00:00"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_400_and_named(
    name: str, value: str, reader: Client
) -> None:
    response = reader.request("GET", reader.profiles, params={name: value})
    assert_error_response(response, 400, "INVALID_ARGUMENT", f"{name}: ")


def test_a_list_shares_the_queue_of_queries(
    three: None, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tenant: object, client: object, work: object) -> None:
        raise QueueFull(True, 64)

    monkeypatch.setattr(concurrency._threads, "submit", full)
    response = reader.request("GET", reader.profiles)
    assert_error_response(response, 429, "RESOURCE_EXHAUSTED", "64 queries of this project")
