"""Files that are stored as snapshots, which are no part of any service's data."""

from typing import Any

import httpx
import pytest
from django.test import Client as Browser
from pytest_django import Settings

from profiles.models import Profile, ResultSnapshot
from projects.models import DayUsage, Deployment, Project, Quota, User
from projects.usage import limits
from tests.ingest.client import Client
from tests.ingest.formats import imported
from tests.ingest.pprof import SIMPLE

pytestmark = pytest.mark.django_db(transaction=True)
FOLDED = b"main;work 3\nmain 1\n"


def send(agent: Client, body: bytes, title: str = "a file", **params: Any) -> httpx.Response:
    path = "/api/v1/projects/-/profiles:import"
    return agent.request("POST", path, content=body, params={"snapshot": title} | params)


def test_file_is_stored_as_a_snapshot_without_a_service(
    agent: Client, client: Browser, alice: User, project: Project
) -> None:
    response = send(agent, FOLDED)
    assert response.status_code == 200, response.text
    [described] = response.json()["profiles"]
    row = ResultSnapshot.objects.select_related("blob").get()
    assert (row.kind, row.title, row.service, row.profiles) == ("file", "a file", "", 1)
    assert described["name"] == f"projects/{project.project_id}/snapshots/{row.snapshot_id}"
    assert described["metrics"] == [{"name": "samples", "unit": "count", "total": 4}]
    assert not Profile.objects.exists()
    assert not Deployment.objects.exists()
    usage = DayUsage.objects.get()
    assert (usage.profiles, usage.stored_bytes) == (1, row.blob.size)
    client.force_login(alice)
    page = client.get(httpx.URL(described["url"]).raw_path.decode()).content.decode()
    assert "work" in page
    assert "a file" in page


@pytest.mark.parametrize(
    "name",
    ["async-profiler-4.jfr.gz", "py-spy.raw", "py-spy.speedscope.json", "node-20.cpuprofile"],
)
def test_every_format_of_an_import_is_read(agent: Client, name: str) -> None:
    response = send(agent, imported.sample(name))
    assert response.status_code == 200, response.text
    types = [each["type"] for each in response.json()["profiles"]]
    assert sorted(types) == sorted(ResultSnapshot.objects.values_list("type", flat=True))


def test_a_pprof_file_keeps_its_metrics(agent: Client) -> None:
    assert send(agent, SIMPLE).status_code == 200
    assert ["cpu", "nanoseconds"] in ResultSnapshot.objects.get().metrics


def test_garbage_is_400_and_stores_nothing(agent: Client) -> None:
    response = send(agent, b"\x00\x01garbage")
    assert response.status_code == 400
    assert not ResultSnapshot.objects.exists()


def test_snapshot_over_a_limit_or_quota_is_rejected(
    agent: Client, project: Project, settings: Settings
) -> None:
    settings.MAX_SNAPSHOTS_PER_PROJECT = 1
    assert send(agent, FOLDED).status_code == 200
    response = send(agent, FOLDED)
    assert response.status_code == 429
    assert "FLAMEWATCH_MAX_SNAPSHOTS_PER_PROJECT" in response.text
    Quota.objects.create(project=project, profiles_per_day=1)
    limits.forget(project.pk)
    assert "profiles_per_day" in send(agent, FOLDED).text
    assert ResultSnapshot.objects.count() == 1


def test_a_key_that_only_reads_stores_nothing(reader: Client) -> None:
    assert send(reader, FOLDED).status_code == 403
    assert not ResultSnapshot.objects.exists()
