"""Frame of the pages: theme, menus, narrow windows."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from projects.models import Project, User

pytestmark = pytest.mark.django_db(transaction=True)
SERVICES = "/p/acme-shop/services"


@pytest.fixture
def alices(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    sign_in(alice)
    return page


def theme(page: Page) -> str | None:
    return page.locator("html").get_attribute("data-theme")


def test_the_theme_that_was_chosen_is_remembered(alices: Page) -> None:
    alices.goto(SERVICES)
    assert theme(alices) is None
    alices.get_by_role("button", name="Toggle dark mode").click()
    assert theme(alices) == "dark"
    alices.goto("/projects/new")
    assert theme(alices) == "dark"


def test_the_address_forces_a_theme_for_one_page(alices: Page) -> None:
    alices.goto(f"{SERVICES}?theme=dark")
    assert theme(alices) == "dark"
    alices.goto(SERVICES)
    assert theme(alices) is None


def test_menus_close_on_escape_and_on_a_click_elsewhere(alices: Page) -> None:
    alices.goto(SERVICES)
    item = alices.get_by_role("link", name="New project")
    summary = alices.locator("summary", has_text="Switch project")
    summary.click()
    expect(item).to_be_visible()
    alices.keyboard.press("Escape")
    expect(item).to_be_hidden()
    expect(summary).to_be_focused()
    summary.click()
    alices.get_by_role("heading", name="Services").click()
    expect(item).to_be_hidden()


def test_account_menu_signs_out(alices: Page) -> None:
    alices.goto(SERVICES)
    alices.locator("summary", has_text="A").last.click()
    alices.get_by_role("button", name="Sign out").click()
    expect(alices.get_by_role("heading", name="Sign in")).to_be_visible()


def test_footer_names_the_time_zone_of_the_browser(alices: Page) -> None:
    alices.goto(SERVICES)
    expect(alices.locator(".foot")).to_contain_text("Times are in your time zone, UTC+0")


@pytest.mark.parametrize(
    "address", [SERVICES, "/p/acme-shop/setup", "/p/acme-shop/settings", "/projects/new"]
)
def test_no_page_scrolls_sideways_at_360(alices: Page, address: str) -> None:
    alices.set_viewport_size({"width": 360, "height": 740})
    alices.goto(address)
    assert alices.locator("html").evaluate("html => html.scrollWidth") == 360


def test_the_sign_up_page_shows_a_flame_graph(page: Page, db: None) -> None:
    page.goto("/account/signup/")
    drawn = page.locator("flame-graph").evaluate(
        "graph => new Promise(done => {"
        " const look = () => graph.boxes.length ? done(graph.boxes[0].name) : setTimeout(look, 20);"
        " look(); })"
    )
    assert drawn
