"""Snapshots: a result is stored, shared and compared with what runs now."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from profiles import retention
from profiles.models import Profile, ResultSnapshot
from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


def take(page: Page, title: str) -> None:
    page.get_by_label("Save this page", exact=True).click()
    page.get_by_label("Store this result as a snapshot").fill(title)
    page.get_by_role("button", name="Store snapshot").click()
    expect(page.get_by_text("Snapshot stored.")).to_be_visible()


def test_a_snapshot_outlives_its_profiles(page: Page, shop_url: str, project: Project) -> None:
    page.goto(f"{shop_url}?service=checkout&f=hide:json.dumps")
    before = drawn(page)
    take(page, "Before the fix")
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page.get_by_role("heading", name="Before the fix")).to_be_visible()
    assert drawn(page) == before

    retention.retain(project.pk, timezone.now() + timedelta(days=60))
    assert not Profile.objects.exists()
    page.reload()
    assert drawn(page) == before
    assert violations(page) == []

    page.get_by_role("link", name="Bottom-up").click()
    expect(page.locator("#view-words")).to_have_text("Functions by self time, callers below")
    drawn(page)
    page.get_by_role("link", name="List", exact=True).click()
    expect(page.locator("#functions")).to_contain_text("Rule.matches")


def test_a_snapshot_is_compared_with_a_service(page: Page, shop_url: str, project: Project) -> None:
    page.goto(f"{shop_url}?service=checkout")
    drawn(page)
    take(page, "Before the fix")
    slow = {stack: value * 3 for stack, value in shop.STACKS.items()}
    newer = shop.deployment(project, version="2.32.0")
    shop.send(newer, shop.minutes_before(timezone.now() - timedelta(seconds=9), 30), slow)
    page.get_by_role("link", name="Open", exact=True).click()
    page.locator("#comparisons summary").click()
    page.get_by_role("link", name="checkout, last day").click()
    expect(page.get_by_role("link", name="Before the fix")).to_be_visible()
    expect(page.locator(".over")).to_contain_text("30 profiles")
    expect(page.locator(".over")).to_contain_text("60 profiles")
    assert violations(page) == []


def test_snapshots_are_listed_and_deleted(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout")
    drawn(page)
    take(page, "Before the fix")
    page.get_by_role("link", name="All views and snapshots").click()
    row = page.locator("#snapshots tbody tr")
    expect(row).to_contain_text("checkout")
    expect(row).to_contain_text("30")
    row.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No snapshots yet")).to_be_visible()
    assert not ResultSnapshot.objects.exists()
