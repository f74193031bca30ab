"""Search of the function list alone, page by page."""

import re
from datetime import UTC, datetime

from django.test import Client
from django.urls import reverse

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.html import render_html

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUERY = "?service=checkout&type=CPU&from=2026-11-20T11:00:00Z&to=2026-11-20T13:00:00Z"
MANY: shop.FrameStacks = {(("main", "m.py"), (f"step{i:02}", "m.py")): 1000 + i for i in range(40)}


def names(body: str) -> list[str]:
    return re.findall(r'data-name="([^"]+)" data-file', body)


def test_search_filters_the_list_and_its_further_pages(
    client: Client, bob: User, project: Project
) -> None:
    shop.send(shop.deployment(project), [NOON], MANY)
    client.force_login(bob)
    flame = reverse("flame", args=[project.project_id])
    body = render_html(client.get(f"{flame}{QUERY}&view=list&search=step"))
    first = names(body)
    more = re.search(r'hx-get="([^"]*/flame/functions[^"]*)"', body)
    assert more
    rest = names(render_html(client.get(more[1].replace("&amp;", "&"))))
    assert sorted(first + rest) == [f"step{i:02}" for i in range(40)]


def test_beside_a_graph_the_list_has_the_matches_too(
    client: Client, bob: User, project: Project
) -> None:
    shop.send(shop.deployment(project), [NOON], {(("main", "m.py"), ("leaf", "m.py")): 1000})
    client.force_login(bob)
    flame = reverse("flame", args=[project.project_id])
    body = render_html(client.get(f"{flame}{QUERY}&search=leaf"))
    assert names(body) == ["leaf"]
    assert "1 of 2 match" in body
    assert "Show all functions" in body


def test_an_invalid_regex_is_explained_in_the_visitors_language(
    client: Client, bob: User, project: Project
) -> None:
    shop.send(shop.deployment(project), [NOON], {(("main", "m.py"), ("leaf", "m.py")): 1000})
    client.force_login(bob)
    address = f"{reverse('flame', args=[project.project_id])}{QUERY}&view=list&search=/a(/"
    body = render_html(client.get(address, headers={"Accept-Language": "es"}))
    assert "Regex no válida: missing )" in body
    assert names(body) == ["leaf", "main"]
