"""The page of history: choosing a step and patterns, and the way back."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import shop

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def history(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    now = timezone.now()
    for version, first in (("2.31.0", 1), ("2.30.4", 31)):
        times = [now - timedelta(minutes=first + n) for n in range(20)]
        shop.send(shop.deployment(project, version=version), times)
    sign_in(alice)
    page.goto("/p/acme-shop/history?service=checkout&type=CPU&span=1h&step=5m")
    return page


def test_lines_are_drawn_with_versions(history: Page) -> None:
    expect(history.locator("svg.plot")).to_have_count(2)
    expect(history.locator("svg.plot").first.locator(".deptext")).to_have_text(["2.30.4", "2.31.0"])
    assert history.locator("svg.plot").first.locator("polyline").count() >= 5


def test_a_choice_leads_to_its_address_and_back(history: Page) -> None:
    history.locator('select[name="step"]').select_option("15m")
    history.wait_for_url("**step=15m**")
    expect(history.locator("h1 + p")).to_contain_text("One point each 15 minutes")
    history.get_by_label("Hide").fill("rank")
    history.get_by_label("Hide").press("Enter")
    history.wait_for_url("**hide=rank**")
    expect(history.locator("tbody").first).not_to_contain_text("rank.score_all")
    history.go_back()
    expect(history.locator("tbody").first).to_contain_text("rank.score_all")


def test_a_function_is_shown_alone(history: Page) -> None:
    history.locator("tbody").first.get_by_role("link", name="Rule.matches").click()
    expect(history.locator("tbody").first.locator("tr")).to_have_count(1)
    history.get_by_role("link", name="Show the top 5").click()
    expect(history.locator("tbody").first.locator("tr")).to_have_count(5)


def test_it_fits_a_narrow_window(history: Page) -> None:
    history.set_viewport_size({"width": 360, "height": 740})
    wide = history.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, "only the table scrolls sideways"
