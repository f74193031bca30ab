"""Admin pages load under the content security policy, which forbids inline code."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects import audit
from projects.credentials import keys
from projects.models import Agent, DayRejections, Deployment, Project, Quota, User

WRITTEN_BY_THE_SERVER = ["apikey", "deployment", "agent", "auditentry", "dayrejections"]
MODELS = ["project", "quota", "user", *WRITTEN_BY_THE_SERVER]
INLINE = re.compile(
    r"<style|\sstyle=|<script(?![^>]*\ssrc=)(?![^>]*type=\"application/json)|\son\w+="
)


@pytest.fixture
def rows(project: Project, bob: User) -> dict[str, int]:
    """Create one row of each model; return its primary key."""
    now = timezone.now()
    deployment = Deployment.objects.create(
        project=project, service="checkout", first_seen=now, last_seen=now
    )
    agent = Agent.objects.create(
        deployment=deployment, identity="a", types=["CPU"], first_seen=now, last_seen=now
    )
    Quota.objects.get_or_create(project=None)  # the defaults, which flushed databases lack
    return {
        "project": project.pk,
        "quota": Quota.objects.create(project=project).pk,
        "apikey": keys.create(project, "checkout")[0].pk,
        "deployment": deployment.pk,
        "agent": agent.pk,
        "auditentry": audit.record(project, "capture.now", service="checkout").pk,
        "dayrejections": DayRejections.objects.create(
            project=project, day=now.date(), reason="profiles_per_day", count=3
        ).pk,
        "user": bob.pk,
    }


def page(client: Client, name: str, *args: object) -> str:
    response = client.get(reverse(f"admin:{name}", args=args))
    assert response.status_code == 200
    assert "default-src 'none'" in response["Content-Security-Policy"]
    return response.content.decode()


@pytest.mark.parametrize("model", MODELS)
def test_the_list_and_a_row_load_without_inline_code(
    admin: Client, rows: dict[str, int], model: str
) -> None:
    html = page(admin, f"projects_{model}_changelist")
    html += page(admin, f"projects_{model}_change", rows[model])
    assert INLINE.findall(html) == []


@pytest.mark.parametrize("model", ["project", "quota", "user"])
def test_a_row_can_be_added(admin: Client, model: str) -> None:
    assert INLINE.findall(page(admin, f"projects_{model}_add")) == []


@pytest.mark.parametrize("model", WRITTEN_BY_THE_SERVER)
def test_rows_that_the_server_writes_are_read_only(
    admin: Client, rows: dict[str, int], model: str
) -> None:
    assert admin.get(reverse(f"admin:projects_{model}_add")).status_code == 403
    change = reverse(f"admin:projects_{model}_change", args=[rows[model]])
    assert admin.post(change, {"name": "changed"}).status_code == 403
    delete = reverse(f"admin:projects_{model}_delete", args=[rows[model]])
    assert admin.post(delete, {"post": "yes"}).status_code == 403


def test_the_index_lists_them(admin: Client) -> None:
    html = page(admin, "index")
    assert "Flamewatch" in html
    assert all(name in html for name in ("Quotas", "API keys", "Audit entries"))
    assert "Groups" not in html


@pytest.mark.parametrize("who", ["alice", "bob", "charlie"])
def test_it_is_for_operators_only(request: pytest.FixtureRequest, client: Client, who: str) -> None:
    client.force_login(request.getfixturevalue(who))
    assert client.get("/admin/").status_code in (302, 403)
    assert client.get("/admin/projects/quota/").status_code in (302, 403)


def test_everyone_signs_in_by_the_same_door(client: Client, db: None) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))
    assert "next=%2Fadmin%2F" in response.redirect_chain[-1][0]


def test_a_project_can_be_deleted_with_all_it_has(admin: Client, rows: dict[str, int]) -> None:
    delete = reverse("admin:projects_project_delete", args=[rows["project"]])
    assert admin.post(delete, {"post": "yes"}).status_code == 302
    assert not Project.objects.exists()
    assert not Agent.objects.exists()
    assert Quota.objects.get().project is None


def test_a_person_is_added_by_e_mail_address(admin: Client) -> None:
    form = {
        "email": "dora@example.org",
        "usable_password": "true",
        "password1": "a sentence works well",
        "password2": "a sentence works well",
    }
    assert admin.post(reverse("admin:projects_user_add"), form).status_code == 302
    assert User.objects.get(email="dora@example.org").check_password("a sentence works well")


def test_rejections_are_listed_by_project_and_reason(admin: Client, rows: dict[str, int]) -> None:
    html = page(admin, "projects_dayrejections_changelist")
    assert "Acme Shop" in html
    assert '<td class="field-reason">profiles_per_day</td>' in html
    assert '<td class="field-count">3</td>' in html
