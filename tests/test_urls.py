"""Access control of every URL of the console, for each role, strangers and other tenants.

A new URL fails here until it has a row in PAGES. The table is written by hand, beside that of
projects/permissions.py: a change of one without the other fails.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, path, reverse
from django.utils import timezone

from alerts.conditions.registry import ConditionKind
from alerts.models import AlertSilence
from frontend import urls
from frontend.http.routes import find_guard, require_guards
from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionSelection
from profiles.models import Blob, DeletionJob, ExportJob, ResultSnapshot
from projects import invitations
from projects.credentials import access_tokens, device_sign_in, keys
from projects.models import (
    AccessToken,
    Annotation,
    ApiKey,
    DeviceSignIn,
    Invitation,
    Member,
    Project,
    Role,
    SavedView,
    TokenScope,
    User,
    Webhook,
    WebhookDelivery,
)
from projects.permissions import LOWEST_ROLES, Permission
from projects.profile_types import ProfileType
from scheduler import user_captures
from scheduler.models import UserCapture
from tests.alerts.stored_values import add_rule
from tests.findings.factory import add_finding

pytestmark = pytest.mark.django_db
PROJECT = "acme-shop"
KEY_ID = "abcdefghij"
TOKEN_ID = "klmnopqrst"  # of charlie
SESSION = "4711"  # of charlie
SNAPSHOT = "0123456789abcdef"
SAVED = "4711"  # primary key of a saved view of alice
CAPTURE = "rejected-abcdefghij"
NOTE = "4711"
OTHER_MEMBER = "4711"  # primary key of a viewer
INVITATION = "4711"
FINDING = "3f2a90c17b5e"
WEBHOOK, MESSAGE = "5be11d0c93a7", "987654320"
ALERT_RULE = "4e2a90c17b5f"
SILENCE = "4711"
QUOTA_RULE = {"name": "Full", "quota": "", "percent": "80"}
DELETION = "4711"
EXPORT = "4712"


class For(Enum):
    """Audience of a URL: lowest role, for those of a project."""

    EVERYONE = "everyone"
    PEOPLE = "whoever is signed in"
    VIEWERS = "all members of the project"
    MEMBERS = "its members but viewers"
    ADMINS = "its admins and owners"
    OWNERS = "its owners"


@dataclass(frozen=True)
class Page:
    name: str
    whom: For
    args: tuple[str, ...] = ()
    data: dict[str, str] | None = field(default=None)  # of a POST; None for a GET
    query: str = ""

    def __str__(self) -> str:
        return f"{self.name} {'GET' if self.data is None else 'POST'}"

    def response(self, client: Client) -> Any:
        url = reverse(self.name, args=self.args) + self.query
        return client.get(url) if self.data is None else client.post(url, self.data)

    def ask(self, client: Client) -> int:
        """Return the status of the response; 401 for a redirect to the sign-in page."""
        response = self.response(client)
        to_sign_in = response.headers.get("Location", "").startswith(reverse("account_login"))
        return 401 if to_sign_in else int(response.status_code)


PRICES_FORM = {
    "currency": "EUR",
    "watts_per_core": "7",
    "power_usage_effectiveness": "1.7",
    "kg_co2_per_kwh": "0.379",
}
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
    Page("api_docs", For.EVERYONE, ("queries",)),
    Page("home", For.PEOPLE),
    Page("account", For.PEOPLE),
    Page("account", For.PEOPLE, data={"name": "Charlie"}),
    Page("change_notices", For.PEOPLE, data={"receives": "on"}),
    Page("end_session", For.PEOPLE, (SESSION,), data={}),
    Page("end_other_sessions", For.PEOPLE, data={}),
    Page("disconnect_account", For.PEOPLE, ("4711",), data={}),
    Page("delete_account", For.PEOPLE),
    Page("device_code", For.EVERYONE, data={"device_name": "laptop"}),
    Page("device_token", For.EVERYONE, data={"device_code": "none"}),
    Page("oauth_resource", For.EVERYONE),
    Page("oauth_resource_by_path", For.EVERYONE),
    Page("oauth_server", For.EVERYONE),
    Page("oauth_register", For.EVERYONE, data={}),
    Page("oauth_token", For.EVERYONE, data={"code": "none"}),
    Page("authorize_program", For.PEOPLE, data={"client_id": "none"}),
    Page("confirm_device", For.PEOPLE),
    Page("confirm_device", For.PEOPLE, data={"code": "BCDF-GHJK", "decision": "deny"}),
    Page("tokens", For.PEOPLE),
    Page("tokens", For.PEOPLE, data={"name": "ci", "scopes": "read", "days": "30"}),
    Page("revoke_token", For.PEOPLE, (TOKEN_ID,)),
    Page("revoke_token", For.PEOPLE, (TOKEN_ID,), data={}),
    Page("editor", For.PEOPLE),
    Page("editor", For.PEOPLE, data={"editor_url": ""}),
    Page("new_project", For.PEOPLE),
    Page("new_project", For.PEOPLE, data={"name": "Second Shop"}),
    Page("suggested_id", For.PEOPLE),
    Page("deleted_projects", For.PEOPLE),
    Page("restore_project", For.PEOPLE, ("no-such-project",), data={}),
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
    Page("revoke_embeds", For.ADMINS, (PROJECT,), data={}),
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
    Page("delete_snapshot", For.ADMINS, (PROJECT, SNAPSHOT), data={}),
    Page("saved_view", For.VIEWERS, (PROJECT, SAVED)),
    Page("rename_view", For.ADMINS, (PROJECT, SAVED), data={"name": "y"}),
    Page("delete_view", For.ADMINS, (PROJECT, SAVED), data={}),
    Page("setup", For.VIEWERS, (PROJECT,)),
    Page("setup", For.ADMINS, (PROJECT,), data={}),
    Page("setup_status", For.VIEWERS, (PROJECT,)),
    Page("settings", For.VIEWERS, (PROJECT,)),
    Page("settings", For.ADMINS, (PROJECT,), data={"name": "Acme", "rate": "0.5"}),
    Page("members", For.VIEWERS, (PROJECT,)),
    Page("invite", For.ADMINS, (PROJECT,)),
    Page("invite", For.ADMINS, (PROJECT,), data={"channel": "link", "role": "viewer"}),
    Page("resend_invitation", For.ADMINS, (PROJECT, INVITATION)),
    Page("resend_invitation", For.ADMINS, (PROJECT, INVITATION), data={}),
    Page("revoke_invitation", For.ADMINS, (PROJECT, INVITATION)),
    Page("revoke_invitation", For.ADMINS, (PROJECT, INVITATION), data={}),
    Page("leave_project", For.VIEWERS, (PROJECT,)),
    Page("leave_project", For.VIEWERS, (PROJECT,), data={}),
    Page("change_role", For.ADMINS, (PROJECT, OTHER_MEMBER), data={"role": "member"}),
    Page("remove_member", For.ADMINS, (PROJECT, OTHER_MEMBER)),
    Page("remove_member", For.ADMINS, (PROJECT, OTHER_MEMBER), data={}),
    Page("transfer_project", For.OWNERS, (PROJECT, OTHER_MEMBER)),
    Page("transfer_project", For.OWNERS, (PROJECT, OTHER_MEMBER), data={}),
    Page("invitation", For.EVERYONE, ("no-such-token",)),
    Page("invitation", For.EVERYONE, ("no-such-token",), data={}),
    Page("notifications", For.VIEWERS, (PROJECT,)),
    Page("change_subscriptions", For.VIEWERS, (PROJECT,), data={"kinds": "alert"}),
    Page(
        "notifications",
        For.ADMINS,
        (PROJECT,),
        data={"name": "w", "url": "https://x.example/", "format": "slack", "kinds": "alert"},
    ),
    Page("change_webhook", For.ADMINS, (PROJECT, WEBHOOK, "disable"), data={}),
    Page("redeliver_message", For.ADMINS, (PROJECT, MESSAGE), data={}),
    Page("prices", For.VIEWERS, (PROJECT,)),
    Page("prices", For.ADMINS, (PROJECT,), data=PRICES_FORM),
    Page("usage", For.VIEWERS, (PROJECT,)),
    Page(
        "usage",
        For.ADMINS,
        (PROJECT,),
        data={"limit": "stored_bytes", "amount": "40 GB", "reason": "More services"},
    ),
    Page("insights", For.VIEWERS, (PROJECT,)),
    Page("search_functions", For.VIEWERS, (PROJECT,), query="?find=main"),
    Page("findings", For.VIEWERS, (PROJECT,)),
    Page("finding", For.VIEWERS, (PROJECT, FINDING)),
    Page("change_finding", For.MEMBERS, (PROJECT, FINDING, "acknowledge"), data={}),
    Page("change_finding", For.MEMBERS, (PROJECT, FINDING, "vote"), data={"real": "1"}),
    Page("alerts", For.VIEWERS, (PROJECT,)),
    Page("new_alert_rule", For.MEMBERS, (PROJECT,)),
    Page("new_alert_rule", For.MEMBERS, (PROJECT,), QUOTA_RULE, query="?kind=quota"),
    Page("alert_rule", For.VIEWERS, (PROJECT, ALERT_RULE)),
    Page("alert_rule", For.MEMBERS, (PROJECT, ALERT_RULE), data=QUOTA_RULE),
    Page("change_alert_rule", For.MEMBERS, (PROJECT, ALERT_RULE, "pause"), data={}),
    Page("change_alert_rule", For.MEMBERS, (PROJECT, ALERT_RULE, "delete"), data={}),
    Page("silence_alerts", For.MEMBERS, (PROJECT,), data={"minutes": "60"}),
    Page("end_silence", For.MEMBERS, (PROJECT, SILENCE), data={}),
    Page("audit", For.ADMINS, (PROJECT,)),
    Page("audit_export", For.ADMINS, (PROJECT, "csv")),
    Page("audit_export", For.ADMINS, (PROJECT, "json")),
    Page("change_retention", For.OWNERS, (PROJECT,), data={"days": "30"}),
    Page("data", For.OWNERS, (PROJECT,)),
    Page("deletions", For.OWNERS, (PROJECT,)),
    Page("cancel_deletion", For.OWNERS, (PROJECT, DELETION), data={}),
    Page("exports", For.OWNERS, (PROJECT,)),
    Page("exports", For.OWNERS, (PROJECT,), data={}),
    Page("cancel_export", For.OWNERS, (PROJECT, EXPORT), data={}),
    Page("download_export", For.OWNERS, (PROJECT, EXPORT)),
    Page("delete_selection", For.OWNERS, (PROJECT,), query="?service="),
    Page("delete_selection", For.OWNERS, (PROJECT,), data={"name": PROJECT}, query="?type=CPU"),
    Page("delete_project", For.OWNERS, (PROJECT,)),
    Page("delete_project", For.OWNERS, (PROJECT,), data={"name": PROJECT}),
    Page("api_keys", For.VIEWERS, (PROJECT,)),
    Page("api_keys", For.ADMINS, (PROJECT,), data={"name": "x", "scope": "write"}),
    Page("new_key", For.ADMINS, (PROJECT,)),
    Page("change_key", For.ADMINS, (PROJECT, KEY_ID)),
    Page("change_key", For.ADMINS, (PROJECT, KEY_ID), data={"expiry": "never"}),
    Page("key_file", For.ADMINS, (PROJECT, KEY_ID)),
    Page("key_file", For.ADMINS, (PROJECT, KEY_ID), data={}),
    Page("rotate_key", For.ADMINS, (PROJECT, KEY_ID)),
    Page("rotate_key", For.ADMINS, (PROJECT, KEY_ID), data={}),
    Page("revoke_key", For.ADMINS, (PROJECT, KEY_ID)),
    Page("revoke_key", For.ADMINS, (PROJECT, KEY_ID), data={}),
]
OF_A_PROJECT = [page for page in PAGES if PROJECT in page.args]
# Views and snapshots: their creators change them, others by the permission CHANGE_SAVED.
CREATORS_ONLY = {"delete_snapshot", "rename_view", "delete_view"}
# Checked by the views that these routes lead to, and by the upload of files (ingest/files/).
OBJECT_LEVEL = {Permission.CHANGE_SAVED, Permission.IMPORT}
CSRF_TOKEN = re.compile(r"\b[A-Za-z0-9]{64}\b")  # another one in each response
# Tested elsewhere: the pages of django-allauth and of the admin.
ELSEWHERE = ("account_", "mfa_", "openid_connect_", "github_", "socialaccount_", "admin:")


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
def finding(project: Project) -> None:
    add_finding(project, finding_id=FINDING)
    webhook = Webhook.objects.create(
        project=project, webhook_id=WEBHOOK, name="chat", url="https://x.example/"
    )
    WebhookDelivery.objects.create(pk=MESSAGE, webhook=webhook, event="e", kind="alert", body="{}")


@pytest.fixture(autouse=True)
def alert_rule(project: Project) -> None:
    rule = add_rule(project, ConditionKind.QUOTA, {"quota": "", "percent": 80}, rule_id=ALERT_RULE)
    until = timezone.now() + timedelta(hours=1)
    AlertSilence.objects.create(
        pk=int(SILENCE), project=project, rule=rule, created=timezone.now(), until=until
    )


@pytest.fixture(autouse=True)
def token(charlie: User) -> None:
    row, _text = access_tokens.create(charlie, "ci", [TokenScope.READ], 30)
    AccessToken.objects.filter(pk=row.pk).update(token_id=TOKEN_ID)
    device_sign_in.begin("laptop", "")
    DeviceSignIn.objects.update(user_code="BCDFGHJK")


@pytest.fixture(autouse=True)
def session(charlie: User) -> None:
    UserSession.objects.create(pk=int(SESSION), user=charlie, session_key="x", ip="192.0.2.1")


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


@pytest.fixture(autouse=True)
def deletion(project: Project) -> None:
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    DeletionJob.objects.filter(pk=job.pk).update(id=int(DELETION))


@pytest.fixture(autouse=True)
def export(project: Project) -> None:
    ExportJob.objects.create(pk=int(EXPORT), project=project, requested=timezone.now())


@pytest.fixture(autouse=True)
def member_and_invitation(project: Project, alice: User) -> None:
    user = User.objects.create_user("walter@example.org", "a sentence works well")
    Member.objects.create(pk=int(OTHER_MEMBER), project=project, user=user, role=Role.VIEWER)
    (row,) = invitations.create(project, [], Role.VIEWER, actor=alice)
    Invitation.objects.filter(pk=row.pk).update(id=int(INVITATION))


LOWEST = {
    For.VIEWERS: Role.VIEWER,
    For.MEMBERS: Role.MEMBER,
    For.ADMINS: Role.ADMIN,
    For.OWNERS: Role.OWNER,
}
RANKS = (Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OWNER)


@pytest.fixture
def people(project: Project) -> dict[Role, User]:
    """Return a user for each role."""
    users = {role: User.objects.create_user(f"{role}@example.org", "a sentence") for role in RANKS}
    for role, user in users.items():
        Member.objects.create(project=project, user=user, role=role)
    return users


def test_every_address_is_in_the_table() -> None:
    ours = {name for name in names(get_resolver().url_patterns) if not name.startswith(ELSEWHERE)}
    assert ours == {page.name for page in PAGES}, "add a row to PAGES for each address"


@pytest.mark.one_database
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_strangers_sign_in_first(client: Client, page: Page) -> None:
    status = page.ask(client)
    if page.name in {"device_token", "oauth_register", "oauth_token"}:
        assert status == 400  # of OAuth's errors
    else:
        assert status in ({200, 302, 404} if page.whom is For.EVERYONE else {401})


@pytest.mark.one_database
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_owner_of_another_project_gets_404(
    client: Client, charlie: User, other_project: Project, page: Page
) -> None:
    client.force_login(charlie)
    assert page.ask(client) == 404


@pytest.mark.one_database
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_missing_project_answers_like_that_of_another_tenant(
    client: Client, charlie: User, other_project: Project, page: Page
) -> None:
    client.force_login(charlie)
    missing = replace(page, args=("no-such-project", *page.args[1:]))
    texts = [CSRF_TOKEN.sub("", each.response(client).content.decode()) for each in (page, missing)]
    assert texts[0].replace(PROJECT, "no-such-project") == texts[1]


@pytest.mark.one_database
@pytest.mark.parametrize("role", RANKS)
@pytest.mark.parametrize("page", OF_A_PROJECT, ids=str)
def test_roles_below_the_lowest_get_403_that_names_it(
    client: Client, people: dict[Role, User], page: Page, role: Role
) -> None:
    client.force_login(people[role])
    lowest = LOWEST[page.whom]
    if RANKS.index(role) >= RANKS.index(lowest):
        assert page.ask(client) in {200, 302}
        return
    response = page.response(client)
    assert response.status_code == 403
    is_saved = page.name in CREATORS_ONLY and role is Role.VIEWER  # who may not save anything
    needed = Role.MEMBER if is_saved else lowest
    assert f"This needs the role {needed}" in response.content.decode()


@pytest.mark.parametrize("page", [page for page in PAGES if page.whom is For.PEOPLE], ids=str)
def test_every_account_has_its_pages(client: Client, charlie: User, page: Page) -> None:
    client.force_login(charlie)
    # There is nothing to restore, and no such program.
    expected = {"restore_project": {404}, "authorize_program": {400}}
    assert page.ask(client) in expected.get(page.name, {200, 302})


def test_routes_declare_the_permission_of_their_lowest_role() -> None:
    """Compare the declarations with the table, for methods that it has no row for too."""
    expected: dict[str, set[Role | None]] = {}
    for page in PAGES:
        expected.setdefault(page.name, set()).add(LOWEST.get(page.whom))
    for pattern in urls.urlpatterns:
        guard = find_guard(pattern)
        assert guard is not None
        declared = {
            LOWEST_ROLES[permission]
            for permission in (guard.read, guard.write)
            if permission is not None
        }
        rows = expected[str(pattern.name)] - {None}
        object_level = pattern.name in CREATORS_ONLY
        assert object_level or rows <= declared, pattern.name


def test_a_route_without_audience_is_rejected() -> None:
    with pytest.raises(ImproperlyConfigured, match="declares no audience"):
        require_guards([path("p/<str:project_id>/open", lambda request: None, name="open")])  # type: ignore[arg-type,return-value]


def test_permissions_are_planned_until_a_route_declares_them() -> None:
    guards = [find_guard(pattern) for pattern in urls.urlpatterns]
    declared = {each for guard in guards if guard for each in (guard.read, guard.write) if each}
    assert set(Permission) - declared == OBJECT_LEVEL
