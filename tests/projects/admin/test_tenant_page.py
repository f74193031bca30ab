"""Tenant page of the admin: rejections, quotas, plans, suspension and read-only visits."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from profiles.models import Profile
from projects import members
from projects.models import (
    AuditEntry,
    DayRejections,
    DayUsage,
    Member,
    Plan,
    Project,
    Quota,
    Role,
    User,
)
from projects.usage import limits
from projects.usage.day_usage import utc_day
from tests.frontend.html import render_html
from tests.ingest.client import Client as AgentClient
from tests.ingest.client import assert_error_response
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


def url(project: Project, name: str = "overview", *args: str) -> str:
    return reverse(f"admin:projects_project_{name}", args=[project.pk, *args])


def entry(action: str) -> AuditEntry:
    return AuditEntry.objects.get(action=action)


def test_page_says_why_profiles_were_rejected(admin: Client, project: Project) -> None:
    today = utc_day()
    DayRejections.objects.create(project=project, day=today, reason="new_deployments", count=126)
    DayRejections.objects.create(
        project=project, day=today - timedelta(days=1), reason="label_values", count=7
    )
    DayRejections.objects.create(project=project, day=today, reason="of another version", count=1)
    html = render_html(admin.get(url(project)))
    assert "127 requests rejected today. Most frequent reason: New deployments per day." in html
    assert "A service often sends a new version for each build" in html
    assert "Raise to 400" in html
    assert "A label has a value for each request or user" in html
    assert "of another version" in html


def test_page_shows_usage_people_and_days(
    admin: Client, project: Project, other_project: Project
) -> None:
    DayUsage.objects.create(project=project, day=utc_day(), profiles=5_000, rejected=3)
    DayUsage.objects.create(project=other_project, day=utc_day(), profiles=77_777)
    html = render_html(admin.get(url(project)))
    assert "No request of this project was rejected" in html
    assert f"{utc_day()}: 5000 / 3" in html
    assert re.search(r"5,000\s*</td>", html)
    assert "77777" not in html.replace(",", "")
    for member in members.list_members(project):
        assert member.user.email in html


def test_raise_doubles_the_limit_and_is_audited(
    admin: Client, operator: User, project: Project
) -> None:
    assert limits.get_limits(project.pk).new_deployments_per_day == 200
    page = admin.post(url(project, "raise", "new_deployments_per_day"), follow=True)
    assert "New deployments per day: the limit is 400 now." in render_html(page)
    assert Quota.objects.get(project=project).new_deployments_per_day == 400
    assert limits.get_limits(project.pk).new_deployments_per_day == 400
    changed = entry("quota.change")
    assert (changed.actor, changed.actor_kind) == (operator, "operator")
    assert changed.detail["changes"] == {"new_deployments_per_day": [None, 400]}


@pytest.mark.parametrize("name", ["retention_days", "nothing"])
def test_raise_of_another_name_changes_nothing(admin: Client, project: Project, name: str) -> None:
    page = admin.post(url(project, "raise", name), follow=True)
    assert "There is no such limit" in render_html(page)
    assert not Quota.objects.filter(project=project).exists()


def test_overrides_are_saved_beside_the_values_of_the_plan(admin: Client, project: Project) -> None:
    project.plan = Plan.objects.create(name="Team", profiles_per_day=50_000)
    project.save()
    assert "50,000" in render_html(admin.get(url(project)))
    page = admin.post(url(project), {"profiles_per_day": "60000"}, follow=True)
    assert "Quotas saved" in render_html(page)
    assert limits.get_limits(project.pk).profiles_per_day == 60_000
    admin.post(url(project), {"profiles_per_day": ""})
    assert limits.get_limits(project.pk).profiles_per_day == 50_000


def test_shorter_retention_is_confirmed(admin: Client, project: Project) -> None:
    page = admin.post(url(project), {"retention_days": "3"})
    assert page.status_code == 400
    assert "Select this to confirm" in render_html(page)
    assert not Quota.objects.filter(project=project).exclude(retention_days=None).exists()
    admin.post(url(project), {"retention_days": "3", "delete_older": "on"})
    assert limits.get_limits(project.pk).retention_days == 3


def test_limits_come_from_defaults_plan_and_quota_in_this_order(project: Project) -> None:
    Quota.objects.update_or_create(project=None, defaults={"profiles_per_minute": 1})
    assert limits.get_limits(project.pk).profiles_per_minute == 1
    plan = Plan.objects.create(name="Team", profiles_per_minute=2)
    project.plan = plan
    project.save()
    assert limits.get_limits(project.pk).profiles_per_minute == 2
    plan.profiles_per_minute = 3
    plan.save()
    assert limits.get_limits(project.pk).profiles_per_minute == 3
    Quota.objects.create(project=project, profiles_per_minute=4)
    assert limits.get_limits(project.pk).profiles_per_minute == 4


def test_plan_is_changed_and_audited(admin: Client, project: Project) -> None:
    plan = Plan.objects.create(name="Team")
    admin.post(url(project, "plan"), {"plan": plan.pk})
    project.refresh_from_db()
    assert project.plan == plan
    assert entry("project.plan").detail == {"before": "", "plan": "Team"}
    admin.post(url(project, "plan"), {"plan": "4711"})
    project.refresh_from_db()
    assert project.plan == plan
    admin.post(url(project, "plan"), {"plan": ""})
    project.refresh_from_db()
    assert project.plan is None


def test_change_of_a_plan_is_audited(admin: Client) -> None:
    plan = Plan.objects.create(name="Team", profiles_per_day=5)
    change = reverse("admin:projects_plan_change", args=[plan.pk])
    admin.post(change, {"name": "Team", "profiles_per_day": "6"})
    assert entry("plan.change").detail["changes"] == {"profiles_per_day": [5, 6]}
    assert Plan.objects.get().profiles_per_day == 6


def test_suspended_project_takes_no_profiles_until_it_is_resumed(
    admin: Client, project: Project, agent: AgentClient, reader: AgentClient
) -> None:
    name = agent.captured_request()["name"]
    admin.post(url(project, "suspend"), {"reason": "Invoice of May is open"})
    for response in (agent.handshake(), agent.upload(name), agent.offline()):
        error = assert_error_response(
            response, 403, "PERMISSION_DENIED", "suspended the project", "Invoice of May is open"
        )
        delay = float(error["details"][0]["retryDelay"].removesuffix("s"))
        assert delay > 120
    nameless = AgentClient(agent.project).upload(name)  # by the name alone
    assert_error_response(nameless, 403, "PERMISSION_DENIED", "suspended")
    imported = agent.request(
        "POST", "/api/v1/projects/-/profiles:import?service=shop", content=b"main 1\n"
    )
    assert_error_response(imported, 403, "PERMISSION_DENIED", "suspended")
    assert not Profile.objects.exists()
    services = f"/api/v1/projects/{project.project_id}/services"
    assert reader.request("GET", services).status_code == 200
    admin.post(url(project, "resume"))
    assert agent.upload(name).status_code == 200
    assert entry("project.suspend").detail["reason"] == "Invoice of May is open"
    assert entry("project.resume").actor_kind == "operator"


def test_members_of_a_suspended_project_see_the_reason(
    admin: Client, client: Client, alice: User, project: Project
) -> None:
    admin.post(url(project, "suspend"), {"reason": "Invoice of May is open"})
    client.force_login(alice)
    page = client.get(reverse("settings", args=[project.project_id]))
    assert page.status_code == 200
    assert "Reason: Invoice of May is open" in render_html(page)


def test_suspension_needs_a_reason(admin: Client, project: Project) -> None:
    page = admin.post(url(project, "suspend"), {"reason": " "}, follow=True)
    assert "Enter a reason" in render_html(page)
    project.refresh_from_db()
    assert project.suspended is None


def test_visit_shows_the_console_and_changes_nothing(
    admin: Client, operator: User, project: Project
) -> None:
    services = reverse("services", args=[project.project_id])
    assert admin.get(services).status_code == 404
    admin.post(url(project, "visit"), {"reason": "ticket 4812"})
    page = admin.get(services)
    assert page.status_code == 200
    assert "You are visiting" in render_html(page)
    settings = reverse("settings", args=[project.project_id])
    rejected = admin.post(settings, {"name": "x", "rate": "1.0"})
    assert rejected.status_code == 403
    assert "read-only visit" in rejected.content.decode()
    left = admin.post(reverse("leave_project", args=[project.project_id]))
    assert left.status_code == 403
    assert admin.get(reverse("audit", args=[project.project_id])).status_code == 403
    begun = entry("project.visit")
    assert (begun.actor, begun.detail["reason"]) == (operator, "ticket 4812")
    assert not Member.objects.filter(project=project, user=operator).exists()
    admin.post(reverse("admin:projects_project_visit_end"))
    assert admin.get(services).status_code == 404
    assert entry("project.visit_end").project == project


def test_visit_is_of_one_project_and_one_hour(
    admin: Client, project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.post(url(project, "visit"), {"reason": "ticket"})
    other = reverse("services", args=[other_project.project_id])
    assert admin.get(other).status_code == 404
    session = admin.session
    session["visit_until"] = timezone.now().timestamp() - 1
    session.save()
    assert admin.get(reverse("services", args=[project.project_id])).status_code == 404


def test_visit_ends_with_the_rights_of_the_operator(
    admin: Client, operator: User, project: Project
) -> None:
    admin.post(url(project, "visit"), {"reason": "ticket"})
    User.objects.filter(pk=operator.pk).update(is_staff=False)
    assert admin.get(reverse("services", args=[project.project_id])).status_code == 404


def test_visit_needs_a_reason(admin: Client, project: Project) -> None:
    page = admin.post(url(project, "visit"), {"reason": ""}, follow=True)
    assert "the owners see it" in render_html(page)
    assert admin.get(reverse("services", args=[project.project_id])).status_code == 404


def test_member_needs_no_visit(admin: Client, operator: User, project: Project) -> None:
    Member.objects.create(project=project, user=operator, role=Role.VIEWER)
    page = admin.post(url(project, "visit"), {"reason": "ticket"}, follow=True)
    assert "You are a member of this project" in render_html(page)
    assert not AuditEntry.objects.filter(action="project.visit").exists()


ACTIONS = [
    ("overview", ()),
    ("raise", ("profiles_per_day",)),
    ("plan", ()),
    ("suspend", ()),
    ("resume", ()),
    ("visit", ()),
]


@pytest.mark.parametrize(("name", "args"), ACTIONS)
def test_people_without_the_right_change_nothing(
    client: Client, alice: User, project: Project, name: str, args: tuple[str, ...]
) -> None:
    """An owner who is no operator, and an operator who may not change projects."""
    client.force_login(alice)
    assert client.post(url(project, name, *args), {"reason": "x"}).status_code == 302
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert client.post(url(project, name, *args), {"reason": "x"}).status_code == 404
    project.refresh_from_db()
    assert project.suspended is None
    assert not Quota.objects.filter(project=project).exists()


def test_page_and_list_cost_a_bounded_number_of_queries(
    admin: Client, project: Project, alice: User
) -> None:
    admin.get(url(project))  # caches the limits
    with count_queries() as few:
        admin.get(url(project))
    for number in range(20):
        user = User.objects.create_user(f"p{number}@example.org", "a sentence works well")
        Member.objects.create(project=project, user=user, role=Role.VIEWER)
        extra = Project.objects.create(project_id=f"project-{number}", name="x")
        DayUsage.objects.create(project=extra, day=utc_day(), profiles=1)
    with count_queries() as many:
        admin.get(url(project))
    assert len(many) == len(few)
    with count_queries() as listed:
        admin.get(reverse("admin:projects_project_changelist"))
    assert len(listed) <= 12
