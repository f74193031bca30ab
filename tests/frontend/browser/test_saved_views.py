"""Views that members save under a name, and open again."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from projects.models import SavedView
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_is_saved_as_it_is_now(page: Page, shop_url: str) -> None:
    """The filter was added without loading the page again."""
    page.goto(f"{shop_url}?service=checkout&span=6h")
    drawn(page)
    page.get_by_role("link", name="Bottom-up").click()
    expect(page).to_have_url(re.compile("view=bottomup"))
    page.get_by_label("Save this page", exact=True).click()
    page.get_by_label("Save this page as a view").fill("Checkout, bottom-up")
    page.get_by_role("button", name="Save view").click()
    expect(page.get_by_text("View “Checkout, bottom-up” saved")).to_be_visible()
    assert violations(page) == []
    query = parse_qs(SavedView.objects.get().query)
    assert query == {"service": ["checkout"], "span": ["6h"], "view": ["bottomup"]}

    page.get_by_role("link", name="All views and snapshots").click()
    page.get_by_role("link", name="Checkout, bottom-up").click()
    drawn(page)
    assert parse_qs(urlsplit(page.url).query) == query


def test_views_are_renamed_and_deleted(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout")
    page.get_by_label("Save this page", exact=True).click()
    page.get_by_label("Save this page as a view").fill("first")
    page.keyboard.press("Enter")
    expect(page.get_by_text("View “first” saved")).to_be_visible()
    page.get_by_role("link", name="All views and snapshots").click()
    page.locator("#views summary").click()
    page.get_by_label("New name").fill("second")
    page.get_by_role("button", name="Rename view").click()
    expect(page.get_by_role("cell", name="second", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No views yet")).to_be_visible()


def test_error_is_shown_beside_the_name_field(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout")
    page.get_by_label("Save this page", exact=True).click()
    for _ in range(2):
        page.get_by_label("Save this page as a view").fill("twice")
        page.get_by_role("button", name="Save view").click()
        expect(page.locator("#view-saved")).not_to_be_empty()
    expect(page.get_by_text("A view with the name “twice” already exists.")).to_be_visible()
