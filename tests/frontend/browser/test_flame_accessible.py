"""The flame page for those who read it otherwise: axe-core, both themes, wide and narrow."""

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn, view


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_axe_finds_nothing(page: Page, shop_url: str, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{shop_url}?theme={theme}&f=hide:nothing&f=highlight:django&search=pricing")
    drawn(page)
    expect(page.locator("#found")).to_contain_text("Matched")
    assert violations(page) == []


@pytest.mark.parametrize("query", ["focus=QuerySet.get", "view=bottomup", "end=2026-01-01T00:00Z"])
def test_axe_finds_nothing_in_other_views(page: Page, shop_url: str, query: str) -> None:
    page.goto(f"{shop_url}?{query}")
    page.wait_for_load_state("networkidle")
    assert violations(page) == []


def test_axe_finds_nothing_in_what_opens(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    view(page).focus()
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.keyboard.press("Shift+F10")
    expect(page.get_by_role("menu")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
