"""Random actions of the people and keys of three projects, compared with a model.

The model knows who may do what. Each response, and after each action the state of all three
projects, has to be that of the model: an action of one tenant neither sees nor changes another's.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from django.test import Client as Browser
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from alerts.models import AlertRule
from profiles.models import Profile
from projects.credentials import keys
from projects.models import Annotation, ApiKey, Member, Project, Role, SavedView, User
from projects.permissions import LOWEST_ROLES, Permission, has_role
from projects.project_ids import create_project
from tests.examples import examples
from tests.ingest import pprof
from tests.ingest.client import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

ROLES = (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER)
# Another one in each response: the CSRF token, and the time after which agents try again.
VARYING = re.compile(r"\b[A-Za-z0-9]{64}\b|\d+(\.\d+)?s\b")
MISSING = "no-such-project"
_numbers = count(1)


@dataclass
class ExpectedProject:
    """Expected state of a project."""

    project: Project
    roles: dict[int, Role] = field(default_factory=dict)  # by User.pk
    notes: dict[int, str] = field(default_factory=dict)  # by Annotation.pk
    views: dict[int, tuple[str, int]] = field(default_factory=dict)  # name, creator
    rules: dict[str, str] = field(default_factory=dict)  # names of alert rules, by rule_id
    keys: dict[str, str] = field(default_factory=dict)  # text of those in use, by key ID
    profiles: int = 0

    @property
    def id(self) -> str:
        return self.project.project_id

    def may(self, user: User, permission: Permission) -> bool:
        return has_role(self.roles[user.pk], LOWEST_ROLES[permission])


class World:
    """Three projects, their people, and the actions on them."""

    def __init__(self) -> None:
        self.people: list[User] = []
        self.tenants = [self._tenant() for _ in range(3)]
        # One person with a role in two projects.
        guest = self.people[0]
        Member.objects.create(project=self.tenants[1].project, user=guest, role=Role.VIEWER)
        self.tenants[1].roles[guest.pk] = Role.VIEWER
        self.browsers: dict[int, Browser] = {}

    def _tenant(self) -> ExpectedProject:
        users = [
            User.objects.create_user(f"person{next(_numbers)}@example.org", "a sentence works")
            for _ in ROLES
        ]
        tenant = ExpectedProject(create_project(f"Shop {next(_numbers)}", users[0]))
        # Those of each new project have the same name, which would seem to be another's.
        AlertRule.objects.filter(project=tenant.project).delete()
        for user, role in zip(users, ROLES, strict=True):
            Member.objects.get_or_create(project=tenant.project, user=user, defaults={"role": role})
            tenant.roles[user.pk] = role
        self.people += users
        row, text = keys.create(tenant.project, "all", write=True, read=True)
        tenant.keys[row.key_id] = text
        return tenant

    # -- Actions; each checks its response

    def add_note(self, user: User, tenant: ExpectedProject, number: int) -> None:
        text = f"note {next(_numbers)}"
        data = {"text": text, "at": "2026-11-20T12:00"}
        if self._post(user, tenant, "notes/new", data, Permission.ANNOTATE):
            row = Annotation.objects.get(text=text)
            tenant.notes[row.pk] = text

    def change_note(self, user: User, tenant: ExpectedProject, number: int) -> None:
        note = self._pick([pk for each in self.tenants for pk in each.notes], number)
        text = f"note {next(_numbers)}"
        data = {"text": text, "at": "2026-11-20T12:00"}
        exists = note in tenant.notes
        if self._post(user, tenant, f"notes/{note}", data, Permission.ANNOTATE, exists):
            tenant.notes[note] = text

    def delete_note(self, user: User, tenant: ExpectedProject, number: int) -> None:
        note = self._pick([pk for each in self.tenants for pk in each.notes], number)
        exists = note in tenant.notes
        if self._post(user, tenant, f"notes/{note}/delete", {}, Permission.ANNOTATE, exists):
            del tenant.notes[note]

    def save_view(self, user: User, tenant: ExpectedProject, number: int) -> None:
        name = f"view {next(_numbers)}"
        data = {"name": name, "address": f"/p/{tenant.id}/flame?service=shop&type=CPU"}
        if self._post(user, tenant, "saved/views", data, Permission.SAVE):
            tenant.views[SavedView.objects.get(name=name).pk] = name, user.pk

    def open_view(self, user: User, tenant: ExpectedProject, number: int) -> None:
        view = self._pick([pk for each in self.tenants for pk in each.views], number)
        exists = view in tenant.views
        self._expect(user, tenant, "GET", f"saved/views/{view}", {}, Permission.VIEW, exists)

    def delete_view(self, user: User, tenant: ExpectedProject, number: int) -> None:
        view = self._pick([pk for each in self.tenants for pk in each.views], number)
        exists = view in tenant.views
        is_own = exists and tenant.views[view][1] == user.pk
        needed = Permission.SAVE if is_own or not exists else Permission.CHANGE_SAVED
        if self._post(user, tenant, f"saved/views/{view}/delete", {}, needed, exists):
            del tenant.views[view]

    def add_alert_rule(self, user: User, tenant: ExpectedProject, number: int) -> None:
        name = f"rule {next(_numbers)}"
        data = {"name": name, "quota": "", "percent": "80"}
        if self._post(user, tenant, "alerts/rules?kind=quota", data, Permission.CREATE_ALERTS):
            tenant.rules[AlertRule.objects.get(name=name).rule_id] = name

    def delete_alert_rule(self, user: User, tenant: ExpectedProject, number: int) -> None:
        rule = self._pick([name for each in self.tenants for name in each.rules], number)
        exists, path = rule in tenant.rules, f"alerts/rules/{rule}/delete"
        if self._post(user, tenant, path, {}, Permission.CREATE_ALERTS, exists):
            del tenant.rules[rule]

    def create_key(self, user: User, tenant: ExpectedProject, number: int) -> None:
        before = {*tenant.keys}
        data = {"name": f"key {next(_numbers)}", "scope": "both"}
        if self._post(user, tenant, "settings/keys", data, Permission.MANAGE_KEYS):
            row = ApiKey.objects.get(name=data["name"])
            assert row.key_id not in before
            tenant.keys[row.key_id] = ""

    def revoke_key(self, user: User, tenant: ExpectedProject, number: int) -> None:
        key = self._pick([key for each in self.tenants for key in each.keys], number)
        exists = key in tenant.keys
        path = f"settings/keys/{key}/revoke"
        if self._post(user, tenant, path, {}, Permission.MANAGE_KEYS, exists):
            del tenant.keys[key]

    def change_role(self, user: User, tenant: ExpectedProject, number: int) -> None:
        role = ROLES[number % len(ROLES)]
        member = self._pick([pk for each in self.tenants for pk in each.roles], number)
        path = f"settings/members/{self._member_pk(tenant, member)}/role"
        if not self._reaches(user, tenant, path, {"role": role}, member):
            return
        before = tenant.roles[member]
        changes_owner = Role.OWNER in (before, role) and before != role
        if changes_owner and not tenant.may(user, Permission.MANAGE_OWNERS):
            self._expect(user, tenant, "POST", path, {"role": role}, Permission.MANAGE_OWNERS)
            return
        assert self._request(user, tenant, "POST", path, {"role": role}).status_code == 302
        if not (before is Role.OWNER and changes_owner and self._is_last_owner(tenant)):
            tenant.roles[member] = role

    def remove_member(self, user: User, tenant: ExpectedProject, number: int) -> None:
        member = self._pick([pk for each in self.tenants for pk in each.roles], number)
        path = f"settings/members/{self._member_pk(tenant, member)}/remove"
        if not self._reaches(user, tenant, path, {}, member):
            return
        is_owner = tenant.roles[member] is Role.OWNER
        if is_owner and not tenant.may(user, Permission.MANAGE_OWNERS):
            self._expect(user, tenant, "POST", path, {}, Permission.MANAGE_OWNERS)
            return
        assert self._request(user, tenant, "POST", path, {}).status_code == 302
        if not (is_owner and self._is_last_owner(tenant)):
            del tenant.roles[member]

    def read_pages(self, user: User, tenant: ExpectedProject, number: int) -> None:
        pages = ("services", "notes", "saved", "settings/members", "settings", "agents", "alerts")
        page = pages[number % len(pages)]
        response = self._expect(user, tenant, "GET", page, {}, Permission.VIEW)
        if response.status_code == 200:
            self._require_no_foreign_text(user, tenant, response.content.decode())

    def read_audit(self, user: User, tenant: ExpectedProject, number: int) -> None:
        path = "settings/audit"
        response = self._expect(user, tenant, "GET", path, {}, Permission.READ_AUDIT)
        if response.status_code == 200:
            self._require_no_foreign_text(user, tenant, response.content.decode())

    def upload(self, user: User, tenant: ExpectedProject, number: int) -> None:
        """Upload with a key of any project."""
        owner, client = self._client(tenant, number)
        body = pprof.profile({("main",): (1, next(_numbers))})
        response = client.offline(body)
        if owner is tenant:
            assert response.status_code == 200, response.text
            tenant.profiles += 1
        else:
            self._require_like_missing(
                tenant,
                response.status_code,
                response.text,
                Client(MISSING, client.key).offline(body).text,
            )

    def list_profiles(self, user: User, tenant: ExpectedProject, number: int) -> None:
        owner, client = self._client(tenant, number)
        response = client.request("GET", client.profiles)
        if owner is tenant:
            names = [row["name"] for row in response.json().get("profiles", [])]
            assert len(names) == tenant.profiles
            assert all(name.startswith(f"projects/{tenant.id}/") for name in names)
        else:
            missing = Client(MISSING, client.key)
            self._require_like_missing(
                tenant,
                response.status_code,
                response.text,
                missing.request("GET", missing.profiles).text,
            )

    def ask_assistant(self, user: User, tenant: ExpectedProject, number: int) -> None:
        """Call a tool of the MCP server with a key of any project."""
        owner, client = self._client(tenant, number)
        own, foreign, missing = (
            self._count_profiles(client.key, id) for id in (owner.id, tenant.id, MISSING)
        )
        assert own == owner.profiles
        assert missing is None
        assert foreign == (tenant.profiles if owner is tenant else None)

    def _count_profiles(self, key: str, project: str) -> int | None:
        """Return the number of profiles that `list_services` counts, None for an error."""
        call = {"name": "list_services", "arguments": {"project": project, "span": "400d"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        response = Client(project, key).request("POST", "/mcp", json=message)
        result = response.json()["result"]
        text = result["content"][0]["text"]
        if result["isError"]:
            assert text == "No such project, or this key belongs to another one."
            return None
        return sum(int(row[4]) for row in json.loads(text)["rows"])

    # -- Checks

    def check_state(self) -> None:
        for tenant in self.tenants:
            of_project: dict[str, Any] = {"project": tenant.project.pk}
            notes = Annotation.objects.filter(**of_project).values_list("pk", "text")
            assert dict(notes) == tenant.notes
            views = SavedView.objects.filter(**of_project).values_list("pk", "name")
            assert dict(views) == {pk: name for pk, (name, _) in tenant.views.items()}
            rules = AlertRule.objects.filter(**of_project).values_list("rule_id", "name")
            assert dict(rules) == tenant.rules
            in_use = ApiKey.objects.filter(revoked=None, **of_project)
            assert {*in_use.values_list("key_id", flat=True)} == {*tenant.keys}
            members = Member.objects.filter(**of_project).values_list("user", "role")
            assert dict(members) == tenant.roles
            assert Profile.objects.filter(**of_project).count() == tenant.profiles

    def _require_no_foreign_text(self, user: User, tenant: ExpectedProject, text: str) -> None:
        """Check that a page names nothing of the projects in which the user has no role."""
        for other in self.tenants:
            if other is not tenant and user.pk not in other.roles:
                names = [*other.notes.values(), *(name for name, _ in other.views.values())]
                names += other.rules.values()
                for name in (other.id, other.project.name, *names, *other.keys):
                    assert not re.search(rf"\b{re.escape(name)}\b", text), name

    def _post(
        self,
        user: User,
        tenant: ExpectedProject,
        path: str,
        data: dict[str, str],
        permission: Permission,
        exists: bool = True,
    ) -> bool:
        """Send a form and check the response; return True if the action was done."""
        response = self._expect(user, tenant, "POST", path, data, permission, exists)
        return response.status_code in {200, 302}

    def _expect(
        self,
        user: User,
        tenant: ExpectedProject,
        method: str,
        path: str,
        data: dict[str, str],
        permission: Permission,
        exists: bool = True,
    ) -> Any:
        response = self._request(user, tenant, method, path, data)
        if user.pk not in tenant.roles:
            missing = self._browser(user).generic(method, f"/p/{MISSING}/{path}")
            if method == "POST":
                missing = self._browser(user).post(f"/p/{MISSING}/{path}", data)
            text = response.content.decode()
            expected = missing.content.decode()
            self._require_like_missing(tenant, response.status_code, text, expected)
        elif not exists and tenant.may(user, permission):
            assert response.status_code == 404, path
        elif not tenant.may(user, permission):
            # A route checks the role before it looks for the object, or after it.
            assert response.status_code in ({403} if exists else {403, 404}), path
        else:
            assert response.status_code in {200, 302}, (path, response.content[:500])
        return response

    def _reaches(
        self, user: User, tenant: ExpectedProject, path: str, data: dict[str, str], member: int
    ) -> bool:
        """Return True if the user may manage people and the member exists; check it otherwise."""
        exists = member in tenant.roles
        if user.pk in tenant.roles and tenant.may(user, Permission.MANAGE_PEOPLE) and exists:
            return True
        self._expect(user, tenant, "POST", path, data, Permission.MANAGE_PEOPLE, exists)
        return False

    def _member_pk(self, tenant: ExpectedProject, user: int) -> int:
        """Return Member.pk of the user in the tenant, or else in any project."""
        rows = Member.objects.filter(user=user)
        row = rows.filter(project=tenant.project).first() or rows.first()
        assert row is not None
        return row.pk

    def _is_last_owner(self, tenant: ExpectedProject) -> bool:
        return [*tenant.roles.values()].count(Role.OWNER) == 1

    def _client(self, tenant: ExpectedProject, number: int) -> tuple[ExpectedProject, Client]:
        """Return a client of the tenant's URLs with a key of any project, and the key's project."""
        owner = self.tenants[number % 3]
        texts = [text for text in owner.keys.values() if text]
        if not texts:
            row, text = keys.create(owner.project, "again", write=True, read=True)
            owner.keys[row.key_id] = text
            texts = [text]
        return owner, Client(tenant.id, texts[0])

    def _require_like_missing(
        self, tenant: ExpectedProject, status: int, text: str, missing: str
    ) -> None:
        assert status == 404
        text, missing = (
            VARYING.sub("", each).replace(tenant.id, MISSING) for each in (text, missing)
        )
        assert text == missing

    def _request(
        self, user: User, tenant: ExpectedProject, method: str, path: str, data: dict[str, str]
    ) -> Any:
        url = f"/p/{tenant.id}/{path}"
        browser = self._browser(user)
        browser.cookies.pop("messages", None)  # of the last action, for the next page
        return browser.post(url, data) if method == "POST" else browser.get(url)

    def _browser(self, user: User) -> Browser:
        if user.pk not in self.browsers:
            self.browsers[user.pk] = Browser()
            self.browsers[user.pk].force_login(user)
        return self.browsers[user.pk]

    def _pick(self, values: list[Any], number: int) -> Any:
        return values[number % len(values)] if values else 1


ACTIONS: tuple[Callable[[World, User, ExpectedProject, int], None], ...] = (
    World.add_note,
    World.change_note,
    World.delete_note,
    World.save_view,
    World.open_view,
    World.delete_view,
    World.add_alert_rule,
    World.delete_alert_rule,
    World.create_key,
    World.revoke_key,
    World.change_role,
    World.remove_member,
    World.read_pages,
    World.read_audit,
    World.upload,
    World.list_profiles,
    World.ask_assistant,
)
_step = st.tuples(
    st.sampled_from(ACTIONS), st.integers(0, 11), st.integers(0, 2), st.integers(0, 1000)
)


@settings(
    max_examples=examples(20),
    deadline=None,
    phases=[Phase.generate],  # to shrink a failing example takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(_step, min_size=10, max_size=40))
def test_no_action_of_a_tenant_sees_or_changes_another_one(db: None, steps: list[Any]) -> None:
    world = World()
    for action, person, tenant, number in steps:
        action(world, world.people[person], world.tenants[tenant], number)
        world.check_state()
