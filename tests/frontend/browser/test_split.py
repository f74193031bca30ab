"""Flame graph split by a label: a member sees which endpoint calls what, and zooms into one."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import labelled_shop, shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import box, drawn, middle, view

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def flame(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    now = timezone.now()
    times = [now - timedelta(minutes=minute + 1) for minute in range(3)]
    labelled_shop.send(shop.deployment(project), times, labelled_shop.stacks())
    sign_in(alice)
    page.goto(f"/p/{project.project_id}/flame?span=1h")
    return page


def top_row(page: Page) -> dict[str, str]:
    """Return the share of each box directly below the service."""
    return {found["name"]: found["share"] for found in drawn(page) if found["row"] == 1}


def test_graph_is_split_by_endpoint_zoomed_and_merged_again(flame: Page) -> None:
    drawn(flame)
    menu = flame.get_by_label("Split by")
    menu.focus()
    menu.select_option("sample.endpoint")
    expect(flame).to_have_url(re.compile(r"split=sample\.endpoint"))
    expect(flame.locator("[data-split]")).to_contain_text("endpoint")
    shares = top_row(flame)
    assert [*shares] == ["endpoint: /pay", "endpoint: /list", "endpoint: (not set)"]
    assert shares["endpoint: /pay"].startswith("50")

    pay = box(flame, "endpoint: /pay")
    view(flame).click(position=middle(pay))
    bar = flame.locator("#frame-bar")
    expect(bar).to_contain_text("endpoint: /pay")
    expect(bar.get_by_role("button", name="Focus")).to_be_hidden()
    expect(flame.locator("#list, .list").first).to_contain_text("Rule.matches")
    expect(flame.locator("#list, .list").first).not_to_contain_text("shop.list")
    expect(flame).to_have_url(re.compile(r"frame="))
    flame.reload()
    assert "shop.list" not in {found["name"] for found in drawn(flame) if found["width"] > 1}

    chart = flame.locator("#over-time")
    expect(chart.locator("profile-strip")).to_be_visible()
    expect(chart).not_to_contain_text("endpoint: /pay")  # which is no function

    flame.get_by_role("link", name="Bottom-up").click()
    expect(flame).to_have_url(re.compile(r"view=bottomup"))
    assert set(top_row(flame)) == {*shares}
    assert not violations(flame)

    flame.get_by_role("link", name="Remove the split by endpoint").click()
    expect(flame.locator("[data-split]")).to_have_count(0)
    assert not any("endpoint" in name for name in top_row(flame))


def test_a_search_finds_a_value_of_the_label(flame: Page) -> None:
    flame.goto(f"{flame.url}&split=sample.endpoint")
    drawn(flame)
    flame.locator("#search").fill("endpoint: /li")
    expect(flame.locator("#found")).to_contain_text("33")
