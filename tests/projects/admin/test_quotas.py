"""Quotas in the admin: set there, effective at once, shown beside the present use."""

import asyncio
import html
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import AuditEntry, DayUsage, Project, Quota, User
from projects.usage import quotas
from projects.usage.day_usage import utc_day
from projects.usage.quota_reached import QuotaReached

pytestmark = pytest.mark.django_db(transaction=True)


def admit(project: Project) -> None:
    asyncio.run(quotas.admit_profile(project.pk, 1000))


def change_project(project: Project, **quota: str) -> dict[str, str]:
    """Return the form of a project's page, unchanged except for its quota."""
    row = Quota.objects.filter(project=project).first()
    return {
        "project_id": project.project_id,
        "name": project.name,
        "profiles_per_minute": "1",
        "members-TOTAL_FORMS": "0",
        "members-INITIAL_FORMS": "0",
        "quota-TOTAL_FORMS": "1",
        "quota-INITIAL_FORMS": "1" if row else "0",
        "quota-0-id": str(row.pk) if row else "",
        "quota-0-project": str(project.pk),
        **{f"quota-0-{name}": value for name, value in quota.items()},
    }


def test_an_override_is_in_force_at_once(admin: Client, project: Project) -> None:
    admit(project)
    url = reverse("admin:projects_project_change", args=[project.pk])
    response = admin.post(url, change_project(project, profiles_per_minute="1"))
    assert response.status_code == 302
    with pytest.raises(QuotaReached, match="limit of 1 profiles per minute"):
        admit(project)
    admin.post(url, change_project(project, profiles_per_minute=""))
    admit(project)


def test_a_default_is_in_force_for_all_at_once(admin: Client, project: Project) -> None:
    admit(project)
    row, _created = Quota.objects.get_or_create(project=None)
    url = reverse("admin:projects_quota_change", args=[row.pk])
    assert admin.post(url, {"profiles_per_day": "1"}).status_code == 302
    with pytest.raises(QuotaReached, match="limit of 1 profiles per day"):
        admit(project)


def test_todays_usage_is_beside_each_limit(admin: Client, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=1000, stored_bytes=4_000_000)
    DayUsage.objects.create(
        project=project, day=utc_day(), profiles=250, stored_bytes=1_000_000, new_deployments=3
    )
    admit(project)
    url = reverse("admin:projects_project_change", args=[project.pk])
    page = html.unescape(admin.get(url).content.decode())
    assert "Used: 1 of 600 (0 %)" in page
    assert "Used: 250 of 1,000 (25 %)" in page
    assert "Used: 3 of 200 (2 %)" in page
    assert "Used: 1 MB of 4 MB (25 %)" in page
    assert "Current limit: 16 MiB." in page
    assert "Current limit: 30 days." in page


def test_the_list_of_projects_shows_todays_use(admin: Client, project: Project) -> None:
    DayUsage.objects.create(project=project, day="2026-01-01", profiles=77, stored_bytes=2_000)
    DayUsage.objects.create(
        project=project, day=utc_day(), profiles=251, rejected=13, stored_bytes=1_000
    )
    page = admin.get(reverse("admin:projects_project_changelist")).content.decode()
    assert '<td class="field-profiles_today">251</td>' in page
    assert '<td class="field-rejected_today">13</td>' in page
    assert '<td class="field-stored">3 kB</td>' in page


def test_form_of_the_defaults_names_the_built_in_values(admin: Client) -> None:
    row, _created = Quota.objects.get_or_create(project=None)
    url = reverse("admin:projects_quota_change", args=[row.pk])
    page = admin.get(url).content.decode()
    assert "Leave empty for the built-in default, 100,000." in page
    assert "Leave empty for the built-in default, 20 GB." in page


def test_second_row_of_default_quotas_is_rejected(admin: Client) -> None:
    Quota.objects.get_or_create(project=None)  # the row of defaults
    page = admin.post(reverse("admin:projects_quota_add"), {"retention_days": "3"})
    assert page.status_code == 200
    assert "A quota for this already exists" in page.content.decode()


def test_a_retention_of_no_days_is_rejected(admin: Client, project: Project) -> None:
    url = reverse("admin:projects_project_change", args=[project.pk])
    form = change_project(project, retention_days="0")
    assert "Select this to confirm" not in admin.post(url, form).content.decode()
    response = admin.post(url, form | {"quota-0-delete_older": "on"})
    assert response.status_code == 200
    assert "greater than or equal to 1" in response.content.decode()
    assert not Quota.objects.filter(project=project).exists()


def add_usage(project: Project, days_ago: int, profiles: int) -> None:
    day = utc_day() - timedelta(days=days_ago)
    DayUsage.objects.create(project=project, day=day, profiles=profiles)


def test_a_shorter_retention_is_confirmed(admin: Client, project: Project) -> None:
    url = reverse("admin:projects_project_change", args=[project.pk])
    for days, profiles in ((31, 5), (30, 3), (8, 1200), (7, 70), (0, 7)):
        add_usage(project, days, profiles)
    form = change_project(project, retention_days="7")
    response = admin.post(url, form)
    assert (
        "The retention is 30 days. With 7 days, about 1,203 profiles" in response.content.decode()
    )
    assert not Quota.objects.filter(project=project).exists()
    assert admin.post(url, form | {"quota-0-delete_older": "on"}).status_code == 302
    assert Quota.objects.get(project=project).retention_days == 7
    longer = change_project(project, retention_days="8")
    assert admin.post(url, longer).status_code == 302
    default = change_project(project, retention_days="")
    assert admin.post(url, default).status_code == 302


def test_a_shorter_default_retention_counts_projects_without_their_own(
    admin: Client, project: Project, other_project: Project
) -> None:
    add_usage(project, 20, 11)
    add_usage(other_project, 20, 500)
    Quota.objects.create(project=other_project, retention_days=25)
    row, _created = Quota.objects.get_or_create(project=None)
    url = reverse("admin:projects_quota_change", args=[row.pk])
    assert "about 11 profiles" in admin.post(url, {"retention_days": "5"}).content.decode()


def test_a_shorter_default_retention_is_confirmed(admin: Client) -> None:
    row, _created = Quota.objects.get_or_create(project=None)
    url = reverse("admin:projects_quota_change", args=[row.pk])
    assert "The retention is 30 days" in admin.post(url, {"retention_days": "5"}).content.decode()
    form = {"retention_days": "5", "delete_older": "on"}
    assert admin.post(url, form).status_code == 302


def test_changes_of_limits_are_audited_with_their_values(admin: Client, project: Project) -> None:
    url = reverse("admin:projects_project_change", args=[project.pk])
    admin.post(url, change_project(project, profiles_per_day="5"))
    admin.post(url, change_project(project, profiles_per_day="6"))
    row, _created = Quota.objects.get_or_create(project=None)
    admin.post(reverse("admin:projects_quota_change", args=[row.pk]), {"stored_bytes": "70"})
    entries = AuditEntry.objects.filter(action="quota.change").order_by("pk")
    assert [(entry.subject, entry.detail["changes"]) for entry in entries] == [
        (project.project_id, {"profiles_per_day": [None, 5]}),
        (project.project_id, {"profiles_per_day": [5, 6]}),
        ("defaults", {"stored_bytes": [None, 70]}),
    ]


def test_the_audit_log_outlives_its_project(admin: Client, project: Project) -> None:
    admin.post(
        reverse("admin:projects_project_change", args=[project.pk]),
        change_project(project, profiles_per_day="5"),
    )
    project.delete()
    entries = AuditEntry.objects.filter(subject=project.project_id)
    assert "quota.change" in entries.values_list("action", flat=True)
    page = admin.get(reverse("admin:projects_auditentry_changelist")).content.decode()
    assert project.project_id in page


def test_accounts_are_audited(admin: Client) -> None:
    password = "a sentence works well"
    admin.post(
        reverse("admin:projects_user_add"),
        {
            "email": "new@example.org",
            "usable_password": "true",
            "password1": password,
            "password2": password,
        },
    )
    user = User.objects.get(email="new@example.org")
    admin.post(reverse("admin:projects_user_change", args=[user.pk]), {"email": user.email})
    admin.post(reverse("admin:projects_user_delete", args=[user.pk]), {"post": "yes"})
    entries = AuditEntry.objects.filter(subject="new@example.org").order_by("pk")
    assert [entry.action for entry in entries] == ["user.create", "user.change", "user.delete"]
    assert entries[1].detail == {"changes": {"is_active": [True, False]}}
    assert password not in str([entry.detail for entry in entries])


def test_a_change_is_audited(admin: Client, project: Project) -> None:
    url = reverse("admin:projects_project_change", args=[project.pk])
    admin.post(url, change_project(project, profiles_per_day="5"))
    entry = AuditEntry.objects.get(project=project, action="project.change")
    assert entry.actor is not None
    assert entry.actor.email == "operator@example.org"
    assert "quota" in str(entry.detail)
