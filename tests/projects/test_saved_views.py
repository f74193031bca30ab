"""Saved views: names, addresses and their limit."""

import pytest
from pytest_django import Settings

from projects import saved_views
from projects.account_limits import LimitReached
from projects.models import AuditEntry, Project, SavedView, User
from projects.saved_views import InvalidView

FLAME = "/p/acme-shop/flame"


def test_a_view_is_a_page_and_its_parameters(project: Project, alice: User) -> None:
    view = saved_views.create(
        project, "  Checkout,\n today ", f"{FLAME}?service=checkout&span=1d&seen=3-4", actor=alice
    )
    assert (view.name, view.page, view.query) == (
        "Checkout, today",
        "flame",
        "service=checkout&span=1d",
    )
    assert view.created_by == alice


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/p/other-shop/flame",
        "https://evil.example/p/acme-shop/flame",
        "//evil.example/p/acme-shop/flame",
        "/p/acme-shop/settings",
        "/p/acme-shop/flame/tree",
        "javascript:alert(1)",
        "http://[",
    ],
)
def test_only_pages_of_the_project_are_saved(project: Project, alice: User, address: str) -> None:
    with pytest.raises(InvalidView, match="cannot be saved"):
        saved_views.create(project, "x", address, actor=alice)
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("name", ["", " \t\n", "x" * 101])
def test_names_have_1_to_100_characters(project: Project, alice: User, name: str) -> None:
    with pytest.raises(InvalidView, match="name"):
        saved_views.create(project, name, FLAME, actor=alice)


def test_addresses_are_bounded(project: Project, alice: User) -> None:
    saved_views.create(project, "long", f"{FLAME}?focus={'x' * 7_990}", actor=alice)
    with pytest.raises(InvalidView, match="8000 characters"):
        saved_views.create(project, "longer", f"{FLAME}?focus={'x' * 8_000}", actor=alice)


def test_a_name_is_given_once_in_a_project(
    project: Project, other_project: Project, alice: User, charlie: User
) -> None:
    saved_views.create(project, "checkout", FLAME, actor=alice)
    with pytest.raises(InvalidView, match="already exists"):
        saved_views.create(project, " checkout ", f"{FLAME}?span=1d", actor=alice)
    other = f"/p/{other_project.project_id}/flame"
    saved_views.create(other_project, "checkout", other, actor=charlie)
    assert SavedView.objects.count() == 2


def test_renaming_keeps_names_distinct(project: Project, alice: User) -> None:
    first = saved_views.create(project, "first", FLAME, actor=alice)
    second = saved_views.create(project, "second", FLAME, actor=alice)
    with pytest.raises(InvalidView):
        saved_views.rename(second, "first", actor=alice)
    saved_views.rename(first, "first", actor=alice)
    saved_views.rename(second, "Second", actor=alice)
    assert [view.name for view in saved_views.list_views(project)] == ["first", "Second"]


def test_a_project_has_a_limited_number(project: Project, alice: User, settings: Settings) -> None:
    settings.MAX_SAVED_VIEWS_PER_PROJECT = 1
    saved_views.create(project, "first", FLAME, actor=alice)
    with pytest.raises(LimitReached, match="FLAMEWATCH_MAX_SAVED_VIEWS_PER_PROJECT"):
        saved_views.create(project, "second", FLAME, actor=alice)
    saved_views.delete(SavedView.objects.get(), actor=alice)
    saved_views.create(project, "second", FLAME, actor=alice)


def test_audit_log_records_creation_renaming_and_deletion(project: Project, alice: User) -> None:
    view = saved_views.create(project, "first", FLAME, actor=alice)
    saved_views.rename(view, "second", actor=alice)
    saved_views.delete(view, actor=alice)
    entries = AuditEntry.objects.filter(action__startswith="view.").order_by("pk")
    assert [(each.action, each.detail["name"]) for each in entries] == [
        ("view.create", "first"),
        ("view.rename", "second"),
        ("view.delete", "second"),
    ]
