"""`/help/api/…`: the reference of the API as pages."""

import re

import pytest
from django.test import Client

from tests.frontend.html import render_html

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize(
    ("name", "words"),
    [("queries", "Folded nodes"), ("management", "Personal access token")],
)
def test_page_shows_the_reference_to_everybody(client: Client, name: str, words: str) -> None:
    page = client.get(f"/help/api/{name}")
    assert words.lower() in render_html(page).lower()
    assert '<pre class="code"' in page.content.decode()


def test_unknown_page_is_404(client: Client) -> None:
    assert client.get("/help/api/nothing").status_code == 404


@pytest.mark.parametrize("name", ["queries", "management"])
def test_links_lead_to_pages_or_nowhere(client: Client, name: str) -> None:
    html = client.get(f"/help/api/{name}").content.decode()
    addresses = re.findall(r'href="([^"#]*)(?:#[^"]*)?"', html.partition('<div class="prose"')[2])
    assert not [address for address in addresses if address.endswith(".md")]
    local = {address for address in addresses if address.startswith("/")}
    assert local
    for address in local - {"/api/v1/openapi.json"}:
        assert client.get(address).status_code in {200, 302}, address
