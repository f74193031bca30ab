"""Keys on the settings page: expiry, allowed services, rotation."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from projects.credentials import keys
from projects.models import ApiKey, Project, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

FORM = {"name": "ci", "scope": "write", "days": "", "services": "", "default_service": ""}


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User) -> None:
    client.force_login(alice)


def address(project: Project, rest: str = "") -> str:
    return f"/p/{project.project_id}/settings/keys{rest}"


def test_new_key_has_expiry_and_services(client: Client, project: Project) -> None:
    page = client.post(
        address(project), FORM | {"days": "30", "services": "shop, cart\nshop", "name": "eu"}
    )
    assert page.status_code == 200
    row = ApiKey.objects.get(name="eu")
    assert row.services == ["shop", "cart"]
    assert row.expires is not None
    assert abs(row.expires - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    assert "Services: shop, cart" in render_html(page)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"services": "Shop!"}, "Enter a service name"),
        ({"services": "shop", "scope": "both"}, "This scope reads all services"),
        ({"services": "shop", "default_service": "cart"}, "none of the allowed services"),
        ({"services": " ".join(f"s{n}" for n in range(51))}, "the limit is 50"),
        ({"days": "7000"}, "not one of the available choices"),
    ],
)
def test_invalid_form_creates_no_key(
    client: Client, project: Project, changes: dict[str, str], sentence: str
) -> None:
    before = ApiKey.objects.count()
    page = client.post(address(project), FORM | changes)
    assert sentence in render_html(page)
    assert ApiKey.objects.count() == before


def test_rotation_shows_the_new_secret_once(client: Client, project: Project) -> None:
    old, old_text = keys.create(project, "ci")
    confirmation = render_html(client.get(address(project, f"/{old.key_id}/rotate")))
    assert "Rotate “ci”?" in confirmation
    assert "after 7 days" in confirmation
    page = client.post(address(project, f"/{old.key_id}/rotate"))
    [text] = set(re.findall(r"fw_\w{10}_\w{38}", page.content.decode()))
    assert text != old_text
    new = ApiKey.objects.get(key_id=keys.parse(text).key_id)
    assert f"replaced by {new.prefix}" in render_html(page)
    assert text not in client.get(f"/p/{project.project_id}/settings").content.decode()
    again = client.post(address(project, f"/{old.key_id}/rotate"), follow=True)
    assert "was rotated before" in render_html(again)


def test_key_that_expires_soon_is_marked(
    client: Client, project: Project, settings: Settings
) -> None:
    settings.KEY_NOTICE_DAYS = 14
    now = timezone.now()
    for name, days in (("near", 13), ("far", 15), ("past", -1)):
        keys.create(project, name, expires=now + timedelta(days=days))
    html = render_html(client.get(f"/p/{project.project_id}/settings"))
    rows = {name: html.partition(f">{name}<")[2].partition("</tr>")[0] for name in ("near", "far")}
    assert ">soon<" in rows["near"]
    assert ">soon<" not in rows["far"]
    assert ">expired<" in html.partition(">past<")[2].partition("</tr>")[0]


def test_allowed_services_are_changed(client: Client, project: Project) -> None:
    row, _text = keys.create(project, "ci", services=["shop"])
    page = client.get(address(project, f"/{row.key_id}/services"))
    assert 'value="shop"' in render_html(page)
    assert (
        client.post(address(project, f"/{row.key_id}/services"), {"services": "Ä"}).status_code
        == 400
    )
    client.post(address(project, f"/{row.key_id}/services"), {"services": "cart"})
    row.refresh_from_db()
    assert row.services == ["cart"]
