"""Capture now: its progress on the flame page until the profile is open, or why it failed."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from projects.models import Agent, Deployment, Project
from projects.profile_types import ProfileType
from scheduler import user_captures
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.models import UserCapture
from tests.frontend import shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def of(project: Project) -> Deployment:
    return shop.deployment(project)


@pytest.fixture
def worker(of: Deployment, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Return an agent that the long-poll queue reports as parked."""
    now = timezone.now()
    target = CaptureTarget(of.project_id, of.pk, frozenset({ProfileType.CPU}), 1)
    monkeypatch.setattr(InProcessQueue, "targets", lambda _: [target])
    return Agent.objects.create(
        deployment=of, identity="a", hostname="web-1", types=["CPU"], first_seen=now, last_seen=now
    )


def card(page: Page) -> Locator:
    return page.get_by_role("region", name="Requested capture")


def request_capture(page: Page, url: str) -> UserCapture:
    page.goto(url)
    drawn(page)
    page.get_by_role("button", name="Capture now").click()
    page.wait_for_url("**capture=*")
    return UserCapture.objects.get()


def test_a_capture_is_followed_until_its_profile_is_open(
    page: Page, shop_url: str, of: Deployment, worker: Agent
) -> None:
    row = request_capture(page, shop_url)
    expect(card(page)).to_contain_text("CPU time of checkout: capture queued")
    expect(card(page)).to_contain_text(re.compile(r"Waiting for a free agent of checkout, \d+ s"))
    expect(page.locator("#capture-said")).to_have_text("CPU time of checkout: capture queued")
    now = timezone.now()
    user_captures.note_claim(row.request, worker.pk, "", now)
    expect(card(page)).to_contain_text(re.compile(r"\d+ s left, on web-1"))
    page.reload()
    expect(card(page)).to_contain_text(re.compile(r"capturing\s+\d+ s left, on web-1"))
    expect(card(page).get_by_role("progressbar")).to_be_visible()
    began = now - timedelta(seconds=10)
    name = f"{of.pk}-CPU-{began.isoformat()}"
    user_captures.note_claim(row.request, worker.pk, name, began)
    expect(card(page)).to_contain_text("Waiting for the profile of web-1.")
    shop.send(of, [began])
    opener = card(page).get_by_role("link", name="Open profile")
    expect(opener).to_be_visible()
    assert not violations(page)
    opener.click()
    page.wait_for_url("**profile=*")
    expect(page.locator(".over")).to_contain_text(re.compile(r"1 profile\b"))
    drawn(page)


def test_a_failure_is_shown_and_stays_until_it_is_dismissed(page: Page, shop_url: str) -> None:
    request_capture(page, shop_url)
    expect(card(page)).to_contain_text("No agent of checkout has connected recently.")
    assert not violations(page)
    page.reload()
    expect(card(page)).to_contain_text("CPU time of checkout: capture failed")
    card(page).get_by_role("button", name="Dismiss").click()
    expect(card(page)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("capture="))


@pytest.mark.usefixtures("worker")
def test_unclaimed_request_times_out(page: Page, shop_url: str) -> None:
    request_capture(page, shop_url)
    expect(card(page)).to_contain_text("capture queued")
    UserCapture.objects.update(created=timezone.now() - timedelta(seconds=61))
    expect(card(page)).to_contain_text("Timed out: no agent of checkout was free within 60 s.")
    expect(page.locator("#capture-said")).to_have_text("CPU time of checkout: capture failed")


@pytest.mark.usefixtures("worker")
def test_progress_stays_when_the_view_changes(page: Page, shop_url: str) -> None:
    request_capture(page, shop_url)
    page.locator("#views").get_by_text("Bottom-up").click()
    page.wait_for_url("**view=bottomup**")
    drawn(page)
    expect(card(page)).to_contain_text("capture queued")
    expect(page).to_have_url(re.compile("capture=person-"))
