"""Focus on a function: it is drawn once, with its callers above and its callees below."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)
FOCUS = "?focus=QuerySet.get"


def names(page: Page, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate("graph => graph.boxes.map(box => box.name)")
    return found


def test_the_function_is_drawn_once(page: Page, shop_url: str) -> None:
    page.goto(shop_url + FOCUS)
    drawn(page)
    expect(page.locator("#callers .fg-view")).to_have_attribute("style", re.compile("height"))
    shown = names(page, "#callers") + names(page, "#graph")
    assert shown.count("QuerySet.get") == 1
    assert {"pricing.quote", "rank.score_all"} < set(shown)


def test_a_function_that_nothing_calls_has_no_empty_graph_above(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?focus=Thread.run")
    drawn(page)
    expect(page.locator("#callers .fg-view")).to_be_hidden()
    expect(page.locator("#graph .fg-view")).to_be_visible()


def test_keys_go_from_one_graph_into_the_other(page: Page, shop_url: str) -> None:
    page.goto(shop_url + FOCUS)
    drawn(page)
    above, below = page.locator("#callers"), page.locator("#graph")
    below.locator(".fg-view").focus()
    page.keyboard.press("ArrowUp")
    expect(above.locator(".fg-view")).to_be_focused()
    expect(above.locator("[aria-live]")).to_contain_text("pricing.quote, total")
    page.keyboard.press("ArrowDown")
    expect(below.locator(".fg-view")).to_be_focused()
    expect(below.locator("[aria-live]")).to_contain_text("QuerySet.get, total 511 ms")
