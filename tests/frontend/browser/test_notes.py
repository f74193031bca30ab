"""Notes on charts and of functions: added at a clicked step or a frame, then shown there."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Annotation, Project
from tests.frontend.browser.flame_page import box, drawn, middle, view

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_note_is_added_at_a_clicked_step_and_marked_on_the_chart(
    page: Page, shop_url: str
) -> None:
    page.goto(shop_url)
    drawn(page)
    area = page.locator("#strip .u-over")
    size = area.bounding_box()
    assert size
    area.click(position={"x": size["width"] * 0.9, "y": 10})
    page.locator("#chart-notes summary").click()
    add = page.locator("#over-time a[data-add-note-at]")
    expect(add).to_contain_text(re.compile(r"Add note at \w+"))
    add.click()
    page.get_by_label("Text").fill("cache enabled")
    page.get_by_label("Link").fill("https://ci.example/builds/31")
    page.get_by_role("button", name="Add note").click()
    drawn(page)
    mark = page.locator("#strip .note-mark")
    expect(mark).to_have_accessible_name("Note: cache enabled")
    mark.focus()
    expect(page.locator("#strip .readout")).to_contain_text("Note: cache enabled")
    left = mark.bounding_box()
    assert left
    assert abs(left["x"] + left["width"] / 2 - size["x"] - size["width"] * 0.9) < 40
    page.locator("#over-time-data summary").click()
    expect(page.locator("#over-time-data tbody")).to_contain_text("cache enabled")
    mark.press("Enter")
    expect(page).to_have_url(re.compile(r"/notes\?service=\w+#note-\d+"))
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("cache disabled")
    page.get_by_role("button", name="Save note").click()
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_text("cache disabled")).to_be_visible()
    page.get_by_role("button", name="Delete note").click()
    expect(page.get_by_text("No notes")).to_be_visible()


def test_a_note_of_a_function_is_in_its_bar_and_in_the_list(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    view(page).click(position=middle(box(page, "orders.place")))
    page.locator("#frame-bar [data-open-menu]").click()
    page.get_by_role("menuitem", name="Add note").click()
    expect(page.get_by_role("textbox", name="Function")).to_have_value("orders.place")
    page.get_by_label("Text").fill("one query per row")
    page.get_by_role("button", name="Add note").click()
    drawn(page)
    row = page.locator('#functions a.fn[data-name="orders.place"]')
    expect(row.locator(".fn-note")).to_have_text("one query per row")
    expect(page.locator("#functions .fn-note")).to_have_count(1)
    expect(page.locator("#frame-bar [data-bar-note]")).to_contain_text("one query per row")
    view(page).press("Home")
    expect(page.locator("#frame-bar [data-bar-note]")).to_be_hidden()


@pytest.mark.parametrize("name", ["history", "breakdown"])
def test_notes_are_marked_on_all_charts(
    page: Page, shop_url: str, project: Project, name: str
) -> None:
    Annotation.objects.create(project=project, at=timezone.now(), text="cache enabled")
    page.goto(shop_url.replace("/flame", f"/{name}"))
    mark = page.locator(".plot .note-mark").first
    expect(mark).to_have_accessible_name("Note: cache enabled")
    mark.focus()
    expect(page.locator(".plot .readout").first).to_contain_text("Note: cache enabled")
    expect(page.locator(".chart-notes")).to_contain_text("cache enabled")
