"""`/p/<project>/settings`, the project, and the menu of the settings pages."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from projects.models import (
    AuditEntry,
    Project,
    User,
)
from tests.frontend.html import render_html

SETTINGS = "/p/acme-shop/settings"


def test_stranger_is_redirected_to_sign_in(client: Client, project: Project) -> None:
    for ask in (client.get, client.post):
        assert ask(SETTINGS).headers["Location"].startswith("/account/login/")


def test_outsider_gets_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    for ask in (client.get, client.post):
        assert ask(SETTINGS).status_code == 404


def test_member_reads_settings_and_gets_403_for_changes(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = render_html(client.get(SETTINGS))
    assert "Your role in Acme Shop is member. Owners and admins can change this." in page
    assert 'method="post" action="/p/' not in page
    assert client.post(SETTINGS, {"name": "x", "rate": "1.0"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("", "Project"),
        ("/members", "Members"),
        ("/members/leave", None),
        ("/keys", "API keys"),
        ("/usage", "Quotas and usage"),
        ("/notifications", "Notifications"),
        ("/prices", "Prices"),
        ("/audit", "Audit log"),
    ],
)
def test_side_menu_marks_the_page(
    path: str, current: str | None, client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    page = render_html(client.get(f"{SETTINGS}{path}"))
    menu = page.partition('<nav class="side"')[2].partition("</nav>")[0]
    marked = re.findall(r'aria-current="page">([^<]+)</a>', menu)
    assert marked == ([] if current is None else [current])
    if current:
        labels = re.findall(r">([^<]+)</a>", menu)
        assert labels == [
            *("Project", "Members", "API keys", "Quotas and usage", "Notifications"),
            *("Prices", "Audit log", "Export and delete"),
        ]


def test_side_menu_has_the_pages_that_a_member_may_see(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = render_html(client.get(SETTINGS))
    menu = page.partition('<nav class="side"')[2].partition("</nav>")[0]
    assert "API keys" in menu
    assert "Audit log" not in menu


def test_the_name_and_the_rate_can_be_changed(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    form = {"name": "Acme", "rate": "0.5", "adaptive_rate": "on"}
    response = client.post(SETTINGS, form, follow=True)
    project.refresh_from_db()
    assert (project.name, project.profiles_per_minute) == ("Acme", 0.5)
    assert project.adaptive_rate
    assert "Settings saved" in render_html(response)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor) == ("project.change", alice)
    assert entry.detail == {
        "changed": {"name": "Acme", "profiles_per_minute": 0.5, "adaptive_rate": True}
    }


def test_a_rate_that_is_not_offered_is_rejected(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.post(SETTINGS, {"name": "Acme", "rate": "9000"})
    assert response.status_code == 400
    project.refresh_from_db()
    assert project.profiles_per_minute == 1.0
    assert 'name="rate" aria-invalid="true"' in render_html(response)


def test_a_rate_set_elsewhere_stays_as_it_is(client: Client, alice: User, project: Project) -> None:
    Project.objects.update(profiles_per_minute=3.0)
    client.force_login(alice)
    page = render_html(client.get(SETTINGS))
    assert '<option value="3.0" selected>3 per minute</option>' in page


def test_page_takes_ten_queries_at_most(
    client: Client,
    alice: User,
    project: Project,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client.force_login(alice)
    with django_assert_max_num_queries(10):
        client.get(SETTINGS)
