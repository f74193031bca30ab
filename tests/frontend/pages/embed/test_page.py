"""`/p/<project>/embed`: create and revoke image URLs."""

import html
import re
from urllib.parse import parse_qs

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects.credentials import embed_tokens
from projects.models import Member, Project, User
from projects.models.project import Role
from tests.frontend import shop

pytestmark = pytest.mark.django_db
QUERY = "?service=checkout&type=CPU&span=1h"
FORM = {"format": "svg", "days": "7", "theme": "dark", "width": "800", "levels": "12"}


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
    embed = embed_tokens.verify(token[1])
    assert (embed.project_id, embed.query) == (project.project_id, QUERY[1:])
    written = html.unescape(text)
    assert f"[![Flame graph of checkout](http://127.0.0.1:8000/embed/{token[1]}.svg?" in written


@pytest.mark.parametrize(("chosen", "more"), [("png", ""), ("png2", "&scale=2")])
def test_png_format_gives_a_png_url(
    chosen: str, more: str, client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    text = html.unescape(client.post(url(project), FORM | {"format": chosen}).content.decode())
    token = re.search(r"/embed/([^.]+)\.png", text)
    assert token
    address = f"http://127.0.0.1:8000/embed/{token[1]}.png?width=800&levels=12&theme=dark{more}"
    assert f"[![Flame graph of checkout]({address})](" in text
    assert f'<img src="{html.escape(address)}" width="800" alt="Flame graph of checkout">' in text


def test_htmx_request_gets_a_dialog_and_its_form_the_content_only(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    htmx = {"HX-Request": "true"}
    dialog = client.get(url(project), headers=htmx).content.decode().strip()
    assert dialog.startswith('<dialog class="dialog wide" open data-dialog')
    made = client.post(url(project), FORM, headers=htmx).content.decode().strip()
    assert made.startswith('<div class="stack" id="embed-body"')
    assert "Image URL created" in made
    revoke = reverse("revoke_embeds", args=[project.project_id]) + QUERY
    assert html.escape(revoke) in made
    revoked = client.post(revoke, headers=htmx).content.decode().strip()
    assert revoked.startswith('<div class="stack" id="embed-body"')
    assert "All embedded images of this project were revoked." in revoked


def test_comparison_is_embedded_from_its_page(client: Client, bob: User, project: Project) -> None:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2))
    client.force_login(bob)
    compare = reverse("compare", args=[project.project_id])
    sides = "service=checkout&type=CPU&span=1h&version=2.31.0&b.version=2.30.0"
    page = html.unescape(client.get(f"{compare}?{sides}").content.decode())
    found = re.search(r'href="(/p/[^"]+/embed\?graph=compare&[^"]+)"', page)
    assert found is not None
    text = html.unescape(client.post(found[1], FORM).content.decode())
    token = re.search(r"/embed/(\.?[^.]+)\.svg", text)
    assert token
    embed = embed_tokens.verify(token[1])
    assert embed.page == embed_tokens.COMPARE
    assert parse_qs(embed.query) == parse_qs(sides)
    assert f"[![Comparison of checkout](http://127.0.0.1:8000/embed/{token[1]}.svg?" in text
    assert f"]({settings.FLAMEWATCH_URL}{compare}?{embed.query})" in text
    Member.objects.filter(user=bob).update(role=Role.VIEWER)
    assert "graph=compare" not in client.get(f"{compare}?{sides}").content.decode()


def test_a_snapshot_has_no_image(client: Client, bob: User, project: Project) -> None:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2))
    client.force_login(bob)
    flame = reverse("flame", args=[project.project_id])
    address = f"{flame}?service=checkout&type=CPU"
    assert "/embed?" in client.get(address).content.decode()
    form = {"address": address, "title": "before"}
    taken = client.post(reverse("take_snapshot", args=[project.project_id]), form)
    assert "/embed?" not in client.get(taken.headers["Location"]).content.decode()


def flame_url(project: Project) -> str:
    return reverse("flame", args=[project.project_id]) + QUERY


def test_viewer_gets_403(client: Client, bob: User, project: Project) -> None:
    Member.objects.filter(user=bob).update(role=Role.VIEWER)
    client.force_login(bob)
    assert client.get(url(project)).status_code == 403
    assert client.post(url(project), FORM).status_code == 403
    assert "/embed?" not in client.get(flame_url(project)).content.decode()


def test_outsider_gets_404(client: Client, charlie: User, project: Project) -> None:
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


def test_owner_revokes_all_image_urls_and_member_gets_403(
    client: Client, alice: User, bob: User, project: Project
) -> None:
    revoke = reverse("revoke_embeds", args=[project.project_id])
    client.force_login(bob)
    assert client.post(revoke).status_code == 403
    client.force_login(alice)
    response = client.post(revoke + QUERY)
    assert response.headers["Location"] == flame_url(project)
    project.refresh_from_db()
    assert project.embed_generation == 1


def test_page_without_a_selection_redirects_to_the_flame_page(
    client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    address = reverse("embed", args=[project.project_id])
    assert client.get(address).headers["Location"].endswith("/flame")
