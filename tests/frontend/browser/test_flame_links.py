"""Links from the flame page to other pages, and filters edited in place."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import box, drawn, middle

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_filter_is_changed_in_place(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?f=hide:json&f=show:quote")
    drawn(page)
    page.get_by_role("button", name="Change filter Hide stacks json").click()
    editor = page.locator(".chip-editor")
    expect(editor.locator("input")).to_be_focused()
    expect(editor.locator("input")).to_have_value("json")
    editor.locator("select").select_option("show")
    editor.locator("input").fill("rank")
    editor.locator("input").press("Enter")
    expect(page.locator(".chip").first).to_have_text("Show stacks :rank")
    expect(page.locator(".chip").last).to_have_text("Show stacks :quote")
    page.go_back()
    expect(page.locator(".chip").first).to_have_text("Hide stacks :json")


def test_a_filter_stays_as_it_was_after_escape(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?f=hide:json")
    drawn(page)
    button = page.get_by_role("button", name="Change filter Hide stacks json")
    button.click()
    page.locator(".chip-editor input").fill("other")
    page.locator(".chip-editor input").press("Escape")
    expect(page.locator(".chip-editor")).to_have_count(0)
    expect(button).to_be_focused()
    expect(page.locator(".chip")).to_have_text("Hide stacks :json")


def test_a_frames_menu_leads_to_its_history(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?f=hide:json")
    page.locator("#graph .fg-view").click(
        button="right", position=middle(box(page, "Rule.matches"))
    )
    page.get_by_role("menuitem", name="Show history").click()
    page.wait_for_url("**/history?**")
    query = parse_qs(urlsplit(page.url).query)
    assert query["function"] == ["Rule.matches"]
    assert query["f"] == ["hide:json"]
    assert query["span"] == ["1h"]
    expect(page.locator("tbody").first.locator("tr")).to_have_count(1)


def test_menu_of_a_list_row_has_the_actions_of_a_frame(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?view=list")
    row = page.locator("#functions a.fn", has_text="Rule.matches")
    row.click(button="right")
    menu = page.locator("#frame-menu")
    expect(menu.get_by_role("menuitem", name="Show history")).to_be_visible()
    expect(menu.get_by_role("menuitem", name="Copy stack")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    row.click(button="right")
    menu.get_by_role("menuitem", name="Hide stacks").click()
    expect(page.locator(".chip")).to_have_text("Hide stacks :Rule.matches")


def test_menu_stays_open_while_there_are_no_new_profiles(page: Page, shop_url: str) -> None:
    """Check that the poll for new profiles (every 15 s) changes nothing when there are none."""
    page.clock.install()
    page.goto(f"{shop_url}?view=list")
    page.locator("#functions a.fn", has_text="Rule.matches").click(button="right")
    item = page.locator("#frame-menu").get_by_role("menuitem", name="Hide stacks")
    expect(item).to_be_visible()
    # The request of the chart above the graph has "seen", too, and may still be running.
    with page.expect_event(
        "requestfinished", lambda request: "/flame?" in request.url and "seen=" in request.url
    ) as request:
        page.clock.run_for(15_000)
    response = request.value.response()
    assert response is not None
    assert response.status == 204
    page.evaluate("() => new Promise(done => requestAnimationFrame(done))")
    page.clock.run_for(1_000)
    item.click(timeout=5_000)
    expect(page.locator(".chip")).to_have_text("Hide stacks :Rule.matches")


def test_a_version_is_compared_with_the_rest(page: Page, url: str, project: Project) -> None:
    now = timezone.now()
    for version in ("1", "2", "3"):
        of = shop.deployment(project, version=version)
        released = now - timedelta(hours=5 - int(version))
        shop.send(of, [released, *shop.minutes_before(now, 5)])
    page.goto(f"{url}?version=2")
    drawn(page)
    page.locator("#comparisons summary").click()
    links = page.locator("#comparisons a")
    expect(links).to_have_text(
        [
            "Previous version (1)",
            "Previous period",
            "Last release before 2 (1)",
            "Version 3",
            "All other versions",
        ]
    )
    links.last.click()
    page.wait_for_url("**/compare?**b.version=1&b.version=3**")
    expect(page.locator(".over")).to_contain_text(
        re.compile(r"Baseline:\s+10 profiles[\s\S]*Selected:\s+5 profiles")
    )
    page.locator("#comparisons summary").click()
    page.get_by_role("link", name="Previous version (1)").click()
    page.wait_for_url("**/compare?**version=2&**b.version=1&b.end=now")
    expect(page.locator(".over")).to_contain_text(
        re.compile(r"Baseline:\s+5 profiles[\s\S]*Selected:\s+5 profiles")
    )


def test_the_type_and_the_view_explain_themselves(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    expect(page.locator("#type-words")).to_have_text(re.compile("excludes waiting"))
    expect(page.locator("#view-words")).to_contain_text("Width = share")
    page.locator("#views").get_by_text("Bottom-up").click()
    expect(page.locator("#view-words")).to_contain_text("Functions by self time")
