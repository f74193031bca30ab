"""Chart of profiles over time: readings at the cursor, and selection by keyboard."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_reads_the_profiles_at_the_cursor(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    area = strip.locator(".u-over").bounding_box()
    assert area
    page.mouse.move(area["x"] + area["width"] * 0.96, area["y"] + 20)
    expect(strip.locator(".readout")).to_contain_text(
        re.compile(r"\d profiles.*average total.*1.71 s")
    )
    page.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + 20)
    expect(strip.locator(".readout")).to_contain_text("no profiles")


def test_keys_select_a_range(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    strip.focus()
    for key in ("End", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        strip.press(key)
    expect(strip.locator("[aria-live]")).to_contain_text("profiles, average total 1.71 s")
    strip.press("Enter")
    expect(page).to_have_url(re.compile(r"from=[^&]+&to=[^&]+$"))
    expect(page.locator(".over")).to_contain_text(re.compile(r"^\s*1\d profiles"))


def test_a_release_is_named_where_it_begins(page: Page, shop_url: str, project: Project) -> None:
    now = timezone.now()
    shop.send(shop.deployment(project, version="2.32.0"), [now - timedelta(seconds=20)])
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    strip.focus()
    strip.press("End")
    expect(strip.locator(".readout")).to_contain_text("first profile of version 2.32.0")


def test_it_follows_the_theme_without_an_error(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    before = page.locator("#strip canvas").evaluate("canvas => canvas.toDataURL()")
    page.locator("[data-toggle-theme]").click()
    after = page.locator("#strip canvas").evaluate("canvas => canvas.toDataURL()")
    assert before != after
