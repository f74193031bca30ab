"""CreateOfflineProfile: `POST /v2/projects/{project}/profiles:createOffline`."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from profiles.compaction.compactor import Compactor
from profiles.models import Profile, TimeSource
from projects.models import DayUsage, Deployment, Project, Quota
from tests.ingest.client import DEPLOYMENT, Client, assert_error_response
from tests.ingest.pprof import SIMPLE, profile

pytestmark = pytest.mark.django_db(transaction=True)


def at(moment: datetime, **options: Any) -> bytes:
    return profile({("main",): (1, 5)}, time_ns=round(moment.timestamp() * 1e9), **options)


def now() -> datetime:
    return datetime.now(UTC)


def test_a_profile_that_nobody_asked_for_is_stored(agent: Client) -> None:
    response = agent.offline(labels={"instance": "batch-7"})
    assert response.status_code == 200, response.text
    body, row = response.json(), Profile.objects.select_related("deployment").get()
    assert body["name"] == f"projects/{agent.project}/profiles/{row.name_id}"
    assert body["deployment"] == {"projectId": agent.project, **DEPLOYMENT}
    assert (body["profileType"], body["duration"]) == ("CPU", "10s")
    assert (row.service, row.deployment.version) == ("checkout", "1.4")
    assert (row.weight, row.labels) == (40_000_000, {"instance": "batch-7"})


def test_a_label_with_too_many_values_is_429(agent: Client, settings: Settings) -> None:
    settings.MAX_LABEL_VALUES = 1
    assert agent.offline(labels={"batch": "1"}).status_code == 200
    response = agent.offline(labels={"batch": "2"})
    assert_error_response(response, 429, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_LABEL_VALUES")


def test_time_of_the_profile_is_stored(agent: Client) -> None:
    taken = now() - timedelta(days=2)
    agent.offline(at(taken))
    row = Profile.objects.get()
    assert abs(row.time - taken) < timedelta(milliseconds=1)
    assert row.time_source == TimeSource.PROFILE


def test_profile_without_a_time_has_that_of_the_request(agent: Client) -> None:
    agent.offline(startTime=(now() - timedelta(hours=3)).isoformat())
    row = Profile.objects.get()
    assert timedelta(hours=2, minutes=59) < now() - row.time < timedelta(hours=3, minutes=1)
    assert row.time_source == TimeSource.PROFILE


@pytest.mark.parametrize("moment", [timedelta(days=-31), timedelta(minutes=6)])
def test_impossible_time_is_replaced_by_the_arrival(moment: timedelta, agent: Client) -> None:
    agent.offline(at(now() + moment, duration_ns=20 * 10**9))
    row = Profile.objects.get()
    assert row.time_source == TimeSource.ARRIVAL
    assert timedelta(seconds=19) < now() - row.time < timedelta(seconds=60)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_start_time_beyond_64_bits_is_replaced_by_the_arrival(text: str, agent: Client) -> None:
    assert agent.offline(startTime=text).status_code == 200
    assert Profile.objects.get().time_source == TimeSource.ARRIVAL


@pytest.mark.parametrize("time_ns", [10**17 - 1, 10**14 - 1, 10**11 - 1])
def test_a_profile_whose_time_passes_64_bits_is_stored(time_ns: int, agent: Client) -> None:
    response = agent.offline(profile({("main",): (1, 5)}, time_ns=time_ns))
    assert response.status_code == 200, response.text
    assert Profile.objects.get().time_source == TimeSource.ARRIVAL


def test_the_projects_retention_decides_what_is_too_old(agent: Client, project: Project) -> None:
    Quota.objects.create(project=project, retention_days=1)
    agent.offline(at(now() - timedelta(days=2)))
    assert Profile.objects.get().time_source == TimeSource.ARRIVAL


def test_repeated_upload_is_stored_once(agent: Client) -> None:
    body = at(now() - timedelta(hours=1))
    first, second = agent.offline(body), agent.offline(body)
    assert first.json() == second.json()
    assert Profile.objects.count() == 1


def test_repeated_upload_compressed_anew_is_stored_once(agent: Client) -> None:
    again = gzip.compress(gzip.decompress(SIMPLE), compresslevel=1, mtime=1)
    assert agent.offline().json()["name"] == agent.offline(again).json()["name"]
    assert Profile.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"instance": "b"}},
        {"deployment": {"target": "billing"}},
        {"startTime": "2026-01-01T00:00:00Z"},
    ],
)
def test_an_upload_with_any_difference_is_another_profile(
    change: dict[str, Any], agent: Client
) -> None:
    agent.offline()
    assert agent.offline(**change).status_code == 200
    assert Profile.objects.count() == 2


def test_enums_by_number_and_proto_field_names_are_accepted(agent: Client) -> None:
    response = agent.offline(profileType=None, profile_type=1)
    assert response.json()["profileType"] == "CPU"


# -- error responses ----------------------------------------------------------------------


def test_no_key_is_401(agent: Client) -> None:
    assert_error_response(Client(agent.project).offline(), 401, "UNAUTHENTICATED")


def test_a_key_that_may_only_read_is_403(reader: Client) -> None:
    assert_error_response(reader.offline(), 403, "PERMISSION_DENIED")


def test_another_projects_path_is_404(stranger: Client, project: Project) -> None:
    assert_error_response(Client(project.project_id, stranger.key).offline(), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"profileType": None}, "profileType"),
        ({"profileType": "GPU"}, "profileType"),
        ({"deployment": None}, "deployment"),
        ({"deployment": {"target": "A"}}, "deployment.target"),
        ({"profileBytes": None}, "profileBytes"),
        ({"duration": None}, "duration"),
        ({"startTime": "yesterday"}, "startTime"),
    ],
)
def test_a_field_that_cannot_be_used_is_400_and_named(
    change: dict[str, Any], field: str, agent: Client
) -> None:
    assert_error_response(agent.offline(**change), 400, "INVALID_ARGUMENT", f"{field}: ")
    assert not Profile.objects.exists()


def test_bytes_that_are_no_profile_are_400(agent: Client) -> None:
    assert_error_response(agent.offline(SIMPLE[:-9]), 400, "INVALID_ARGUMENT", "gzip")


def test_one_deployment_too_many_is_429(agent: Client, project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=0)
    assert_error_response(agent.offline(), 429, "RESOURCE_EXHAUSTED", "new_deployments_per_day")
    assert not Deployment.objects.exists()


def test_another_method_is_405(agent: Client) -> None:
    response = agent.request("GET", f"{agent.profiles}:createOffline")
    assert_error_response(response, 405, "UNIMPLEMENTED", "POST")


@pytest.mark.parametrize("age", [timedelta(days=2), timedelta(hours=4), None])
def test_repeated_upload_is_stored_once_after_compaction(
    age: timedelta | None, agent: Client, project: Project
) -> None:
    """Check repeated uploads after compaction, at any later time if the profile has no time."""
    body = at(now() - age) if age else SIMPLE
    first = agent.offline(body).json()
    assert Compactor(project.pk, now() + timedelta(days=1)).build_level1() == 1
    again = agent.offline(body)
    assert (again.status_code, again.json()["name"]) == (200, first["name"])
    assert not Profile.objects.exists()
    assert DayUsage.objects.get().profiles == 1


def test_different_profile_of_a_compacted_hour_is_stored(agent: Client, project: Project) -> None:
    taken = now() - timedelta(days=2)
    agent.offline(at(taken))
    Compactor(project.pk, now() + timedelta(days=1)).build_level1()
    agent.offline(at(taken, duration_ns=5 * 10**9))
    assert Profile.objects.count() == 1


def test_upload_is_503_while_blocks_cannot_be_read(
    agent: Client, project: Project, tmp_path: Path
) -> None:
    body = at(now() - timedelta(days=2))
    agent.offline(body)
    Compactor(project.pk, now() + timedelta(days=1)).build_level1()
    (tmp_path / "blobs").rename(tmp_path / "away")
    assert_error_response(agent.offline(body), 503, "UNAVAILABLE")
    (tmp_path / "away").rename(tmp_path / "blobs")
    assert agent.offline(body).status_code == 200
    assert not Profile.objects.exists()
