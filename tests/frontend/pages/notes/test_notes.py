"""`/p/<project>/notes`: the list of notes and their forms."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from projects.models import Annotation, AuditEntry, Member, Project, Role, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 12, 2, tzinfo=UTC)
FIELDS = {"text": "cache enabled", "at": "2026-11-20T12:02:00", "service": "checkout"}


def address(name: str, *args: object) -> str:
    return reverse(name, args=["acme-shop", *args])


@pytest.fixture
def bobs(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


@pytest.fixture
def note(project: Project) -> Annotation:
    return Annotation.objects.create(project=project, at=AT, service="checkout", text="deploy 1")


def test_a_member_adds_a_note(bobs: Client, bob: User, project: Project) -> None:
    page = bobs.post(address("new_note"), FIELDS, follow=True)
    assert "Note added" in render_html(page)
    assert "cache enabled" in render_html(page)
    row = Annotation.objects.get()
    assert (row.project, row.at, row.service, row.created_by) == (project, AT, "checkout", bob)
    entry = AuditEntry.objects.get(action="annotation.create")
    assert (entry.actor, entry.detail) == (bob, {"annotation": row.pk})


def test_the_form_starts_with_the_values_of_its_address(bobs: Client) -> None:
    query = {"service": "checkout", "version": "2", "at": "2026-11-20T13:02:00+01:00"}
    page = render_html(bobs.get(address("new_note"), query))
    for value in ('value="checkout"', 'value="2"', 'value="2026-11-20T12:02:00"'):
        assert value in page


def test_a_time_with_an_offset_is_stored_in_utc(bobs: Client) -> None:
    bobs.post(address("new_note"), FIELDS | {"at": "2026-11-20T13:02:00+01:00"})
    assert Annotation.objects.get().at == AT


def test_a_note_of_a_function_has_no_time(bobs: Client) -> None:
    page = render_html(bobs.get(address("new_note"), {"service": "checkout", "function": "a.b"}))
    assert 'value="a.b"' in page
    assert 'name="at"' not in page
    fields = {"text": "slow", "function": "a.b", "service": "checkout"}
    assert bobs.post(address("new_note"), fields | {"service": ""}).status_code == 400
    bobs.post(address("new_note"), fields)
    row = Annotation.objects.get()
    assert (row.function, row.at, row.service) == ("a.b", None, "checkout")


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": "x" * 501},
        {"at": ""},
        {"at": "soon"},
        {"link": "javascript:alert(1)"},
        {"link": "http://ci.example"},
        {"service": "", "version": "2"},
    ],
    ids=str,
)
def test_a_field_that_cannot_be_used_is_marked(bobs: Client, change: dict[str, str]) -> None:
    page = bobs.post(address("new_note"), FIELDS | change)
    assert page.status_code == 400
    assert 'aria-invalid="true"' in render_html(page)
    assert not Annotation.objects.exists()


def test_note_over_the_limit_of_the_project_is_an_error(
    bobs: Client, note: Annotation, settings: Settings
) -> None:
    settings.MAX_ANNOTATIONS = 1
    page = bobs.post(address("new_note"), FIELDS)
    assert page.status_code == 400
    assert "FLAMEWATCH_MAX_ANNOTATIONS allows 1" in render_html(page)
    assert Annotation.objects.get() == note


def test_a_member_edits_and_deletes_a_note(bobs: Client, note: Annotation) -> None:
    page = render_html(bobs.get(address("edit_note", note.pk)))
    assert "deploy 1" in page
    assert 'value="2026-11-20T12:02:00"' in page
    bobs.post(address("edit_note", note.pk), FIELDS)
    note.refresh_from_db()
    assert note.text == "cache enabled"
    assert "cache enabled" in render_html(bobs.get(address("delete_note", note.pk)))
    assert Annotation.objects.exists()
    assert "Note deleted" in render_html(bobs.post(address("delete_note", note.pk), follow=True))
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("name", ["edit_note", "delete_note"])
def test_a_note_of_another_project_is_404(bobs: Client, other_project: Project, name: str) -> None:
    foreign = Annotation.objects.create(project=other_project, at=AT, text="theirs")
    assert bobs.get(address(name, foreign.pk)).status_code == 404
    assert bobs.post(address(name, foreign.pk), FIELDS).status_code == 404
    assert "theirs" not in render_html(bobs.get(address("notes")))
    foreign.refresh_from_db()
    assert foreign.text == "theirs"


def test_viewer_reads_notes_and_changes_none(
    client: Client, project: Project, note: Annotation
) -> None:
    vera = User.objects.create_user("vera@example.org", "a sentence works well")
    Member.objects.create(project=project, user=vera, role=Role.VIEWER)
    client.force_login(vera)
    page = render_html(client.get(address("notes")))
    assert "deploy 1" in page
    assert "/notes/new" not in page
    assert address("edit_note", note.pk) not in page


def test_list_of_a_service_is_paged_newest_first(bobs: Client, project: Project) -> None:
    for i in range(55):
        at = AT + timedelta(minutes=i)
        Annotation.objects.create(project=project, at=at, service="checkout", text=f"n{i}.")
    Annotation.objects.create(project=project, at=AT, service="cart", text="another")
    page = render_html(bobs.get(address("notes"), {"service": "checkout"}))
    assert page.index("n54.") < page.index("n5.")
    assert "another" not in page
    assert "n4." not in page
    assert "n4." in render_html(bobs.get(address("notes"), {"service": "checkout", "page": "2"}))


@pytest.mark.parametrize(
    ("came", "back"),
    [
        (
            "http://testserver/p/acme-shop/flame?service=a&span=1d",
            "/p/acme-shop/flame?service=a&span=1d",
        ),
        ("http://elsewhere.example/p/acme-shop/flame", "/p/acme-shop/notes"),
        ("http://testserver/p/other-shop/flame", "/p/acme-shop/notes"),
        ("http://testserver/p/acme-shop/notes/new", "/p/acme-shop/notes"),
        ("", "/p/acme-shop/notes"),
    ],
)
def test_form_returns_to_the_referring_page_of_the_project(
    bobs: Client, came: str, back: str
) -> None:
    page = render_html(bobs.get(address("new_note"), headers={"Referer": came}))
    assert f'name="next" value="{back.replace("&", "&amp;")}"' in page
    response = bobs.post(address("new_note"), FIELDS | {"next": back})
    assert response.headers["Location"] == back


@pytest.mark.parametrize(
    "next_", ["https://elsewhere.example/", "//elsewhere.example", "/p/other-shop/flame", "/"]
)
def test_redirect_target_outside_the_project_is_ignored(bobs: Client, next_: str) -> None:
    response = bobs.post(address("new_note"), FIELDS | {"next": next_})
    assert response.headers["Location"] == address("notes")


def test_rejected_link_leaves_the_time_in_the_form(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    sent = {"text": "deploy", "at": "2026-11-20T12:30:15.250Z", "link": "http://ci.example"}
    response = client.post(f"/p/{project.project_id}/notes/new", sent)
    assert response.status_code == 400
    field = re.findall(r'<input[^>]*name="at"[^>]*>', render_html(response))[0]
    assert 'type="datetime-local"' in field
    assert 'value="2026-11-20T12:30:15"' in field
