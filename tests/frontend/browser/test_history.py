"""History page: choosing a step and patterns, and navigating back."""

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import shop

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def history(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    # In the middle of a step, so that a position beside a version's mark is in the same step.
    end = datetime.fromtimestamp(time.time() // 300 * 300 - 150, UTC)
    for version, first in (("2.31.0", 1), ("2.30.4", 31)):
        times = [end - timedelta(minutes=first + n) for n in range(20)]
        shop.send(shop.deployment(project, version=version), times)
    sign_in(alice)
    page.goto("/p/acme-shop/history?service=checkout&type=CPU&span=1h&step=5m")
    return page


def test_lines_are_read_at_the_cursor_on_both_charts(history: Page) -> None:
    charts = history.locator("history-chart")
    expect(charts.locator("canvas")).to_have_count(2)
    area = charts.first.locator(".u-over").bounding_box()
    assert area
    history.mouse.move(area["x"] + area["width"] * 0.8, area["y"] + 40)
    for chart in (charts.first, charts.last):
        read = chart.locator(".readout")
        expect(read).to_contain_text("Rule.matches")
        expect(read).to_contain_text("5 profiles")
        expect(read.locator("tr")).to_have_count(6)
    history.mouse.move(5, 5)
    expect(charts.first.locator(".readout")).to_be_hidden()


def test_a_version_is_named_where_it_begins(history: Page) -> None:
    chart = history.locator("history-chart").first
    drawn = json.loads(chart.get_attribute("data-plot") or "{}")
    began = next(time for time, name in drawn["versions"] if name == "2.31.0")
    area = chart.locator(".u-over").bounding_box()
    assert area
    share = (began - drawn["from"]) / (drawn["to"] - drawn["from"])
    history.mouse.move(area["x"] + area["width"] * share + 2, area["y"] + 40)
    expect(chart.locator(".readout")).to_contain_text("first profile of version 2.31.0")


def test_keys_move_the_cursor_of_a_chart_and_select_a_range(history: Page) -> None:
    chart = history.locator("history-chart").first
    expect(chart.locator("canvas")).to_be_visible()
    chart.focus()
    for key in ("End", "ArrowLeft", "Shift+ArrowLeft"):
        chart.press(key)
    expect(chart.locator("[aria-live]")).to_contain_text("Rule.matches 368 ms")
    chart.press("Enter")
    history.wait_for_url("**from=*")
    expect(history.locator("h1 + p")).to_contain_text("Step: 1 minute")


def test_a_drag_over_a_chart_shows_its_range(history: Page) -> None:
    area = history.locator("history-chart .u-over").first.bounding_box()
    assert area
    y = area["y"] + 60
    history.mouse.move(area["x"] + area["width"] * 0.5, y)
    history.mouse.down()
    history.mouse.move(area["x"] + area["width"] * 0.9, y)
    history.mouse.up()
    history.wait_for_url("**from=*")
    history.go_back()
    history.wait_for_url("**span=1h*")


def test_choices_are_in_the_url_and_back_restores_the_previous(history: Page) -> None:
    history.locator('select[name="step"]').select_option("15m")
    history.wait_for_url("**step=15m**")
    expect(history.locator("h1 + p")).to_contain_text("Step: 15 minutes")
    history.get_by_label("Hide", exact=True).fill("rank")
    history.get_by_label("Hide", exact=True).press("Enter")
    history.wait_for_url("**hide=rank**")
    expect(history.locator("tbody").first).not_to_contain_text("rank.score_all")
    history.go_back()
    expect(history.locator("tbody").first).to_contain_text("rank.score_all")


def test_click_on_a_function_shows_only_its_series(history: Page) -> None:
    history.locator("tbody").first.get_by_role("link", name="Rule.matches").click()
    expect(history.locator("tbody").first.locator("tr")).to_have_count(1)
    history.locator("#functions summary").click()
    history.get_by_role("link", name="top 5 by self").click()
    expect(history.locator("tbody").first.locator("tr")).to_have_count(5)


def test_functions_are_the_top_ones_or_those_selected(history: Page) -> None:
    rows = history.locator("tbody").first.locator("tr")
    menu = history.locator("#functions")
    expect(menu.locator("summary")).to_have_text("Functions: top 5 by self")
    menu.locator("summary").click()
    menu.get_by_role("link", name="top 3 by self").click()
    expect(rows).to_have_count(3)
    for name, count in (("orders.place", 1), ("Cursor.execute", 2)):
        menu.locator("summary").click()
        menu.get_by_label("Full name of a function").fill(name)
        menu.get_by_role("button", name="Add function").click()
        expect(rows).to_have_count(count)
    expect(rows.last).to_contain_text("Cursor.execute")
    menu.locator("summary").click()
    menu.get_by_role("link", name="Remove orders.place").click()
    expect(rows).to_have_count(1)
    expect(history).to_have_url(re.compile(r"function=Cursor\.execute$"))


def test_filters_are_added_changed_and_removed(history: Page) -> None:
    history.locator("#add-filter summary").click()
    history.locator("#add-filter select").select_option("hide")
    history.locator("#add-filter input").fill("rank")
    history.locator("#add-filter input").press("Enter")
    chip = history.locator(".chip")
    expect(chip).to_have_text("Hide stacks :rank")
    expect(history.locator("tbody").first).not_to_contain_text("rank.score_all")
    history.get_by_role("button", name="Change filter Hide stacks rank").click()
    history.locator(".chip-editor input").fill("Rule")
    history.locator(".chip-editor input").press("Enter")
    expect(chip).to_have_text("Hide stacks :Rule")
    expect(history.locator("tbody").first).to_contain_text("rank.score_all")
    history.get_by_role("link", name="Remove filter Hide stacks Rule").click()
    expect(chip).to_have_count(0)


def test_link_is_copied_and_keys_are_listed(history: Page) -> None:
    """Check that the page shows the link's text where it may not write to the clipboard."""
    history.context.grant_permissions(["clipboard-read", "clipboard-write"])
    history.keyboard.press("y")
    expect(history.locator("#said")).to_contain_text("Link copied")
    copied = history.evaluate("() => navigator.clipboard.readText()")
    query = parse_qs(urlsplit(copied).query)
    assert {"from", "to"} <= query.keys()
    assert not {"span", "end"} & query.keys()
    history.locator("#links summary").click()
    history.get_by_role("button", name="Copy relative link").click()
    assert "span=1h" in history.evaluate("() => navigator.clipboard.readText()")
    history.keyboard.press("?")
    expect(history.locator("#keys")).to_contain_text("Select a range")


def test_page_fits_a_narrow_window(history: Page) -> None:
    history.set_viewport_size({"width": 360, "height": 740})
    # The charts take their new width in the next frames; only the table scrolls sideways.
    history.wait_for_function("() => document.documentElement.scrollWidth <= window.innerWidth")
