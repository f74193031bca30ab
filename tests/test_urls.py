"""Access control of every URL of the site, for strangers, outsiders, members and owners.

A new URL fails here until it has a row in PAGES.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from profiles.models import Blob, ResultSnapshot
from projects.credentials import keys
from projects.models import Annotation, ApiKey, Member, Project, Role, SavedView, User
from projects.profile_types import ProfileType
from scheduler import user_captures
from scheduler.models import UserCapture

pytestmark = pytest.mark.django_db
PROJECT = "acme-shop"
KEY_ID = "abcdefghij"
SNAPSHOT = "0123456789abcdef"
SAVED = "4711"  # primary key of a saved view of alice
CAPTURE = "rejected-abcdefghij"
NOTE = "4711"


class For(Enum):
    """Audience of a URL."""

    EVERYONE = "everyone"
    PEOPLE = "whoever is signed in"
    VIEWERS = "all members of the project"
    MEMBERS = "its members but viewers"
    OWNERS = "its owners and admins"


@dataclass(frozen=True)
class Page:
    name: str
    whom: For
    args: tuple[str, ...] = ()
    data: dict[str, str] | None = field(default=None)  # of a POST; None for a GET
    query: str = ""

    def __str__(self) -> str:
        return f"{self.name} {'GET' if self.data is None else 'POST'}"

    def ask(self, client: Client) -> int:
        """Return the status of the response; 401 for a redirect to the sign-in page."""
        url = reverse(self.name, args=self.args) + self.query
        response: Any = client.get(url) if self.data is None else client.post(url, self.data)
        to_sign_in = response.headers.get("Location", "").startswith(reverse("account_login"))
        return 401 if to_sign_in else int(response.status_code)


PAGES = [
    Page("agent_files", For.EVERYONE),
    Page("concepts", For.EVERYONE),
    Page("language", For.EVERYONE),
    Page("language", For.EVERYONE, data={"language": "es"}),
    Page("agent_file", For.EVERYONE, ("no-such-file.whl",)),
    Page("agent_file_build", For.EVERYONE, ("0123456789abcdef", "no-such-file.whl")),
    Page("go_module", For.EVERYONE, ("list",)),
    Page("java_package", For.EVERYONE, ("no-such-file.jar",)),
    Page("node_package", For.EVERYONE, ("no-such-file.tgz",)),
    Page("agent_index", For.EVERYONE),
    Page("agent_index_project", For.EVERYONE, ("flamewatch-agent",)),
    Page("home", For.PEOPLE),
    Page("editor", For.PEOPLE),
    Page("editor", For.PEOPLE, data={"editor_url": ""}),
    Page("new_project", For.PEOPLE),
    Page("new_project", For.PEOPLE, data={"name": "Second Shop"}),
    Page("suggested_id", For.PEOPLE),
    Page("project", For.VIEWERS, (PROJECT,)),
    Page("services", For.VIEWERS, (PROJECT,)),
    Page("flame", For.VIEWERS, (PROJECT,)),
    Page("flame_tree", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("flame_over_time", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU&function=a"),
    Page("flame_lines", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU&name=a"),
    Page("flame_functions", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("flame_download", For.VIEWERS, (PROJECT, "pprof"), query="?service=shop&type=CPU"),
    Page("capture", For.MEMBERS, (PROJECT,), data={"service": "shop", "type": "CPU"}),
    Page("capture_progress", For.VIEWERS, (PROJECT, CAPTURE)),
    Page("embed", For.MEMBERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("embed", For.MEMBERS, (PROJECT,), data={"days": "7"}, query="?service=shop&type=CPU"),
    Page("revoke_embeds", For.OWNERS, (PROJECT,), data={}),
    Page("calendar", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("compare", For.VIEWERS, (PROJECT,)),
    Page("compare_tree", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("compare_csv", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("history", For.VIEWERS, (PROJECT,)),
    Page("history_csv", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("breakdown", For.VIEWERS, (PROJECT,)),
    Page("breakdown_csv", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("profiles", For.VIEWERS, (PROJECT,)),
    Page("profiles_csv", For.VIEWERS, (PROJECT,), query="?service=shop&type=CPU"),
    Page("notes", For.VIEWERS, (PROJECT,)),
    Page("new_note", For.MEMBERS, (PROJECT,), query="?service=shop"),
    Page("new_note", For.MEMBERS, (PROJECT,), data={"text": "x", "at": "2026-11-20T12:00"}),
    Page("edit_note", For.MEMBERS, (PROJECT, NOTE)),
    Page("edit_note", For.MEMBERS, (PROJECT, NOTE), data={"text": "x", "at": "2026-11-20T12:00"}),
    Page("delete_note", For.MEMBERS, (PROJECT, NOTE)),
    Page("delete_note", For.MEMBERS, (PROJECT, NOTE), data={}),
    Page("agents", For.VIEWERS, (PROJECT,)),
    Page("agents", For.VIEWERS, (PROJECT,), query="?show=deployments"),
    Page("saved", For.VIEWERS, (PROJECT,)),
    Page("palette", For.VIEWERS, (PROJECT,)),
    Page(
        "save_view", For.MEMBERS, (PROJECT,), data={"name": "x", "address": f"/p/{PROJECT}/flame"}
    ),
    Page(
        "take_snapshot",
        For.MEMBERS,
        (PROJECT,),
        data={"title": "x", "address": f"/p/{PROJECT}/flame?service=shop&type=CPU"},
    ),
    Page("delete_snapshot", For.OWNERS, (PROJECT, SNAPSHOT), data={}),
    Page("saved_view", For.VIEWERS, (PROJECT, SAVED)),
    Page("rename_view", For.OWNERS, (PROJECT, SAVED), data={"name": "y"}),
    Page("delete_view", For.OWNERS, (PROJECT, SAVED), data={}),
    Page("setup", For.VIEWERS, (PROJECT,)),
    Page("setup", For.OWNERS, (PROJECT,), data={}),
    Page("setup_status", For.VIEWERS, (PROJECT,)),
    Page("settings", For.VIEWERS, (PROJECT,)),
    Page("settings", For.OWNERS, (PROJECT,), data={"name": "Acme", "rate": "0.5"}),
    Page("create_key", For.VIEWERS, (PROJECT,)),
    Page("create_key", For.OWNERS, (PROJECT,), data={"name": "x", "scope": "write"}),
    Page("key_file", For.OWNERS, (PROJECT, KEY_ID)),
    Page("key_file", For.OWNERS, (PROJECT, KEY_ID), data={}),
    Page("revoke_key", For.OWNERS, (PROJECT, KEY_ID)),
    Page("revoke_key", For.OWNERS, (PROJECT, KEY_ID), data={}),
]
OF_A_PROJECT = [page for page in PAGES if PROJECT in page.args]
# Tested elsewhere: the pages of django-allauth and of the admin.
ELSEWHERE = ("account_", "admin:")


def names(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from names(pattern.url_patterns, inner)
        else:
            yield f"{namespace}{pattern.name}"


@pytest.fixture(autouse=True)
def key(project: Project) -> None:
    row, _text = keys.create(project, "production")
    ApiKey.objects.filter(pk=row.pk).update(key_id=KEY_ID)


@pytest.fixture(autouse=True)
def saved_view(project: Project, alice: User) -> None:
    SavedView.objects.create(pk=SAVED, project=project, name="v", page="flame", created_by=alice)


@pytest.fixture(autouse=True)
def snapshot(project: Project, alice: User) -> None:
    now = timezone.now()
    ResultSnapshot.objects.create(
        project=project,
        snapshot_id=SNAPSHOT,
        kind="selection",
        title="x",
        type="CPU",
        start=now,
        end=now,
        metrics=[["cpu", "nanoseconds"]],
        profiles=1,
        duration_ns=1,
        blob=Blob.objects.create(project=project, key="x", size=1),
        created_by=alice,
    )


@pytest.fixture(autouse=True)
def capture(project: Project) -> None:
    row = user_captures.note_rejected(project, "shop", ProfileType.CPU, "No agent of shop.")
    UserCapture.objects.filter(pk=row.pk).update(request=CAPTURE)


@pytest.fixture(autouse=True)
def note(project: Project) -> None:
    Annotation.objects.create(
        pk=int(NOTE), project=project, at=datetime(2026, 11, 20, 12, tzinfo=UTC), text="deploy"
    )


@pytest.fixture
def vera(project: Project) -> User:
    """Return a user with the role of viewer."""
    user = User.objects.create_user("vera@example.org", "a sentence works well")
    Member.objects.create(project=project, user=user, role=Role.VIEWER)
    return user


def test_every_address_is_in_the_table() -> None:
    ours = {name for name in names(get_resolver().url_patterns) if not name.startswith(ELSEWHERE)}
    assert ours == {page.name for page in PAGES}, "add a row to PAGES for each address"


@pytest.mark.one_database
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_strangers_sign_in_first(client: Client, page: Page) -> None:
    status = page.ask(client)
    assert status in ({200, 302, 404} if page.whom is For.EVERYONE else {401})


@pytest.mark.one_database
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_outsider_gets_404(client: Client, charlie: User, page: Page) -> None:
    client.force_login(charlie)
    assert page.ask(client) == 404


@pytest.mark.one_database
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_viewer_gets_403_for_every_change(client: Client, vera: User, page: Page) -> None:
    client.force_login(vera)
    assert page.ask(client) in ({200, 302} if page.whom is For.VIEWERS else {403})


@pytest.mark.one_database
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_member_gets_403_for_pages_of_owners_only(client: Client, bob: User, page: Page) -> None:
    client.force_login(bob)
    assert page.ask(client) in ({403} if page.whom is For.OWNERS else {200, 302})


@pytest.mark.parametrize("page", [page for page in PAGES if page.whom is not For.EVERYONE], ids=str)
def test_owner_has_access_to_every_page(client: Client, alice: User, page: Page) -> None:
    client.force_login(alice)
    assert page.ask(client) in {200, 302}
