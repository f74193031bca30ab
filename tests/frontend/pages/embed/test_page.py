"""`/p/<project>/embed`: create and revoke image URLs."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from projects.credentials import embed_tokens
from projects.models import Member, Project, User
from projects.models.project import Role
from tests.frontend import shop

pytestmark = pytest.mark.django_db
QUERY = "?service=checkout&type=CPU&span=1h"
FORM = {"days": "7", "theme": "dark", "width": "800", "levels": "12"}


def url(project: Project) -> str:
    return reverse("embed", args=[project.project_id]) + QUERY


@pytest.fixture(autouse=True)
def deployment(project: Project) -> None:
    shop.deployment(project)


def test_a_member_creates_a_url(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    text = client.post(url(project), FORM).content.decode()
    token = re.search(r"/embed/([^.]+)\.svg\?width=800&amp;levels=12&amp;theme=dark", text)
    assert token
    embed = embed_tokens.verified(token[1])
    assert (embed.project_id, embed.query) == (project.project_id, QUERY[1:])
    written = html.unescape(text)
    assert f"[![Flame graph of checkout](http://127.0.0.1:8000/embed/{token[1]}.svg?" in written


def test_a_viewer_may_not(client: Client, bob: User, project: Project) -> None:
    Member.objects.filter(user=bob).update(role=Role.VIEWER)
    client.force_login(bob)
    assert client.get(url(project)).status_code == 403
    assert client.post(url(project), FORM).status_code == 403
    flame = reverse("flame", args=[project.project_id]) + QUERY
    assert "/embed?" not in client.get(flame).content.decode()


def test_an_outsider_finds_nothing(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get(url(project)).status_code == 404
    assert client.post(reverse("revoke_embeds", args=[project.project_id])).status_code == 404


@pytest.mark.parametrize(
    "change", [{"width": "100"}, {"width": "5000"}, {"levels": "0"}, {"days": "9999"}]
)
def test_values_out_of_bounds_are_errors(
    change: dict[str, str], client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    text = client.post(url(project), FORM | change).content.decode()
    assert "/embed/" not in text
    assert 'aria-invalid="true"' in text


def test_owners_revoke_all(client: Client, alice: User, bob: User, project: Project) -> None:
    revoke = reverse("revoke_embeds", args=[project.project_id])
    client.force_login(bob)
    assert client.post(revoke).status_code == 403
    client.force_login(alice)
    assert client.post(revoke).status_code == 302
    project.refresh_from_db()
    assert project.embed_generation == 1


def test_without_a_selection_it_redirects(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    address = reverse("embed", args=[project.project_id])
    assert client.get(address).headers["Location"].endswith("/flame")
