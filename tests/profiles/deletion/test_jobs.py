"""Requests of deletions: cancel, restore, limits, the audit log, and the periodic task."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from profiler_site.celery import app
from profiles import tasks
from profiles.compaction.lease import BACKUP, lease
from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionRejected, DeletionSelection
from profiles.models import Block, DeletionJob, DeletionState, Profile
from profiles.storage.blobs import BlobUnavailable
from profiles.storage.blobs.files import FileBlobs
from projects.credentials import access_tokens, keys
from projects.credentials.authentication import KeyRejected, authenticate
from projects.models import AuditEntry, Deployment, Member, Project, Role, User
from tests.profiles import rows
from tests.profiles.deletion.run_jobs import run_pass, run_to_end
from tests.profiles.queries.compaction_stages import compact_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setitem(app.conf, "task_eager_propagates", True)


def request(project: Project, service: str = "shop") -> DeletionJob:
    return jobs.request_deletion(project, DeletionSelection(service), actor=None)


def test_job_starts_after_the_time_to_cancel(project: Project) -> None:
    rows.stored(rows.deployment(project))
    job = request(project)
    run_pass(job, job.due - timedelta(seconds=1))
    assert job.state == DeletionState.PENDING
    assert Profile.objects.exists()
    run_pass(job, job.due)
    assert not Profile.objects.exists()


def test_canceled_job_deletes_nothing(project: Project, alice: User) -> None:
    rows.stored(rows.deployment(project))
    job = request(project)
    jobs.cancel(job, actor=alice)
    run_pass(job)
    assert job.state == DeletionState.CANCELED
    assert Profile.objects.exists()
    entry = AuditEntry.objects.get(action="deletion.cancel")
    assert (entry.actor_name, entry.target) == (alice.email, "shop")


def test_started_job_cannot_be_canceled(project: Project) -> None:
    job = request(project)
    run_pass(job)
    with pytest.raises(DeletionRejected, match="has started"):
        jobs.cancel(job, actor=None)


def test_audit_log_has_request_and_end_with_counts(project: Project, alice: User) -> None:
    for number in range(3):
        rows.stored(rows.deployment(project), minutes=number)
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=alice)
    run_to_end(job)
    request_entry = AuditEntry.objects.get(action="deletion.request")
    assert (request_entry.actor, request_entry.target) == (alice, "shop")
    end = AuditEntry.objects.get(action="deletion.finish")
    assert end.actor_kind == "system"
    assert end.detail["profiles"] == 3
    assert end.detail["bytes"] == job.bytes > 0
    assert end.detail["request"] == request_entry.pk


def test_finished_job_names_no_service_but_the_list_does(project: Project) -> None:
    run_to_end(request(project, "shop"))
    job = DeletionJob.objects.get()
    assert (job.state, job.service) == (DeletionState.DONE, "")
    assert [each.target for each in jobs.list_deletions(project)] == ["shop"]


def test_jobs_beyond_the_limit_are_rejected(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_OPEN_JOBS", 2)
    request(project)
    run_to_end(request(project))
    request(project)
    with pytest.raises(DeletionRejected, match="2 deletions"):
        request(project)


def test_job_of_another_project_is_not_found(project: Project, shop_of_bob: Deployment) -> None:
    job = request(project)
    assert jobs.find(project, job.pk) == job
    assert jobs.find(shop_of_bob.project, job.pk) is None
    assert jobs.list_deletions(shop_of_bob.project) == []


@pytest.mark.django_db(transaction=True)
def test_project_is_hidden_at_once_and_restored_by_its_owner(
    project: Project, alice: User, client: Client
) -> None:
    key = keys.create(project, "key", write=True, read=True, actor=alice)[1]
    rows.stored(rows.deployment(project))
    client.force_login(alice)
    assert client.get(f"/p/{project.project_id}/services").status_code == 200
    assert async_to_sync(authenticate)(key).project == project.pk
    jobs.request_project_deletion(project, actor=alice)
    assert client.get(f"/p/{project.project_id}/services").status_code == 404
    with pytest.raises(KeyRejected):
        async_to_sync(authenticate)(key)
    assert jobs.list_hidden_projects(alice) == [project]
    jobs.restore_project(project, actor=alice)
    assert client.get(f"/p/{project.project_id}/services").status_code == 200
    assert async_to_sync(authenticate)(key).project == project.pk
    assert jobs.list_hidden_projects(alice) == []
    assert AuditEntry.objects.filter(action="project.restore", actor=alice).exists()


def test_access_token_of_an_owner_does_not_find_a_hidden_project(
    project: Project, alice: User
) -> None:
    holder = access_tokens.TokenHolder(alice.pk, "fwp_x", frozenset())
    assert access_tokens.find_member(holder, project.project_id) is not None
    jobs.request_project_deletion(project, actor=alice)
    assert access_tokens.find_member(holder, project.project_id) is None


def test_only_owners_list_a_hidden_project(project: Project, alice: User, bob: User) -> None:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    jobs.request_project_deletion(project, actor=alice)
    assert jobs.list_hidden_projects(bob) == []


def test_project_deletion_is_requested_once(project: Project) -> None:
    jobs.request_project_deletion(project, actor=None)
    with pytest.raises(DeletionRejected, match="already"):
        jobs.request_project_deletion(project, actor=None)


@pytest.mark.usefixtures("at_once")
def test_project_is_deleted_after_the_days_of_the_setting(
    project: Project, settings: Settings
) -> None:
    rows.stored(rows.deployment(project))
    jobs.request_project_deletion(project, actor=None)
    due = Project.objects.get().deletion_due
    assert due is not None
    assert abs(due - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
    tasks.delete_data.delay()
    assert Profile.objects.exists()
    DeletionJob.objects.update(due=timezone.now())
    tasks.delete_data.delay()
    assert not Project.objects.exists()


@pytest.mark.usefixtures("at_once")
def test_project_waits_for_the_end_of_a_backup(project: Project, settings: Settings) -> None:
    settings.PROJECT_DELETION_DAYS = 0
    rows.stored(rows.deployment(project))
    compact_to(project, "hours")
    jobs.request_project_deletion(project, actor=None)
    with lease(BACKUP):
        tasks.delete_data.delay()
        assert Project.objects.exists()
    tasks.delete_data.delay()
    assert not Project.objects.exists()


def test_job_is_postponed_while_the_blob_store_fails(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for zone in ("eu", "us"):
        rows.stored(rows.deployment(project, zone=zone))
    compact_to(project, "hours")
    job = jobs.request_deletion(project, DeletionSelection(zone="eu"), actor=None)

    def fail(*_args: object) -> None:
        raise BlobUnavailable("The store is away.")

    with monkeypatch.context() as patch:
        patch.setattr(FileBlobs, "get", fail)
        run_pass(job)
    assert (job.state, job.problem) == (DeletionState.DELETING, "The store is away.")
    run_to_end(job)
    assert job.problem == ""
    assert Block.objects.get().profiles == 1


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("point", ["blob", "commit", "repack"])
def test_job_that_was_killed_is_resumed(tmp_path: Path, point: str) -> None:
    """Kill a process in the middle of a job, and end the job in another one."""
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
    }
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "-m", "tests.profiles.deletion.delete_one"]
    with subprocess.Popen(
        [*command, point], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stopped\n"
        process.kill()
    done = subprocess.run(
        [*command, "resume"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "done: 12 profiles of eu deleted, 24 of us stored\n"
