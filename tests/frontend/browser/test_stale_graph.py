"""The graph of an earlier selection is marked until that of the new one is drawn."""

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import drawn

PAGE = re.compile(r"/flame(\?|$)")
TREE = re.compile(r"/flame/tree\?")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_versions(project: Project, url: str) -> str:
    now = timezone.now()
    for version in ("2.30.9", "2.31.0"):
        shop.send(shop.deployment(project, version=version), shop.minutes_before(now, 6))
    return f"{url}?service=checkout&span=1h"


def held_in(late: list[Route]) -> Callable[[Route], None]:
    """Return a handler that leaves requests waiting; Playwright takes no built-in methods."""

    def hold(route: Route) -> None:
        late.append(route)

    return hold


def expect_stale(page: Page) -> None:
    expect(page.locator("#pane")).to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("status").filter(has_text="Loading…")).to_be_visible()


def expect_current(page: Page) -> None:
    expect(page.locator("#pane")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#pane-busy")).to_be_hidden()


def test_the_graph_is_marked_while_page_and_tree_are_late(page: Page, two_versions: str) -> None:
    page.goto(two_versions)
    before = drawn(page)
    expect_current(page)
    late: list[Route] = []
    page.route(PAGE, held_in(late))
    page.route(TREE, held_in(late))
    with page.expect_request(PAGE):
        page.locator("select[name=version]").select_option("2.31.0")
    expect_stale(page)
    with page.expect_request(TREE):
        late.pop().continue_()
    expect(page.locator(".over")).to_contain_text("6 profiles")
    expect_stale(page)
    late.pop().continue_()
    expect_current(page)
    assert [box["name"] for box in drawn(page)] == [box["name"] for box in before]


def test_the_order_of_the_list_leaves_the_graph_unmarked(page: Page, two_versions: str) -> None:
    page.goto(two_versions)
    drawn(page)
    late: list[Route] = []
    page.route(PAGE, held_in(late))
    with page.expect_request(PAGE):
        page.locator("#functions thead a").first.click()
    expect_current(page)
    with page.expect_response(PAGE):
        late.pop().continue_()
    expect(page.locator("#functions thead [aria-sort]")).to_have_count(1)
    expect_current(page)


def test_back_to_the_drawn_selection_removes_the_mark(page: Page, two_versions: str) -> None:
    page.goto(two_versions)
    drawn(page)
    page.route(PAGE, lambda _route: None)
    with page.expect_request(PAGE):
        page.locator("select[name=version]").select_option("2.31.0")
    expect_stale(page)
    page.go_back()
    expect_current(page)


def test_graph_after_the_list_view_is_drawn_unmarked(page: Page, two_versions: str) -> None:
    page.goto(f"{two_versions}&view=list")
    expect(page.locator("#functions tbody tr").first).to_be_visible()
    page.get_by_role("link", name="Bottom-up", exact=True).click()
    drawn(page)
    expect_current(page)
