"""Deletion of profiles: the range is in the browser's time zone."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from profiles.models import DeletionJob
from projects.models import Project, User

pytestmark = pytest.mark.django_db(transaction=True)


def test_range_is_entered_shown_and_deleted_in_local_time(
    page: Page, alice: User, project: Project, sign_in: Callable[[User], None]
) -> None:
    sign_in(alice)
    page.goto("/p/acme-shop/settings/data")
    section = page.locator("#delete-profiles")
    expect(section).to_contain_text("Your time zone, UTC+")
    section.get_by_label("From").fill("2026-07-01T12:00")
    section.get_by_label("Until").fill("2026-11-20T12:00")
    section.get_by_role("button", name="Delete profiles…").click()
    expect(page).to_have_url(re.compile(r"start=2026-07-01T10%3A00%3A00.000Z"))
    shown = page.locator("main b")
    expect(shown).to_contain_text(re.compile(r"From\s+Wed,? 1 Jul,? 12:00:00"))
    expect(shown).to_contain_text(re.compile(r"Until\s+Fri,? 20 Nov,? 12:00:00"))
    page.get_by_label("Type acme-shop to confirm").fill("acme-shop")
    page.get_by_role("button", name="Delete profiles", exact=True).click()
    expect(page.locator("#deletions")).to_contain_text("until 2026-11-20 11:00:00 UTC")
    job = DeletionJob.objects.get()
    assert (job.start, job.end) == (
        datetime(2026, 7, 1, 10, tzinfo=UTC),
        datetime(2026, 11, 20, 11, tzinfo=UTC),
    )


def test_rejected_range_stays_in_local_time(
    page: Page,
    alice: User,
    project: Project,
    sign_in: Callable[[User], None],
    allowed_errors: list[str],
) -> None:
    allowed_errors.append("400 (Bad Request)")
    sign_in(alice)
    page.goto("/p/acme-shop/settings/data")
    section = page.locator("#delete-profiles")
    section.get_by_label("From").fill("2026-11-20T12:00")
    section.get_by_label("Until").fill("2026-11-20T11:00")
    section.get_by_role("button", name="Delete profiles…").click()
    expect(section).to_contain_text("The end must be after the start.")
    expect(section.get_by_label("From")).to_have_value(re.compile(r"^2026-11-20T12:00"))
    section.get_by_label("Until").fill("2026-11-20T13:00")
    section.get_by_role("button", name="Delete profiles…").click()
    expect(page.locator("main b")).to_contain_text(re.compile(r"Until\s+Fri,? 20 Nov,? 13:00:00"))
