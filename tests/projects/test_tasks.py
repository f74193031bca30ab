"""Tasks of accounts that beat starts."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from profiler_site.celery import app
from projects import audit, tasks
from projects.models import AuditEntry, Project, User


def add_sessions(name: str, count: int, age: timedelta) -> None:
    ends = timezone.now() - age
    Session.objects.bulk_create(
        Session(session_key=f"{name}{number}", session_data="", expire_date=ends)
        for number in range(count)
    )


def test_expired_sessions_are_deleted_in_chunks(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "CHUNK", 2)
    client.force_login(alice)
    add_sessions("expired", 5, timedelta(seconds=1))
    add_sessions("valid", 1, -timedelta(hours=1))
    with CaptureQueriesContext(connection) as statements:
        tasks.purge_sessions()
    deletes = [each for each in statements.captured_queries if each["sql"].startswith("DELETE")]
    assert len(deletes) == 3
    left = set(Session.objects.values_list("session_key", flat=True))
    assert left == {client.session.session_key, "valid0"}


def test_beat_purges_them_every_day() -> None:
    app.loader.import_default_modules()
    name = "projects.tasks.purge_sessions"
    assert name in app.tasks
    (entry,) = (each for each in app.conf.beat_schedule.values() if each["task"] == name)
    assert "37 3 * * *" in repr(entry["schedule"])


def test_entries_of_the_audit_log_are_deleted_in_chunks_after_the_days_of_the_setting(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(tasks, "CHUNK", 2)
    settings.AUDIT_DAYS = 10
    tasks.purge_audit_log()
    assert AuditEntry.objects.count() == 1
    with monkeypatch.context() as past:
        eleven_days_ago = timezone.now() - timedelta(days=11)
        past.setattr(timezone, "now", lambda: eleven_days_ago)
        AuditEntry.objects.all()._raw_delete("default")
        for _ in range(5):
            audit.record(project, "key.create")
    recent = audit.record(project, "key.revoke")
    with CaptureQueriesContext(connection) as statements:
        tasks.purge_audit_log()
    deletes = [each for each in statements.captured_queries if each["sql"].startswith("DELETE")]
    assert len(deletes) == 3
    assert [*AuditEntry.objects.all()] == [recent]


def test_beat_purges_the_audit_log_every_day() -> None:
    app.loader.import_default_modules()
    (entry,) = (e for e in app.conf.beat_schedule.values() if "purge_audit_log" in e["task"])
    assert entry["task"] in app.tasks
    assert entry["schedule"].hour == {3}
