"""Editor link template of a user."""

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import Project, User
from tests.frontend.html import render_html

ADDRESS = "/account/editor"
PATTERN = "vscode://file/home/mara/{path}:{line}"

pytestmark = pytest.mark.django_db


def test_a_user_saves_a_template_of_their_own(client: Client, alice: User, bob: User) -> None:
    client.force_login(alice)
    page = client.post(ADDRESS, {"editor_url": PATTERN}, follow=True)
    assert "Editor link template saved" in render_html(page)
    assert f'value="{PATTERN}"' in render_html(page)
    alice.refresh_from_db()
    bob.refresh_from_db()
    assert (alice.editor_url, bob.editor_url) == (PATTERN, "")
    client.post(ADDRESS, {"editor_url": ""})
    alice.refresh_from_db()
    assert alice.editor_url == ""


@pytest.mark.parametrize(
    "pattern", ["javascript:alert({path})", "data:text/html,{path}", "x" * 501]
)
def test_a_dangerous_template_is_rejected(client: Client, alice: User, pattern: str) -> None:
    client.force_login(alice)
    page = client.post(ADDRESS, {"editor_url": pattern})
    assert page.status_code == 400
    assert 'aria-invalid="true"' in render_html(page)
    alice.refresh_from_db()
    assert alice.editor_url == ""


def test_stranger_is_redirected_to_sign_in(client: Client) -> None:
    assert client.get(ADDRESS).status_code == 302


def test_a_stored_dangerous_template_never_reaches_a_page(
    client: Client, alice: User, project: Project
) -> None:
    """The admin and migrations write without the form."""
    User.objects.filter(pk=alice.pk).update(editor_url="javascript:alert({path})")
    client.force_login(alice)
    page = client.get(reverse("flame", args=[project.project_id]), {"service": "checkout"})
    assert "javascript:alert" not in page.content.decode()
