"""Retention of a project on the settings page: confirmed if it deletes, at most the limit."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from profiles import retention
from profiles.models import Profile
from projects.models import AuditEntry, DayUsage, Project, Quota, User
from projects.project_ids import create_project
from projects.usage.limits import get_limits
from tests.profiles import rows

pytestmark = pytest.mark.django_db
URL = "/p/acme-shop/settings/retention"


@pytest.fixture
def owner(client: Client, project: Project, alice: User) -> Client:
    client.force_login(alice)
    return client


def change(client: Client, **data: str) -> int:
    return client.post(URL, data).status_code


def test_shorter_retention_is_confirmed_with_the_number_of_profiles(
    owner: Client, project: Project
) -> None:
    day = (timezone.now() - timedelta(days=20)).date()
    DayUsage.objects.create(project=project, day=day, profiles=1234)
    page = owner.post(URL, {"days": "10"}).content.decode()
    assert "10 days instead of 30" in page
    assert "1,234 profiles" in page
    project.refresh_from_db()
    assert project.retention_days is None


@pytest.mark.django_db(transaction=True)
def test_confirmed_retention_applies_and_is_audited(
    owner: Client, project: Project, alice: User
) -> None:
    assert get_limits(project.pk).retention_days == 30
    assert change(owner, days="10", confirmed="1") == 302
    assert get_limits(project.pk).retention_days == 10
    rows.stored(rows.deployment(project))
    Profile.objects.update(time=timezone.now() - timedelta(days=11))
    retention.retain(project.pk, timezone.now())
    assert not Profile.objects.exists()
    entry = AuditEntry.objects.get(action="project.change")
    assert (entry.actor, entry.detail["changed"]) == (alice, {"retention_days": 10})


def test_longer_retention_needs_no_confirmation(owner: Client, project: Project) -> None:
    Project.objects.update(retention_days=3)
    assert change(owner, days="") == 302
    project.refresh_from_db()
    assert project.retention_days is None


@pytest.mark.parametrize("days", ["0", "-1", "31", "many"])
def test_retention_beyond_the_limit_is_rejected(owner: Client, project: Project, days: str) -> None:
    assert change(owner, days=days, confirmed="1") == 400
    project.refresh_from_db()
    assert project.retention_days is None


@pytest.mark.parametrize(("limit", "own", "effective"), [(5, 10, 5), (20, 10, 10), (20, None, 20)])
def test_smaller_of_limit_and_own_retention_applies(
    project: Project, limit: int, own: int | None, effective: int
) -> None:
    Quota.objects.create(project=project, retention_days=limit)
    Project.objects.update(retention_days=own)
    assert get_limits(project.pk).retention_days == effective


def test_retention_of_another_project_stays(owner: Client, project: Project, bob: User) -> None:
    other = create_project("Other Shop", bob)
    assert owner.post(f"/p/{other.project_id}/settings/retention", {"days": "1"}).status_code == 404
    change(owner, days="2", confirmed="1")
    other.refresh_from_db()
    assert other.retention_days is None
