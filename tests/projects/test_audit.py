"""Writing the audit log: kinds of actors, bounds, append-only, deletion of the project."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Model
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import Settings

from projects import annotations, audit, audit_actions
from projects.annotations import AnnotationFields
from projects.models import ActorKind, AuditEntry, Member, Project, Role, User
from projects.models.audit import AppendOnly
from tests.paths import ROOT

pytestmark = pytest.mark.django_db
SOURCES = ("projects", "profiles", "scheduler", "ingest", "api", "frontend", "profiler_site")


def recorded_actions() -> Iterator[str]:
    """Yield the texts in the code that `record` and `record_account` are called with."""
    for folder in SOURCES:
        for path in Path(ROOT, folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                name = (
                    getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if isinstance(node, ast.Call)
                    else ""
                )
                if isinstance(node, ast.Call) and name.lstrip("_").startswith("record"):
                    for each in ast.walk(ast.Tuple([*node.args[1:3]])):
                        if isinstance(each, ast.Constant) and "." in str(each.value):
                            yield str(each.value)


def test_every_recorded_action_has_a_label() -> None:
    actions = {*recorded_actions()}
    assert {"key.create", "account.sign_in", "project.change", "user.delete"} <= actions
    assert actions <= audit_actions.LABELS.keys()


def test_kind_of_actor_follows_from_person_key_and_origin(project: Project, alice: User) -> None:
    kinds = [
        audit.record(project, "key.create", actor=alice).actor_kind,
        audit.record(project, "capture.now", actor_key="fw_abcdefghij").actor_kind,
        audit.record(project, "capture.now", actor_key=audit.OPERATOR).actor_kind,
        audit.record(project, "key.create").actor_kind,
        audit.record(project, "annotation.delete", origin=audit.SYSTEM).actor_kind,
    ]
    assert kinds == ["person", "key", "operator", "operator", "system"]


def test_entry_has_names_and_address_of_its_time(project: Project, alice: User) -> None:
    request = RequestFactory().post("/", REMOTE_ADDR="192.0.2.7")
    origin = audit.Origin.from_request(request)
    entry = audit.record(project, "key.create", actor=alice, origin=origin, target="production")
    entry.refresh_from_db()
    assert entry.project_name == project.name
    assert entry.subject == project.project_id
    assert (entry.actor_name, entry.address) == ("alice@example.org", "192.0.2.7")
    assert entry.target == "production"


def test_long_texts_are_shortened(project: Project) -> None:
    entry = audit.record(
        project,
        "embed.create",
        origin=audit.Origin("x" * 1000),
        target="t" * 1000,
        query="q" * 100_000,
        nested={"a": [["b" * 1000] * 1000]},
    )
    entry.refresh_from_db()
    assert len(entry.address) == 64
    assert entry.target == "t" * 254 + "…"
    assert entry.detail["left_out_bytes"] > audit.MAX_DETAIL_BYTES


def test_text_that_the_database_rejects_is_replaced(project: Project) -> None:
    entry = audit.record(project, "key.create", target="a\0b\ud800", name="\0")
    entry.refresh_from_db()
    assert (entry.target, entry.detail) == ("a\ufffdb\ufffd", {"name": "\ufffd"})


def test_entry_cannot_be_changed_or_deleted(project: Project) -> None:
    entry = audit.record(project, "key.create")
    entry.action = "key.revoke"
    for attempt in (
        entry.save,
        entry.delete,
        lambda: AuditEntry.objects.update(action="x"),
        lambda: AuditEntry.objects.bulk_update([entry], ["action"]),
        AuditEntry.objects.all().delete,
        lambda: project.audit.all().delete(),
    ):
        with pytest.raises(AppendOnly):
            attempt()
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert [*actions] == ["project.create", "key.create"]


def delete(row: Model) -> None:
    row.delete()
    connection.check_constraints()


def test_deletion_of_project_and_account_leaves_the_entry_as_it_is(
    project: Project, alice: User
) -> None:
    entry = audit.record(project, "key.create", actor=alice, target="production")
    before = AuditEntry.objects.filter(pk=entry.pk).values().get()
    pk = project.pk
    delete(project)
    delete(alice)
    assert AuditEntry.objects.filter(pk=entry.pk).values().get() == before
    assert (before["project_id"], before["subject"]) == (pk, "acme-shop")
    assert before["actor_name"] == "alice@example.org"


def test_account_entry_is_in_the_log_of_each_project_of_the_account(
    project: Project, other_project: Project, alice: User, charlie: User
) -> None:
    audit.record_account(alice, "account.sign_in", actor=alice, origin=audit.NO_CLIENT)
    rows = AuditEntry.objects.filter(action="account.sign_in")
    assert [entry.project for entry in rows] == [project]
    Member.objects.create(project=other_project, user=alice, role=Role.VIEWER)
    audit.record_account(alice, "account.sign_out", actor=alice, origin=audit.NO_CLIENT)
    rows = AuditEntry.objects.filter(action="account.sign_out")
    assert {entry.project for entry in rows} == {project, other_project}


def test_account_entry_of_an_account_without_projects_is_stored_once() -> None:
    user = User.objects.create_user("new@example.org", "a sentence works well")
    audit.record_account(user, "account.sign_in", actor=user, origin=audit.NO_CLIENT)
    entry = AuditEntry.objects.get()
    assert (entry.project_id, entry.subject) == (None, "new@example.org")


def test_replaced_note_of_a_key_is_an_entry_of_the_system(
    project: Project, settings: Settings
) -> None:
    settings.MAX_ANNOTATIONS = 1
    for text in ("first", "second"):
        annotations.create(project.pk, AnnotationFields(text, timezone.now()), key="fw_abcdefghij")
    entry = AuditEntry.objects.get(action="annotation.delete")
    assert (entry.actor_kind, entry.target) == (ActorKind.SYSTEM, "first")
