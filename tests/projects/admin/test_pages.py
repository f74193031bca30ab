"""Admin pages load under the content security policy, which forbids inline code."""

import re
from urllib.parse import urlencode

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from profiles.engine.metrics import Metric
from profiles.models import SavedTreeKind
from profiles.storage import saved_tree_rows
from profiles.storage.saved_tree_rows import NewSavedTree
from projects import audit
from projects.credentials import keys
from projects.models import (
    Agent,
    Annotation,
    AuditEntry,
    DayRejections,
    Deployment,
    Member,
    Project,
    Quota,
    SavedView,
    User,
)
from projects.profile_types import ProfileType

WRITTEN_BY_THE_SERVER = ["apikey", "deployment", "agent", "auditentry", "dayrejections"]
WRITTEN_BY_MEMBERS = ["annotation", "savedview", "resultsnapshot"]
MODELS = ["project", "quota", "user", *WRITTEN_BY_THE_SERVER, *WRITTEN_BY_MEMBERS]
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
        **{name: shared_row(project, name).pk for name in WRITTEN_BY_MEMBERS},
    }


def shared_row(project: Project, model: str) -> Model:
    """Store a note, a saved view or a snapshot."""
    now = timezone.now()
    if model == "annotation":
        return Annotation.objects.create(project=project, at=now, text="deployed 2.31.0")
    if model == "savedview":
        return SavedView.objects.create(project=project, name="Checkout today", page="flame")
    cpu = (Metric("cpu", "nanoseconds"),)
    of_selection = (SavedTreeKind.SELECTION, "Before the fix", "checkout", ProfileType.CPU)
    new = NewSavedTree(project.pk, *of_selection, now, now, "", cpu, 1, 1, b"tree")
    return saved_tree_rows.store(new)


def url_of(model: str, page: str, *args: object) -> str:
    app = "profiles" if model == "resultsnapshot" else "projects"
    return reverse(f"admin:{app}_{model}_{page}", args=args)


def page(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    assert "default-src 'none'" in response["Content-Security-Policy"]
    return response.content.decode()


@pytest.mark.parametrize("model", MODELS)
def test_the_list_and_a_row_load_without_inline_code(
    admin: Client, rows: dict[str, int], model: str
) -> None:
    html = page(admin, url_of(model, "changelist"))
    html += page(admin, url_of(model, "change", rows[model]))
    assert INLINE.findall(html) == []


@pytest.mark.parametrize("model", ["project", "quota", "user"])
def test_a_row_can_be_added(admin: Client, model: str) -> None:
    assert INLINE.findall(page(admin, url_of(model, "add"))) == []


@pytest.mark.parametrize("model", WRITTEN_BY_THE_SERVER)
def test_rows_that_the_server_writes_are_read_only(
    admin: Client, rows: dict[str, int], model: str
) -> None:
    require_read_only(admin, model, rows[model])
    assert admin.post(url_of(model, "delete", rows[model]), {"post": "yes"}).status_code == 403


def require_read_only(admin: Client, model: str, pk: int) -> None:
    assert admin.get(url_of(model, "add")).status_code == 403
    assert admin.post(url_of(model, "change", pk), {"name": "changed"}).status_code == 403


@pytest.mark.parametrize("model", WRITTEN_BY_MEMBERS)
def test_rows_that_members_write_are_read_only_but_for_their_deletion(
    admin: Client, operator: User, rows: dict[str, int], model: str
) -> None:
    require_read_only(admin, model, rows[model])
    delete = url_of(model, "delete", rows[model])
    assert INLINE.findall(page(admin, delete)) == []
    assert admin.post(delete, {"post": "yes"}).status_code == 302
    assert admin.get(url_of(model, "change", rows[model])).status_code == 302
    entry = AuditEntry.objects.latest("pk")
    assert entry.action in ("annotation.delete", "view.delete", "snapshot.delete")
    assert (entry.actor, entry.project_id) == (operator, rows["project"])


@pytest.mark.parametrize("model", WRITTEN_BY_MEMBERS)
def test_several_rows_of_members_are_deleted_together(
    admin: Client, project: Project, model: str
) -> None:
    found = [shared_row(project, model)]
    if model != "savedview":  # whose names are unique
        found.append(shared_row(project, model))
    chosen = {"action": "delete_selected", "_selected_action": [row.pk for row in found]}
    listed = url_of(model, "changelist")
    assert admin.post(listed, chosen | {"post": "yes"}).status_code == 302
    assert not type(found[0])._default_manager.exists()
    assert AuditEntry.objects.filter(action__endswith=".delete").count() == len(found)


@pytest.mark.parametrize("model", WRITTEN_BY_MEMBERS)
def test_rows_of_members_are_found_by_their_project(
    admin: Client, rows: dict[str, int], model: str
) -> None:
    row = url_of(model, "change", rows[model])
    for words in ("acme-shop", "Acme Shop"):
        assert row in page(admin, f"{url_of(model, 'changelist')}?{urlencode({'q': words})}")
    assert row not in page(admin, f"{url_of(model, 'changelist')}?q=charlie")


def test_index_lists_the_models_of_the_project(admin: Client) -> None:
    html = page(admin, reverse("admin:index"))
    assert "Flamewatch" in html
    assert all(name in html for name in ("Quotas", "API keys", "Snapshots"))
    assert "Groups" not in html


@pytest.mark.parametrize("who", ["alice", "bob", "charlie"])
def test_admin_is_closed_to_members_and_strangers(
    request: pytest.FixtureRequest, client: Client, who: str
) -> None:
    client.force_login(request.getfixturevalue(who))
    assert client.get("/admin/").status_code in (302, 403)
    assert client.get("/admin/projects/quota/").status_code in (302, 403)


def test_admin_redirects_to_the_login_page_of_the_site(client: Client, db: None) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))
    assert "next=%2Fadmin%2F" in response.redirect_chain[-1][0]


def test_page_of_a_project_deletes_nothing_without_a_deletion_job(
    admin: Client, rows: dict[str, int]
) -> None:
    pk = rows["project"]
    delete = reverse("admin:projects_project_delete", args=[pk])
    assert admin.post(delete, {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [pk], "post": "yes"}
    admin.post(reverse("admin:projects_project_changelist"), chosen)
    assert Project.objects.filter(pk=pk).exists()
    assert "deletelink" not in page(admin, reverse("admin:projects_project_change", args=[pk]))


@pytest.mark.parametrize("change", [{"role": "admin"}, {"DELETE": "on"}])
def test_admin_keeps_the_last_owner_of_a_project(
    admin: Client, project: Project, bob: User, change: dict[str, str]
) -> None:
    owner, member = Member.objects.filter(project=project).order_by("pk")
    form = {
        "project_id": project.project_id,
        "name": project.name,
        "profiles_per_minute": "1",
        "members-TOTAL_FORMS": "1",
        "members-INITIAL_FORMS": "1",
        "members-0-id": str(owner.pk),
        "members-0-project": str(project.pk),
        "members-0-user": str(owner.user_id),
        "members-0-role": owner.role,
        **{f"members-0-{name}": value for name, value in change.items()},
        "quota-TOTAL_FORMS": "0",
        "quota-INITIAL_FORMS": "0",
    }
    url = reverse("admin:projects_project_change", args=[project.pk])
    said = admin.post(url, form).content.decode()
    assert "Acme Shop would have no owner. Make another member owner first" in said
    assert Member.objects.filter(pk=owner.pk, role="owner").exists()
    Member.objects.filter(pk=member.pk).update(role="owner")  # who is not in the form
    assert admin.post(url, form).status_code == 302
    assert not Member.objects.filter(pk=owner.pk, role="owner").exists()


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
    html = page(admin, url_of("dayrejections", "changelist"))
    assert "Acme Shop" in html
    assert '<td class="field-reason">profiles_per_day</td>' in html
    assert '<td class="field-count">3</td>' in html
