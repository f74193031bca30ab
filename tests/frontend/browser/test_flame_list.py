"""Function list without the graph: no tree request, and a search that narrows the list."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


def test_list_view_requests_no_tree(page: Page, shop_url: str) -> None:
    requested_urls: list[str] = []
    page.on("request", lambda request: requested_urls.append(request.url))
    page.goto(f"{shop_url}?view=list")
    expect(page.locator("#functions tbody tr").first).to_contain_text("Rule.matches")
    page.wait_for_load_state("networkidle")
    assert not [url for url in requested_urls if "/flame/tree" in url]
    page.locator("#views").get_by_text("Flame").click()
    assert drawn(page)


def test_search_filters_the_list(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?view=list")
    page.keyboard.press("/")
    page.keyboard.type("/^Q.*get$|json/")
    expect(page.locator("#listed")).to_have_text("2 of 13 match")
    expect(page.locator("#functions tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile("search=%2F"))
    page.reload()
    expect(page.locator("#functions tbody tr")).to_have_count(2)
    page.locator("#search").fill("/(/")
    expect(page.locator("#listed")).to_contain_text("Invalid regex: ")
    page.locator("#search").press("Escape")
    expect(page.locator("#listed")).to_have_text("13 in all")
