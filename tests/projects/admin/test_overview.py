"""Start page of the admin: projects with usage and state, and quota requests."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from profiles.models import DeletionJob, DeletionScope, ExportJob, ExportState
from projects import quota_requests
from projects.audit import NO_CLIENT
from projects.models import (
    ActorKind,
    AuditEntry,
    DayUsage,
    Plan,
    Project,
    QuotaRequest,
    User,
)
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
from tests.frontend.html import render_html
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)
INDEX = "/admin/"


@pytest.fixture
def many_projects(db: None) -> None:
    """Create 10,000 projects, with usage of three days."""
    Project.objects.bulk_create(
        Project(project_id=f"team-{number}", name=f"Team {number:05}") for number in range(10_000)
    )
    today = utc_day()
    keys = Project.objects.filter(project_id__startswith="team-").values_list("pk", flat=True)
    DayUsage.objects.bulk_create(
        DayUsage(project_id=pk, day=today - timedelta(days=ago), profiles=pk % 97, rejected=pk % 7)
        for pk in keys
        for ago in range(3)
    )


def names(html: str) -> list[str]:
    return re.findall(r"<strong>((?:Acme|Beta|Gamma)[^<]*)</strong></a>", html)


@pytest.fixture
def three(project: Project) -> None:
    Project.objects.exclude(pk=project.pk).delete()
    Project.objects.filter(pk=project.pk).update(name="Acme")
    beta = Project.objects.create(
        project_id="beta-shop", name="Beta", plan=Plan.objects.create(name="Team", stored_bytes=100)
    )
    Project.objects.create(project_id="gamma-shop", name="Gamma", suspended=timezone.now())
    today = utc_day()
    DayUsage.objects.create(project=project, day=today, profiles=50, rejected=9)
    DayUsage.objects.create(project=beta, day=today, profiles=70, stored_bytes=60)
    DayUsage.objects.create(project=beta, day=today - timedelta(days=1), stored_bytes=30)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("", ["Acme", "Beta", "Gamma"]),
        ("name", ["Acme", "Beta", "Gamma"]),
        ("-name", ["Gamma", "Beta", "Acme"]),
        ("-profiles", ["Beta", "Acme", "Gamma"]),
        ("-stored", ["Beta", "Acme", "Gamma"]),
        ("-share", ["Beta", "Acme", "Gamma"]),
        ("-state", ["Gamma", "Acme", "Beta"]),
        ("-plan", ["Beta", "Acme", "Gamma"]),
        ("last", ["Acme", "Beta", "Gamma"]),
        ("password", ["Acme", "Beta", "Gamma"]),
    ],
)
def test_projects_are_sorted_by_each_column(
    admin: Client, three: None, order: str, expected: list[str]
) -> None:
    assert names(render_html(admin.get(INDEX, {"o": order} if order else {}))) == expected


def test_row_has_usage_plan_and_state(admin: Client, three: None) -> None:
    page = " ".join(render_html(admin.get(INDEX, {"q": "beta"})).split())
    assert names(page) == ["Beta"]
    assert "90 bytes" in page
    assert "of 100 bytes" in page
    assert "<strong>90 %</strong>" in page
    assert f"<td>{utc_day()}</td>" in page
    assert "Team" in page


def test_search_finds_projects_by_id_and_member(admin: Client, three: None, alice: User) -> None:
    assert names(render_html(admin.get(INDEX, {"q": "gamma-sh"}))) == ["Gamma"]
    assert names(render_html(admin.get(INDEX, {"q": alice.email}))) == ["Acme"]
    assert "No project matches" in render_html(admin.get(INDEX, {"q": "nothing%"}))


@pytest.mark.slow
def test_page_of_ten_thousand_projects_costs_a_constant_number_of_queries(
    admin: Client, project: Project, many_projects: None
) -> None:
    for order in ("-rejected", "-share", "name", "-last"):
        with count_queries() as queries:
            page = render_html(admin.get(INDEX, {"o": order, "p": "3"}))
        assert "101 – 150 / 10" in page
        assert len(queries) <= 12, queries


def test_usage_of_a_page_is_read_by_index(admin: Client, project: Project) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("plans of PostgreSQL depend on statistics")
    with count_queries() as queries:
        admin.get(INDEX)
    [rows] = [sql for sql in queries if "last_day" in sql and " IN (" in sql]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {rows.replace('%s', '1')}")
        plan = [row[3] for row in cursor.fetchall()]
    assert not [step for step in plan if step.startswith("SCAN projects_dayusage")], plan


def test_staff_without_rights_see_no_projects(client: Client, alice: User, three: None) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    client.force_login(alice)
    page = client.get(INDEX)
    assert page.status_code == 200
    assert "Beta" not in render_html(page)


def ask(project: Project, alice: User) -> QuotaRequest:
    return quota_requests.create(
        project,
        LimitName.STORED_BYTES,
        40 * 10**9,
        "Retention of 60 days",
        actor=alice,
        origin=NO_CLIENT,
    )


def act(name: str, row: QuotaRequest) -> str:
    return reverse(f"admin:projects_project_{name}", args=[row.pk])


def test_operator_grants_a_request_from_the_overview(
    admin: Client, operator: User, project: Project, alice: User
) -> None:
    row = ask(project, alice)
    page = render_html(admin.get(INDEX))
    assert "Stored, 20 GB → 40 GB" in page
    assert "“Retention of 60 days”" in page
    tenant = reverse("admin:projects_project_overview", args=[project.pk])
    assert "Stored, 20 GB → 40 GB" in render_html(admin.get(tenant))
    posted = {"amount": "30 GB", "note": "Until May", "page": "overview"}
    done = admin.post(act("grant", row), posted, follow=True)
    assert done.redirect_chain == [(INDEX, 302)]
    row.refresh_from_db()
    assert (row.state, row.granted, row.note) == ("granted", 30 * 10**9, "Until May")
    assert "already decided" in render_html(admin.post(act("grant", row), posted, follow=True))


def test_operator_declines_a_request_with_a_note(
    admin: Client, project: Project, alice: User
) -> None:
    row = ask(project, alice)
    assert "Enter a note" in render_html(admin.post(act("decline", row), {}, follow=True))
    admin.post(act("decline", row), {"note": "The disk is full"})
    row.refresh_from_db()
    assert (row.state, row.note) == ("declined", "The disk is full")


@pytest.mark.parametrize("amount", ["", "much", "0", "9" * 18])
def test_grant_of_a_bad_amount_changes_nothing(
    admin: Client, project: Project, alice: User, amount: str
) -> None:
    row = ask(project, alice)
    admin.post(act("grant", row), {"amount": amount})
    row.refresh_from_db()
    assert row.state == "open"


@pytest.mark.parametrize("name", ["grant", "decline"])
def test_people_without_the_right_decide_nothing(
    client: Client, project: Project, alice: User, name: str
) -> None:
    row = ask(project, alice)
    client.force_login(alice)
    assert client.post(act(name, row), {"amount": "30 GB", "note": "x"}).status_code == 302
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert client.post(act(name, row), {"amount": "30 GB", "note": "x"}).status_code == 404
    row.refresh_from_db()
    assert row.state == "open"


def test_jobs_that_run_or_failed_are_listed_with_their_progress(
    admin: Client, project: Project
) -> None:
    now = timezone.now()
    deletion = DeletionJob(project=project, scope=DeletionScope.SERVICE, state="deleting")
    deletion.requested, deletion.due, deletion.request_entry = now, now, 1
    deletion.profiles, deletion.expected_profiles = 1500, 60_000
    deletion.problem = "the object store does not respond"
    deletion.save()
    later = now + timedelta(days=30)
    waiting = {"requested": now, "request_entry": 2, "due": later}
    hidden = DeletionJob.objects.create(project=project, scope=DeletionScope.PROJECT, **waiting)
    states = {"running": None, "failed": now, "done": now, "expired": now}
    for number, (state, finished) in enumerate(states.items()):
        ExportJob.objects.create(
            project=project, state=state, requested=now, finished=finished, profiles=number + 7
        )
    page = " ".join(render_html(admin.get(INDEX)).split())
    assert "1,500 of 60,000 profiles" in page
    assert "the object store does not respond" in page
    assert page.count(f"/admin/profiles/deletionjob/{deletion.pk}/change/") == 1
    assert f"/admin/profiles/deletionjob/{hidden.pk}/change/" not in page
    assert [f"<td>{count} profiles, " in page for count in (7, 8, 9, 10)] == [1, 1, 0, 0]
    link = reverse("admin:profiles_exportjob_change", args=[ExportJob.objects.earliest("pk").pk])
    assert admin.get(link).status_code == 200


def test_operator_cancels_an_export(admin: Client, project: Project) -> None:
    job = ExportJob.objects.create(project=project, requested=timezone.now())
    form = {"action": "cancel_exports", "_selected_action": [str(job.pk)]}
    admin.post(reverse("admin:profiles_exportjob_changelist"), form)
    job.refresh_from_db()
    assert job.state == ExportState.CANCELED
    assert AuditEntry.objects.get(action="export.cancel").actor_kind == ActorKind.OPERATOR
