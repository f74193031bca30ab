"""The audit log: its entries, filters and pages, whose log it is, and its exports."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from frontend.pages.audit import view_model
from projects import audit, audit_log
from projects.audit import Origin
from projects.models import ActorKind, AuditEntry, Member, Project, Role, User

pytestmark = pytest.mark.django_db
URL = "/p/acme-shop/settings/audit"


@pytest.fixture
def owner(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def record(project: Project, target: str, action: str = "key.create", **more: Any) -> AuditEntry:
    return audit.record(project, action, target=target, **more)


def show(client: Client, query: str = "", **headers: str) -> str:
    response = client.get(f"{URL}?{query}", headers=headers)
    assert response.status_code == 200
    return str(response.content.decode())


def targets(client: Client, query: str = "") -> list[str]:
    """Return the targets of the page's rows, without the project's own entry."""
    rows = re.findall(
        r'<td role="cell" class="o4 full">\s*<span class="wraps">(.*?)</span>', show(client, query)
    )
    return [row for row in rows if row != "Acme Shop"]


def export(client: Client, form: str, query: str = "") -> str:
    response: Any = client.get(f"{URL}/export/{form}?{query}")
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_download_says_how_many_profiles_it_has(owner: Client, project: Project) -> None:
    record(project, "shop", "profiles.download", profiles=1438, type="Heap", format="pprof")
    assert '<span class="sub">1,438 profiles, Heap</span>' in show(owner)


def test_newest_entries_come_first(owner: Client, project: Project) -> None:
    for name in ("first", "second", "third"):
        record(project, name)
    assert targets(owner) == ["third", "second", "first"]


def test_pages_have_each_entry_once(
    owner: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_model, "PAGE_SIZE", 3)
    moment = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: moment)  # entries of one moment, too
    for number in range(8):
        record(project, f"key {number}")
    found, query = [], ""
    for _ in range(3):
        found += targets(owner, query)
        older = re.search(r'rel="next" href="\?(older=[0-9-]+)"', show(owner, query))
        query = older[1] if older else ""
    assert found == [f"key {number}" for number in reversed(range(8))]
    assert query == ""


def test_entries_of_another_project_are_not_shown_and_its_log_is_404(
    owner: Client, project: Project, other_project: Project
) -> None:
    record(other_project, "secret-name")
    assert "secret-name" not in show(owner, "days=all")
    assert "secret-name" not in export(owner, "json", "days=all")
    for path in ("", "/export/csv", "/export/json"):
        assert owner.get(f"/p/{other_project.project_id}/settings/audit{path}").status_code == 404


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.MEMBER, 403)])
def test_admins_read_it_and_members_do_not(
    client: Client, bob: User, role: Role, status: int
) -> None:
    Member.objects.filter(user=bob).update(role=role)
    client.force_login(bob)
    for path in ("", "/export/csv"):
        assert client.get(URL + path).status_code == status
    settings_page = client.get("/p/acme-shop/settings").content.decode()
    assert (URL in settings_page) == (status == 200)


def test_filters_by_person_kind_action_and_text(
    owner: Client, project: Project, alice: User, bob: User
) -> None:
    record(project, "of alice", actor=alice)
    record(project, "of bob", actor=bob, origin=Origin("192.0.2.7"))
    record(project, "of a key", "capture.now", actor_key="fw_abcdefghij")
    assert targets(owner, f"who={bob.pk}") == ["of bob"]
    assert targets(owner, "who=key") == ["of a key"]
    assert targets(owner, "action=capture.now") == ["of a key"]
    assert targets(owner, "find=BOB@example") == ["of bob"]
    assert targets(owner, "find=192.0.2") == ["of bob"]
    assert targets(owner, "find=fw_abc") == ["of a key"]
    assert targets(owner, "find=of+a&action=key.create") == ["of alice"]
    assert targets(owner, "find=100%25") == []


def test_entries_of_a_deleted_account_have_its_address(
    owner: Client, project: Project, bob: User
) -> None:
    record(project, "of bob", actor=bob)
    pk = bob.pk
    bob.delete()
    assert targets(owner, f"who={pk}") == targets(owner, "find=bob@") == ["of bob"]
    (row,) = read_csv(export(owner, "csv", f"who={pk}"))
    assert row["actor"] == "bob@example.org"


def test_time_range_leaves_out_older_entries(
    owner: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    for days in (0, 3, 20, 200):
        with monkeypatch.context() as past:
            past.setattr(timezone, "now", lambda days=days: now - timedelta(days=days))
            record(project, f"{days} days old")
    assert len(targets(owner, "days=1")) == 1
    assert len(targets(owner, "days=7")) == 2
    assert len(targets(owner)) == 3
    assert len(targets(owner, "days=all")) == 4


def test_search_stops_after_the_scan_limit_and_goes_on_from_there(
    owner: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(project, "needle")
    for number in range(9):
        record(project, f"hay {number}")
    monkeypatch.setattr(audit_log, "SCAN_LIMIT", 4)
    query, pages = "find=needle", []
    while query:
        html = show(owner, query)
        pages.append("has not reached the oldest" in html)
        older = re.search(r'rel="next" href="\?([^"]+)"', html)
        last, query = query, (older[1].replace("&amp;", "&") if older else "")
    assert pages == [True, True, False]
    assert targets(owner, last) == ["needle"]
    assert [row["target"] for row in read_csv(export(owner, "csv", "find=needle"))] == ["needle"]


def test_unreadable_parameters_are_said_and_replaced(owner: Client, project: Project) -> None:
    html = show(owner, "who=nobody&action=x&days=5&older=1-&entry=x")
    assert html.count("was left out") == 5
    assert "was left out" in show(owner, f"older={'9' * 18}-1")


def test_number_of_statements_does_not_depend_on_entries(
    owner: Client, project: Project, alice: User
) -> None:
    def count(query: str) -> int:
        with CaptureQueriesContext(connection) as statements:
            show(owner, query)
        return len(statements)

    record(project, "first", actor=alice)
    queries = ("", "find=alice", f"who={alice.pk}", "who=key", "action=key.create")
    show(owner)  # reads what is cached, as the quotas of the banner
    before = [count(query) for query in queries]
    for number in range(60):
        record(project, f"key {number}", actor=alice)
    assert [count(query) for query in queries] == before
    assert max(before) <= 7


def test_open_entry_shows_its_details(owner: Client, project: Project) -> None:
    entry = record(project, "Acme", "project.change", changed={"name": ["Old", "<New>"]})
    assert "Old → &lt;New&gt;" not in show(owner)
    assert "Old → &lt;New&gt;" in show(owner, f"entry={entry.pk}")


def test_operator_is_not_named(owner: Client, project: Project, alice: User) -> None:
    operator = User.objects.create_superuser("root@provider.example", "a sentence works well")
    origin = Origin("192.0.2.9", ActorKind.OPERATOR)
    record(project, "storage", "quota.change", actor=operator, origin=origin)
    assert targets(owner, "who=operator") == ["storage"]
    assert targets(owner, "find=root@provider") == []
    for text in (show(owner), export(owner, "csv"), export(owner, "json")):
        assert "provider.example" not in text


def test_fragment_has_the_list_alone_and_its_address(owner: Client, project: Project) -> None:
    response = owner.get(f"{URL}?find=x&days=7", headers={"HX-Request": "true"})
    assert "<html" not in response.content.decode()
    assert response["HX-Push-Url"] == f"{URL}?find=x&days=7"


def test_empty_states_name_the_reason(
    owner: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No matching entries" in show(owner, "find=nothing")
    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert "No entries in this time range" in show(owner, "days=1")


def test_csv_has_no_formulas(owner: Client, project: Project) -> None:
    hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'plain, "quoted"\nline']
    for each in hostile:
        record(project, each, actor_key=each, name=each)
    rows = read_csv(export(owner, "csv"))
    written = [row["target"] for row in reversed(rows) if row["action"] == "key.create"]
    assert written == [*(f"'{each}" for each in hostile[:6]), hostile[6]]
    for row in rows:
        assert not any(value.startswith(("=", "+", "-", "@", "\t", "\r")) for value in row.values())


def test_json_has_all_fields(owner: Client, project: Project, alice: User) -> None:
    record(project, "production", actor=alice, origin=Origin("192.0.2.7"), write=True)
    (entry,) = [e for e in json.loads(export(owner, "json")) if e["action"] == "key.create"]
    assert entry | {"entry": 0, "time": ""} == {
        **{"entry": 0, "time": "", "actor_kind": "person", "actor": "alice@example.org"},
        **{"api_key": "", "action": "key.create", "target": "production"},
        **{"address": "192.0.2.7", "result": "done", "project": "acme-shop"},
        **{"project_name": "Acme Shop", "details": {"write": True}},
    }


def test_export_has_the_filtered_entries_of_all_pages(
    owner: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "_EXPORT_ROWS", 3)
    for number in range(8):
        record(project, f"key {number}")
    expected = [f"key {number}" for number in reversed(range(8))]
    query = "action=key.create"
    assert [row["target"] for row in read_csv(export(owner, "csv", query))] == expected
    assert [entry["target"] for entry in json.loads(export(owner, "json", query))] == expected
    assert json.loads(export(owner, "json", "find=nothing")) == []


def test_export_is_recorded_and_head_is_not(owner: Client, project: Project, alice: User) -> None:
    assert owner.head(f"{URL}/export/csv").status_code == 200
    assert owner.get(f"{URL}/export/xml").status_code == 404
    assert not AuditEntry.objects.filter(action="audit.export").exists()
    owner.get(f"{URL}/export/json?find=x&days=7")
    entry = AuditEntry.objects.get(action="audit.export")
    assert (entry.project, entry.actor, entry.target) == (project, alice, "JSON")
    assert entry.detail == {"filters": "find=x&days=7"}


def test_page_says_how_long_entries_are_kept(
    owner: Client, project: Project, settings: Settings
) -> None:
    settings.AUDIT_DAYS = 7
    assert "kept for 7 days" in show(owner)
