"""ListProfiles: `GET /v2/projects/{project}/profiles`."""

import base64
import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from common.fair_threads import QueueFull
from profiles import listing
from profiles.compaction.compactor import Compactor
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.models import Block, Profile
from profiles.queries import concurrency, exports
from profiles.queries.exports import ExportFile
from profiles.queries.selection import ProfileSelection
from projects.models import Project
from projects.profile_types import ProfileType
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


def test_profiles_are_listed_newest_first(three: None, reader: Client) -> None:
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
def test_filter_restricts_the_list(
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


def test_profiles_of_another_tenant_are_not_listed(three: None, stranger: Client) -> None:
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


def exported(client: Client, **params: Any) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """Return the service and the total of CPU time of each profile with bytes, and the response."""
    params = {"profileBytes": "true"} | params
    response = client.request("GET", client.profiles, params=params)
    assert response.status_code == 200, response.text
    message = response.json()
    return [
        (each["deployment"]["target"], total_of(base64.b64decode(each["profileBytes"])))
        for each in message["profiles"]
    ], message


def total_of(data: bytes) -> int:
    decoded = decode_profile(gzip.decompress(data), ProfileType.CPU, DecodeLimits())
    metrics = [metric.unit for metric in decoded.tree.metrics]
    return int(decoded.tree.self[metrics.index("nanoseconds")].sum())


@pytest.fixture
def stored_cpu(agent: Client) -> None:
    """Store CPU profiles of 100, 200 and 300 ns, an hour apart; the two older ones in a block."""
    for hour in (1, 2, 3):
        agent.offline(profile({("main", f"f{hour}"): (hour, hour * 100)}), startTime=taken(hour))
        if hour == 2:
            Compactor(Project.objects.get().pk, timezone.now() + timedelta(days=2)).build_level1()
    assert Profile.objects.count() == 1
    assert Block.objects.exists()


def test_bytes_of_profiles_come_on_request(stored_cpu: None, reader: Client) -> None:
    assert "profileBytes" not in listed(reader)[0]
    profiles, message = exported(reader)
    assert profiles == [("checkout", 300), ("checkout", 200), ("checkout", 100)]
    assert "skippedProfiles" not in message
    assert "nextPageToken" not in message


@pytest.mark.parametrize(
    "mask", ["profiles.profileBytes", "profiles.name, profiles.profile_bytes", "*"]
)
def test_field_mask_of_googles_clients_requests_bytes(
    mask: str, stored_cpu: None, reader: Client
) -> None:
    response = reader.request("GET", reader.profiles, headers={"X-Goog-FieldMask": mask})
    assert all("profileBytes" in each for each in response.json()["profiles"])


def test_page_with_bytes_is_bounded(
    stored_cpu: None, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_EXPORT_BYTES", 1)
    totals, token = [], ""
    while True:
        profiles, message = exported(reader, pageToken=token)
        assert len(profiles) == 1
        totals.append(profiles[0][1])
        token = message.get("nextPageToken", "")
        if not token:
            break
    assert totals == [300, 200, 100]


def test_page_with_bytes_ends_at_half_of_its_time(
    stored_cpu: None, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_EXPORT_TIME_SHARE", 0.0)
    profiles, message = exported(reader)
    assert [total for _, total in profiles] == [300]
    assert exported(reader, pageToken=message["nextPageToken"])[0] == [("checkout", 200)]


def test_profiles_that_cannot_be_read_are_skipped_and_counted(
    stored_cpu: None, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = exports.run_export

    def export(context: Any, selection: ProfileSelection, *rest: Any) -> ExportFile:
        file = real(context, selection, *rest)
        is_oldest = selection.start < NOON + timedelta(hours=2)
        return replace(file, left_out=1) if is_oldest else file

    monkeypatch.setattr(listing, "run_export", export)
    profiles, message = exported(reader)
    assert [total for _, total in profiles] == [300, 200]
    assert message["skippedProfiles"] == 1
    assert "nextPageToken" not in message


def test_bytes_of_another_tenant_are_not_listed(stored_cpu: None, stranger: Client) -> None:
    assert exported(stranger)[0] == []


def test_other_value_of_profile_bytes_is_400(reader: Client) -> None:
    response = reader.request("GET", reader.profiles, params={"profileBytes": "yes"})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "profileBytes: must be true or false")
