"""Expressions that explode in other engines cost a page no more than other expressions do."""

from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import Project, User
from tests.frontend import shop

pytestmark = pytest.mark.one_database

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
RANGE = {"from": "2026-11-20T11:00:00Z", "to": "2026-11-20T13:00:00Z"}
PAGES = ("flame", "flame_tree")


@pytest.fixture(autouse=True)
def profiles(project: Project, client: Client, bob: User) -> None:
    """Store a name that makes backtracking engines try exponentially many matches."""
    stacks: shop.FrameStacks = {(("main", "app.py"), ("a" * 5000 + "!", "app.py")): 5}
    shop.send(shop.deployment(project), [NOON], stacks)
    client.force_login(bob)


def ask(client: Client, project: Project, page: str, expression: str) -> tuple[int, str]:
    params = {"service": "checkout", "type": "CPU", "f": f"highlight:{expression}"} | RANGE
    response = client.get(f"{reverse(page, args=[project.project_id])}?{urlencode(params)}")
    return response.status_code, "" if page == "flame_tree" else response.content.decode()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("expression", ["/^(a+)+$/", "/(a|aa)+$/", "/(.*)*x/"])
def test_every_page_responds_to_expressions_with_catastrophic_backtracking(
    name: str, expression: str, client: Client, project: Project
) -> None:
    assert ask(client, project, name, expression)[0] == 200


def test_an_expression_that_would_grow_too_large_is_rejected_with_a_text(
    client: Client, project: Project
) -> None:
    status, page = ask(client, project, "flame", "/((a{0,99}){0,99}){0,99}/")
    assert status == 200
    assert "Invalid regex" in page
