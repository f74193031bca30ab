"""Archives of projects: their profiles have the values of before, and no secrets."""

import gzip
import io
import json
import tarfile
import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from alerts.models import AlertIncident
from findings import states
from profiles.deletion import jobs as deletions
from profiles.deletion.runner import run_job as run_deletion
from profiles.models import Blob, ExportJob, ExportPart, ExportState, Profile
from profiles.project_export import jobs, runner
from profiles.project_export.jobs import ExportRejected
from profiles.query import ProfileSelection, View, run_top
from projects.models import AuditEntry, Prices, Project, User, Webhook
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.alerts.stored_values import add_rule
from tests.findings.factory import add_finding
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.deletion.run_jobs import run_pass
from tests.profiles.queries.compaction_stages import STAGES, compact_to

pytestmark = pytest.mark.django_db
LABELS: list[dict[str, str]] = [{}, {"instance": "a"}, {"instance": "b", "pod": "x"}]


def fill(project: Project) -> None:
    eu, us = rows.deployment(project), rows.deployment(project, zone="", version="2")
    for n in range(12):
        of, labels = (eu, us)[n % 2], LABELS[n % 3]
        rows.stored(of, minutes=17 * n, labels=labels, name_id=f"p{n:03}")
        rows.stored(of, type=ProfileType.HEAP, minutes=170 * n, labels=labels, name_id=f"h{n:03}")


def run(job: ExportJob, seconds: float = 60.0) -> None:
    while runner.run_job(job.pk, time.monotonic() + seconds):
        pass
    job.refresh_from_db()


def open_archive(job: ExportJob) -> dict[str, bytes]:
    data = b"".join(jobs.download(job, actor=None))
    assert len(data) == job.bytes
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {}
        for each in archive:
            file = archive.extractfile(each)
            assert file is not None
            found[each.name] = file.read()
    return found


def read_index(archive: dict[str, bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive["profiles.jsonl"].splitlines()]


def sum_functions(project: Project, type_: ProfileType) -> tuple[int, set[tuple[str, int, int]]]:
    selection = ProfileSelection(
        project.pk, "shop", type_, rows.NOON, rows.NOON + timedelta(days=9)
    )
    top = run_top(query_context(selection), selection, View())
    return top.coverage.total, {(row.name, row.self, row.total) for row in top.rows}


@pytest.mark.parametrize("stage", [each for each in STAGES if each != "parts"])
def test_imported_files_have_the_values_of_the_exported_project(
    project: Project, alice: User, stage: str
) -> None:
    fill(project)
    compact_to(project, stage)
    job = jobs.request_export(project, actor=alice)
    run(job)
    assert (job.state, job.profiles, job.problem) == (ExportState.DONE, 24, "")
    archive = open_archive(job)
    copy = create_project("Copy", alice)
    for entry in read_index(archive):
        of = rows.deployment(copy, entry["service"], entry["zone"], entry["version"])
        raw = gzip.decompress(archive[entry["file"]])
        rows.stored_raw(of, raw, type=ProfileType(entry["type"]), labels=entry["labels"])
    for type_ in (ProfileType.CPU, ProfileType.HEAP):
        assert sum_functions(copy, type_) == sum_functions(project, type_)
    found = {(row.deployment.zone, str(row.labels)) for row in Profile.objects.filter(project=copy)}
    assert len(found) == 6


def test_killed_job_goes_on_without_repeating_a_file(project: Project) -> None:
    fill(project)
    job = jobs.request_export(project, actor=None)
    assert runner.run_job(job.pk, time.monotonic())  # one file
    run(job, seconds=0.0)
    archive = open_archive(job)
    files = [entry["file"] for entry in read_index(archive)]
    assert len(files) == len({*files}) == job.files
    assert sum(entry["profiles"] for entry in read_index(archive)) == job.profiles == 24
    assert {*files} == {name for name in archive if name.startswith("profiles/")}


def test_archive_describes_the_project_without_secrets(project: Project, alice: User) -> None:
    fill(project)
    finding = add_finding(project)
    states.vote(finding, actor=alice, is_true=True)
    rule = add_rule(project)
    AlertIncident.objects.create(rule=rule, subject="shop", service="shop", started=rows.NOON)
    Prices.objects.create(project=project, currency="EUR", core_hour=0.04)
    url = "https://chat.example.org/secret-path"
    webhook = Webhook.objects.create(project=project, name="chat", url=url)
    job = jobs.request_export(project, actor=alice)
    run(job)
    archive = open_archive(job)
    described = json.loads(archive["project.json"])
    assert described["project"]["project_id"] == "acme-shop"
    assert {"email": alice.email, "role": "owner"} in described["members"]
    assert described["services"] == ["shop"]
    assert described["prices"]["core_hour"] == 0.04
    assert [row["name"] for row in described["webhooks"]] == ["chat"]
    [found] = described["findings"]["findings"]
    assert (found["finding_id"], found["change"]) == (finding.finding_id, finding.change)
    assert [row["is_true"] for row in described["findings"]["votes"]] == [True]
    assert [row["rule_id"] for row in described["alerts"]["rules"]] == [rule.rule_id]
    assert [row["rule__rule_id"] for row in described["alerts"]["incidents"]] == [rule.rule_id]
    for secret in (url, webhook.nonce):
        assert secret.encode() not in archive["project.json"]
    assert b"hash" not in archive["project.json"]
    assert alice.password.encode() not in archive["project.json"]
    assert "export.request" in archive["audit.jsonl"].decode()


def test_second_export_waits_for_the_first(project: Project) -> None:
    job = jobs.request_export(project, actor=None)
    with pytest.raises(ExportRejected):
        jobs.request_export(project, actor=None)
    jobs.cancel(job, actor=None)
    run(job)
    assert job.state == ExportState.CANCELED
    jobs.request_export(project, actor=None)


def test_archive_over_the_limit_fails_and_is_deleted(project: Project, settings: Any) -> None:
    settings.EXPORT_MAX_BYTES = 1000
    fill(project)
    job = jobs.request_export(project, actor=None)
    run(job)
    assert job.state == ExportState.FAILED
    assert "FLAMEWATCH_EXPORT_MAX_BYTES" in job.problem
    assert not ExportPart.objects.exists()


def test_expired_archive_is_deleted(project: Project) -> None:
    job = jobs.request_export(project, actor=None)
    run(job)
    jobs.expire(timezone.now() + timedelta(days=8))
    job.refresh_from_db()
    assert job.state == ExportState.EXPIRED
    assert not Blob.objects.filter(dead_since=None).exists()
    with pytest.raises(ExportRejected):
        jobs.download(job, actor=None)


def test_deletion_of_profiles_deletes_archives_that_have_them(project: Project) -> None:
    fill(project)
    job = jobs.request_export(project, actor=None)
    run(job)
    run_pass(deletions.request_deletion(project, deletions.DeletionSelection("shop"), actor=None))
    job.refresh_from_db()
    assert job.state == ExportState.EXPIRED


def test_restored_and_suspended_projects_are_exported_by_their_owner(
    project: Project, alice: User, client: Client
) -> None:
    client.force_login(alice)
    deletions.request_project_deletion(project, actor=alice)
    assert client.post("/p/acme-shop/settings/data/exports").status_code == 404
    deletions.restore_project(project, actor=alice)
    Project.objects.update(suspended=timezone.now())
    assert client.post("/p/acme-shop/settings/data/exports").status_code == 302
    assert ExportJob.objects.get().requested_by == alice


def test_deleted_project_takes_its_archives_with_it(project: Project, settings: Any) -> None:
    settings.PROJECT_DELETION_DAYS = 0
    fill(project)
    run(jobs.request_export(project, actor=None))
    deletion = deletions.request_project_deletion(project, actor=None)
    while run_deletion(deletion.pk, timezone.now(), time.monotonic() + 60):
        pass
    assert not ExportJob.objects.exists()
    assert not Blob.objects.exists()


def test_download_is_streamed_and_audited(project: Project, alice: User, client: Client) -> None:
    job = jobs.request_export(project, actor=alice)
    run(job)
    client.force_login(alice)
    response = client.get(f"/p/acme-shop/settings/data/exports/{job.pk}/download")
    assert response.streaming
    assert len(response.getvalue()) == job.bytes
    entry = AuditEntry.objects.get(action="export.download")
    assert (entry.actor, entry.detail["bytes"]) == (alice, job.bytes)
