"""Limits on projects of an account, and on members and keys of a project."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from profiler_site.cli.main import main
from projects.account_limits import LimitReached
from projects.credentials import keys
from projects.models import ApiKey, Member, Project, Role, User
from projects.project_ids import create_project
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db


def fill_keys(project: Project, settings: Settings, count: int = 2) -> None:
    for number in range(count):
        keys.create(project, f"key {number}")
    settings.MAX_KEYS_PER_PROJECT = count


def test_an_account_owns_no_more_projects_than_the_limit(
    alice: User, project: Project, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 2
    create_project("Second Shop", alice)
    with pytest.raises(LimitReached, match=r"owns: 2; the limit is 2\. .* ask the operator"):
        create_project("Third Shop", alice)
    assert Project.objects.count() == 2


def test_the_operator_sets_another_limit_for_one_account(
    alice: User, charlie: User, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    alice.max_projects = 2
    alice.save()
    for name in ("First Shop", "Second Shop"):
        create_project(name, alice)
    with pytest.raises(LimitReached, match="the limit is 2"):
        create_project("Third Shop", alice)
    create_project("Other Shop", charlie)
    with pytest.raises(LimitReached, match="the limit is 1"):
        create_project("Another Shop", charlie)


def test_projects_of_others_do_not_count(bob: User, project: Project, settings: Settings) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    assert create_project("Bob's Shop", bob).members.get().user == bob


def test_a_revoked_key_makes_room_for_another(project: Project, settings: Settings) -> None:
    fill_keys(project, settings)
    with pytest.raises(LimitReached, match=r"in use: 2; the limit is 2\. Revoke keys"):
        keys.create(project, "one more")
    keys.revoke(ApiKey.objects.filter(project=project)[0])
    keys.create(project, "one more")


def test_projects_and_keys_over_a_lowered_limit_stay(
    client: Client, alice: User, project: Project, settings: Settings
) -> None:
    create_project("Second Shop", alice)
    fill_keys(project, settings, 3)
    settings.MAX_PROJECTS_PER_ACCOUNT = settings.MAX_KEYS_PER_PROJECT = 1
    client.force_login(alice)
    page = render_html(client.get("/p/acme-shop/settings/keys"))
    assert "key 0" in page
    assert client.get("/p/second-shop/settings").status_code == 200


def test_the_form_of_a_new_project_shows_the_limit(
    client: Client, alice: User, project: Project, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    client.force_login(alice)
    page = render_html(client.post("/projects/new", {"name": "Second Shop"}))
    assert "Projects that alice@example.org owns: 1; the limit is 1." in page
    assert 'value="Second Shop"' in page
    assert Project.objects.count() == 1


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "htmx"])
@pytest.mark.parametrize(
    ("address", "form", "status"),
    [("settings/keys", {"name": "laptop", "scope": "write"}, 400), ("setup", {}, 200)],
)
def test_pages_that_create_keys_show_the_limit(
    client: Client,
    alice: User,
    project: Project,
    settings: Settings,
    address: str,
    form: dict[str, str],
    status: int,
    headers: dict[str, str],
) -> None:
    fill_keys(project, settings)
    client.force_login(alice)
    response = client.post(f"/p/acme-shop/{address}", form, headers=headers)
    assert response.status_code == status
    assert "API keys of Acme Shop in use: 2; the limit is 2." in render_html(response)
    assert ApiKey.objects.count() == 2


def test_the_command_line_has_the_same_limits(
    alice: User, project: Project, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    fill_keys(project, settings)
    assert main(["project", "create", "Second Shop", "--owner", "alice@example.org"]) == 1
    assert "FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT" in capsys.readouterr().err
    assert main(["key", "create", "acme-shop", "--scope", "read"]) == 1
    assert "FLAMEWATCH_MAX_KEYS_PER_PROJECT" in capsys.readouterr().err


class Concurrent:
    """Call in another thread, with its own database connection."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self.error = error
        finally:
            connection.close()

    def join(self, seconds: float = 60) -> bool:
        """Wait for the end of the call; return True if it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["project", "key"])
def test_two_requests_at_once_do_not_exceed_a_limit(
    kind: str, alice: User, project: Project, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 2
    settings.MAX_KEYS_PER_PROJECT = 1

    def create() -> None:
        if kind == "project":
            create_project("Second Shop", alice)
        else:
            keys.create(project, "a key")

    with transaction.atomic():
        create()
        # It cannot see the uncommitted row: without a lock it would end here, above the limit.
        other = Concurrent(create)
        other.join(0.5)
    assert other.join()
    assert isinstance(other.error, LimitReached)
    assert (Project.objects.count(), ApiKey.objects.count()) == (
        (2, 0) if kind == "project" else (1, 1)
    )


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator@example.org", "a sentence"))
    return client


def save_members(admin: Client, project: Project, *new: tuple[User, Role], remove: int = 0) -> str:
    """Save a project in the admin with further members; return the page with its errors, or ""."""
    rows = list(Member.objects.filter(project=project).order_by("pk"))
    form = {
        "project_id": project.project_id,
        "name": project.name,
        "profiles_per_minute": "1",
        "members-TOTAL_FORMS": str(len(rows) + len(new)),
        "members-INITIAL_FORMS": str(len(rows)),
        "quota-TOTAL_FORMS": "0",
        "quota-INITIAL_FORMS": "0",
    }
    for number, row in enumerate(rows):
        form |= {
            f"members-{number}-id": str(row.pk),
            f"members-{number}-project": str(project.pk),
            f"members-{number}-user": str(row.user_id),
            f"members-{number}-role": row.role,
        }
        if number >= len(rows) - remove:
            form[f"members-{number}-DELETE"] = "on"
    for number, (user, role) in enumerate(new, len(rows)):
        form |= {
            f"members-{number}-project": str(project.pk),
            f"members-{number}-user": str(user.pk),
            f"members-{number}-role": role,
        }
    response = admin.post(reverse("admin:projects_project_change", args=[project.pk]), form)
    return "" if response.status_code == 302 else render_html(response)


def test_the_admin_adds_members_up_to_the_limit(
    admin: Client, project: Project, bob: User, charlie: User, settings: Settings
) -> None:
    settings.MAX_MEMBERS_PER_PROJECT = 2
    said = save_members(admin, project, (charlie, Role.VIEWER))
    assert "Members of Acme Shop: 3; the limit is 2. Remove members" in said
    settings.MAX_MEMBERS_PER_PROJECT = 1
    assert save_members(admin, project, (charlie, Role.VIEWER), remove=1) == ""
    assert Member.objects.filter(project=project).count() == 2


def test_admin_rejects_an_owner_over_the_project_limit(
    admin: Client, project: Project, other_project: Project, charlie: User, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    said = save_members(admin, project, (charlie, Role.OWNER))
    assert "Projects that charlie@example.org owns: 1; the limit is 1." in said
    assert save_members(admin, project, (charlie, Role.ADMIN)) == ""
    assert save_members(admin, other_project) == ""


def test_the_admin_sets_the_limit_of_an_account(admin: Client, alice: User) -> None:
    page = reverse("admin:projects_user_change", args=[alice.pk])
    assert 'name="max_projects"' in render_html(admin.get(page))
    form = {"email": alice.email, "is_active": "on", "max_projects": "50"}
    assert admin.post(page, form).status_code == 302
    alice.refresh_from_db()
    assert alice.max_projects == 50
