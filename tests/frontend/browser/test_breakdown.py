"""Breakdown page: find the value that grew, open its flame graph, and compare two values."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import labelled_shop, shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn
from tests.frontend.browser.narrow_window import require_fit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def breakdown(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    """Store an hour in which /pay grew with version 2.31.0, in 14 instances."""
    now = timezone.now()
    for minute in range(120):
        version = "2.31.0" if minute < 60 else "2.30.4"
        of = shop.deployment(project, version=version)
        cost = labelled_shop.stacks(500 if minute < 60 else 300, 200 + minute % 7 * 10)
        labels = {"instance": f"web-{minute % 14:02}"}
        labelled_shop.send(of, [now - timedelta(minutes=minute + 1)], cost, labels)
    sign_in(alice)
    page.goto("/p/acme-shop/services?span=1h")
    page.get_by_role("link", name="Breakdown").click()
    page.wait_for_url("**/breakdown?**")
    return page


def group_by(page: Page, name: str) -> None:
    page.get_by_label("Group by").select_option(name)
    page.wait_for_url(f"**group_by={name}**")


def test_the_endpoint_that_grew_is_found_and_its_flame_graph_opened(breakdown: Page) -> None:
    group_by(breakdown, "sample.endpoint")
    table = breakdown.locator("table.values")
    table.get_by_role("link", name="Change").click()
    breakdown.wait_for_url("**sort=change**")
    first = table.locator("tbody tr").first
    expect(first).to_contain_text("/pay")
    expect(first).to_contain_text(re.compile(r"\+6\d"))
    first.get_by_role("link", name="Flame graph of /pay").click()
    breakdown.wait_for_url(re.compile(r"flame\?.*sample\.endpoint=%2Fpay"))
    drawn(breakdown)
    listed = breakdown.locator("#list, .list").first
    expect(listed).to_contain_text("Rule.matches")
    expect(listed).not_to_contain_text("shop.list")
    breakdown.get_by_role("link", name="Remove label endpoint /pay").click()
    expect(listed).to_contain_text("list")
    assert "sample.endpoint" not in breakdown.url


def test_two_versions_are_compared_with_one_click(breakdown: Page) -> None:
    breakdown.locator("#range-menu > summary").click()
    breakdown.locator("#range-menu").get_by_role("link", name="6 hours").click()
    breakdown.wait_for_url("**span=6h**")
    button = breakdown.get_by_role("button", name="Compare", exact=True)
    expect(button).to_be_disabled()
    breakdown.get_by_label("Compare 2.31.0").check()
    expect(button).to_be_disabled()
    breakdown.get_by_label("Compare 2.30.4").check()
    button.click()
    breakdown.wait_for_url("**/compare?**b.version=**")
    expect(breakdown.locator("body")).to_contain_text("Rule.matches")


def test_no_more_than_two_values_are_checked(breakdown: Page) -> None:
    group_by(breakdown, "label.instance")
    boxes = breakdown.locator("table.values input[type=checkbox]")
    expect(boxes).to_have_count(14)
    boxes.nth(0).check()
    boxes.nth(3).check()
    expect(boxes.nth(1)).to_be_disabled()
    boxes.nth(0).uncheck()
    expect(boxes.nth(1)).to_be_enabled()
    # a sorted table is new: nothing is checked
    boxes.nth(0).check()
    breakdown.locator("table.values").get_by_role("link", name="instance").click()
    breakdown.wait_for_url("**sort=name**")
    expect(breakdown.get_by_role("button", name="Compare", exact=True)).to_be_disabled()
    expect(boxes.nth(0)).to_be_enabled()


def test_the_chart_is_read_at_the_cursor_and_with_keys(breakdown: Page) -> None:
    group_by(breakdown, "label.instance")
    chart = breakdown.locator("breakdown-chart")
    expect(chart.locator("canvas")).to_be_visible()
    chart.focus()
    chart.press("End")
    for _ in range(5):  # the newest minutes have no profiles: time has passed since they were sent
        chart.press("ArrowLeft")
    read = chart.locator("[aria-live]")
    expect(read).to_contain_text("web-")
    expect(read).to_contain_text("All")
    expect(read).to_contain_text("1 profile")
    chart.press("Shift+ArrowLeft")
    chart.press("Enter")
    breakdown.wait_for_url("**from=*")
    breakdown.go_back()
    breakdown.wait_for_url("**group_by=label.instance")
    expect(breakdown.locator(".legend")).to_contain_text("Other (4 values)")


def test_axe_finds_nothing_with_many_values(breakdown: Page) -> None:
    group_by(breakdown, "label.instance")
    breakdown.locator("table.values input").first.check()
    for theme in ("light", "dark"):
        breakdown.emulate_media(color_scheme=theme)
        assert violations(breakdown) == []


def test_page_fits_a_narrow_window(breakdown: Page) -> None:
    require_fit(breakdown)


def test_page_works_without_scripts(
    breakdown: Page, base_url: str, allowed_errors: list[str]
) -> None:
    browser = breakdown.context.browser
    assert browser
    context = browser.new_context(java_script_enabled=False, base_url=base_url)
    context.add_cookies(breakdown.context.cookies())  # type: ignore[arg-type]
    plain = context.new_page()
    plain.goto("/p/acme-shop/breakdown?service=checkout&type=CPU&span=6h")
    plain.get_by_label("Group by").select_option("sample.endpoint")
    plain.get_by_role("button", name="Show").click()
    plain.get_by_label("Compare /pay").check()
    plain.get_by_label("Compare /list").check()
    plain.get_by_role("button", name="Compare", exact=True).click()
    expect(plain).to_have_url(re.compile(r"/compare\?.*b\.sample\.endpoint="))
    context.close()
