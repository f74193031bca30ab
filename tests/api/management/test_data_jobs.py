"""Deletion and export jobs by the management API."""

import io
import tarfile
import time

import pytest
from django.utils import timezone

from profiles.models import DeletionJob, DeletionState, ExportJob, ExportState
from profiles.project_export import jobs as exports
from profiles.project_export import runner
from projects.models import AuditEntry, Project, Role
from tests.api.management.conftest import TokenClient
from tests.ingest.client import Client, assert_error_response
from tests.profiles import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]


def url(client: Client, path: str = "") -> str:
    return f"/api/v1/projects/{client.project}{path}"


def test_deletion_is_requested_listed_and_canceled(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    body = {"service": "shop", "version": "", "start": "2026-11-01T00:00:00Z"}
    made = client.request("POST", url(client, "/deletions"), json=body)
    assert made.status_code == 201, made.text
    [row] = client.request("GET", url(client, "/deletions")).json()["rows"]
    assert row == made.json()
    assert (row["state"], row["scope"], row["percent"]) == ("pending", "selection", 0)
    assert "shop" in row["target"]
    assert row["requested_by"] == "owner@token.example"
    job = DeletionJob.objects.get()
    assert (job.service, job.zone, job.version, job.end) == ("shop", None, "", None)
    path = url(client, f"/deletions/{row['id']}")
    assert client.request("DELETE", path).status_code == 204
    assert DeletionJob.objects.get().state == DeletionState.CANCELED
    again = client.request("DELETE", path)
    assert_error_response(again, 409, "FAILED_PRECONDITION", "cannot be canceled")
    entry = AuditEntry.objects.get(action="deletion.request")
    assert entry.actor_key.startswith("fwp_")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "all profiles would be deleted"),
        ({"service": ""}, "all profiles would be deleted"),
        ({"service": "x" * 256}, "255 are allowed"),
        ({"zone": "x" * 513}, "512 are allowed"),
        ({"version": "x" * 513}, "512 are allowed"),
        ({"type": "COFFEE"}, "must be one of CPU"),
        ({"service": 5}, "service"),
        ({"start": "yesterday"}, "start"),
        ({"service": "shop", "end": ""}, "end: '' is not an RFC 3339 time"),
        ({"service": "shop", "end": None}, "end: must not be null"),
        ({"start": "2026-11-02T00:00:00Z", "end": "2026-11-01T00:00:00Z"}, "after the start"),
        ({"project": "all"}, "is unknown"),
    ],
)
def test_bad_deletion_is_400_and_deletes_nothing(
    token_client: TokenClient, body: dict[str, object], word: str
) -> None:
    client = token_client(Role.OWNER)
    response = client.request("POST", url(client, "/deletions"), json=body)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
    assert not DeletionJob.objects.exists()


def test_export_is_requested_once_and_canceled(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    made = client.request("POST", url(client, "/exports"), json={})
    assert made.status_code == 201, made.text
    again = client.request("POST", url(client, "/exports"), json={})
    assert_error_response(again, 409, "FAILED_PRECONDITION", "is running")
    [row] = client.request("GET", url(client, "/exports")).json()["rows"]
    assert row == made.json()
    assert client.request("DELETE", url(client, f"/exports/{row['id']}")).status_code == 204
    assert ExportJob.objects.get().state == ExportState.CANCELED
    ended = client.request("DELETE", url(client, f"/exports/{row['id']}"))
    assert_error_response(ended, 409, "FAILED_PRECONDITION", "has ended")


def test_job_of_another_project_is_404(token_client: TokenClient, other_project: Project) -> None:
    client, now = token_client(Role.OWNER), timezone.now()
    deletion = DeletionJob.objects.create(
        project=other_project, scope="service", service="x", requested=now, due=now, request_entry=1
    )
    export = ExportJob.objects.create(project=other_project, requested=now)
    for path in (f"/deletions/{deletion.pk}", f"/exports/{export.pk}"):
        assert_error_response(client.request("DELETE", url(client, path)), 404, "NOT_FOUND")
    assert DeletionJob.objects.get().state == DeletionState.PENDING
    assert ExportJob.objects.get().state == ExportState.PENDING


def test_archive_is_the_file_of_the_page(token_client: TokenClient, project: Project) -> None:
    client = token_client(Role.OWNER)
    rows.stored(rows.deployment(project))
    job = exports.request_export(project, actor=None)
    path = url(client, f"/exports/{job.pk}/archive")
    early = client.request("GET", path)
    assert_error_response(early, 409, "FAILED_PRECONDITION", "has no file")
    while runner.run_job(job.pk, time.monotonic() + 60):
        pass
    job.refresh_from_db()
    response = client.request("GET", path)
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "application/x-tar"
    assert int(response.headers["Content-Length"]) == len(response.content) == job.bytes
    with tarfile.open(fileobj=io.BytesIO(response.content)) as archive:
        assert {"profiles.jsonl", "audit.jsonl", "project.json"} <= set(archive.getnames())
    entry = AuditEntry.objects.get(action="export.download")
    assert (entry.actor_name, entry.actor_key[:4]) == ("owner@token.example", "fwp_")


def test_archive_of_another_project_is_404(
    token_client: TokenClient, other_project: Project
) -> None:
    job = exports.request_export(other_project, actor=None)
    client = token_client(Role.OWNER)
    response = client.request("GET", url(client, f"/exports/{job.pk}/archive"))
    assert_error_response(response, 404, "NOT_FOUND")
