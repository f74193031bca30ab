"""Controls of the flame page after failed requests."""

import re
from collections.abc import Callable

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import box, drawn, middle, option, view

PAGE = re.compile(r"/flame(\?|$)")
TREE = re.compile(r"/flame/tree\?")
CHART = re.compile(r"/flame/over-time\?")


def status(code: int) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=code, body="no", content_type="text/html")


def offline(route: Route) -> None:
    route.abort("internetdisconnected")


def never(_route: Route) -> None:
    """Leave the request without a response."""


FAILURES = {
    "500": (status(500), "The server failed to process this request"),
    "429": (status(429), "The server is busy"),
    "503": (status(503), "The server is busy"),
    "offline": (offline, "The server does not respond"),
    "timeout": (never, "The server does not respond"),
}


@pytest.fixture
def two_versions(project: Project, url: str) -> str:
    now = timezone.now()
    for version in ("2.30.9", "2.31.0"):
        shop.send(shop.deployment(project, version=version), shop.minutes_before(now, 6))
    return url


def choose_range(page: Page, name: str) -> None:
    page.locator("#range-menu > summary").click()
    page.locator("#range-menu").get_by_role("link", name=name, exact=True).click()


def assert_range(page: Page, name: str) -> None:
    menu = page.locator("#range-menu")
    expect(menu.locator("summary .strong")).to_have_text(name)
    expect(menu.locator(".lengths a[aria-current]")).to_have_text(name)
    expect(menu).not_to_have_attribute("open", re.compile(""))


def assert_as_before(page: Page, address: str) -> None:
    expect(page).to_have_url(address)
    assert_range(page, "1 hour")
    expect(page.locator("select[name=version]")).to_have_value("")
    expect(page.get_by_label("Order")).to_have_value("")
    expect(page.locator(".over")).to_contain_text("12 profiles")
    expect(page.locator(".chip")).to_have_text("Show stacks :Thread")
    expect(page.locator("#search")).to_have_value("quote")


@pytest.mark.parametrize("failure", FAILURES)
def test_failed_request_resets_controls_to_the_shown_view(
    page: Page, two_versions: str, allowed_errors: list[str], failure: str
) -> None:
    allowed_errors += ["Failed to load resource", "htmx:", "Response Status Error"]
    reply, sentence = FAILURES[failure]
    address = f"{two_versions}?span=1h&f=show%3AThread&search=quote"
    page.goto(address)
    before = drawn(page)
    page.locator("#flame").evaluate(
        """page => page.setAttribute('hx-request', '{"timeout": 400}')"""
    )
    page.route(PAGE, reply)
    choose_range(page, "6 hours")
    page.locator("select[name=version]").select_option("2.31.0")
    option(page, "Order").select_option("name")
    expect(page.locator("#flame-failed")).to_contain_text(sentence)
    assert_as_before(page, address)
    assert drawn(page) == before
    page.unroute(PAGE)
    choose_range(page, "6 hours")
    expect(page).to_have_url(re.compile("span=6h"))
    expect(page.locator("#flame-failed")).to_be_hidden()
    assert_range(page, "6 hours")
    expect(page.locator("select[name=version]")).to_have_value("")


def test_an_error_after_the_head_was_sent_is_shown(
    page: Page, two_versions: str, allowed_errors: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed_errors += ["Failed to load resource"]  # of the tree

    def fail(*_arguments: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(WSGIRequest, "is_streamed", True, raising=False)
    monkeypatch.setattr("frontend.pages.flame.merged_tree.run_tree_and_top", fail)
    page.goto(two_versions)
    expect(page.get_by_role("heading", name="Server error")).to_be_visible()
    expect(page.locator(".page-wait")).to_be_hidden()
    expect(page.locator("header.top")).to_be_visible()


def test_a_large_tree_is_drawn_from_its_preview_on(
    page: Page, two_versions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.goto(two_versions)
    before = drawn(page)
    monkeypatch.setattr("profiles.queries.tree.PREVIEW_NODES", 4)
    page.add_init_script(
        "addEventListener('flame-load', ({ detail }) => (window.sizes ??= []).push(detail.tree.n))"
    )
    page.goto(two_versions)
    assert drawn(page) == before
    sizes = page.evaluate("window.sizes")
    assert len(sizes) == 2
    assert sizes[0] < sizes[1]


def test_filter_chip_stays_if_its_removal_fails(
    page: Page, two_versions: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource", "htmx:", "Response Status Error"]
    address = f"{two_versions}?span=1h&f=show%3AThread&search=quote"
    page.goto(address)
    drawn(page)
    page.route(PAGE, status(500))
    page.get_by_role("link", name="Remove filter").click()
    expect(page.locator("#flame-failed")).to_be_visible()
    assert_as_before(page, address)


def test_failed_tree_request_resets_controls(
    page: Page, two_versions: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource"]
    address = f"{two_versions}?span=1h&f=show%3AThread&search=quote"
    page.goto(address)
    before = drawn(page)
    page.route(TREE, status(500))
    page.locator("select[name=version]").select_option("2.31.0")
    expect(page.locator("#graph .fg-failed")).to_contain_text("The server failed to merge")
    assert_as_before(page, address)
    assert drawn(page) == before


def test_zoom_is_kept_after_a_failed_request(
    page: Page, two_versions: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource", "htmx:", "Response Status Error"]
    page.goto(two_versions)
    view(page).click(position=middle(box(page, "pricing.quote")))
    expect(page).to_have_url(re.compile("frame="))
    address = page.url
    page.route(PAGE, status(500))
    choose_range(page, "6 hours")
    expect(page.locator("#flame-failed")).to_be_visible()
    expect(page).to_have_url(address)
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")


def test_failed_back_navigation_restores_the_url_and_controls(
    page: Page, two_versions: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource", "htmx:", "Response Status Error"]
    page.goto(two_versions)
    drawn(page)
    option(page, "Order").select_option("name")
    expect(page.get_by_label("Order").locator("option[selected]")).to_have_attribute(
        "value", "name"
    )
    drawn(page)
    page.route(PAGE, status(500))
    page.go_back()
    expect(page.locator("#flame-failed")).to_be_visible()
    expect(page).to_have_url(re.compile("order=name"))
    expect(page.get_by_label("Order")).to_have_value("name")


def test_the_chart_is_loaded_after_a_failure_that_stopped_it(
    page: Page, shop_url: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource", "htmx:", "Response Status Error"]
    pending: list[Route] = []
    page.route(CHART, lambda route: pending.append(route))  # noqa: PLW0108  Playwright sets attributes of handlers
    with page.expect_request(CHART):
        page.goto(shop_url)
    page.unroute(CHART)
    page.route(PAGE, status(500))
    choose_range(page, "6 hours")
    expect(page.locator("#flame-failed")).to_be_visible()
    expect(page.locator("#over-time profile-strip")).to_be_visible()


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")


def open_range_menu(page: Page) -> None:
    page.locator("#range-menu > summary").click()


def save_picture(page: Page) -> None:
    page.locator("#picture").evaluate("button => button.click()")


LATE_SCRIPTS = {
    "palette": open_palette,
    "calendar": open_range_menu,
    "save-picture": save_picture,
}


@pytest.mark.parametrize("name", LATE_SCRIPTS)
def test_a_control_whose_script_fails_says_so(
    page: Page, two_versions: str, allowed_errors: list[str], name: str
) -> None:
    allowed_errors += ["Failed to load resource", "Failed to fetch dynamically imported module"]
    page.goto(two_versions)
    drawn(page)
    page.route(re.compile(rf"/{name}\.[^/]*js"), offline)
    LATE_SCRIPTS[name](page)
    expect(page.locator("#script-failed")).to_contain_text("Part of this page could not be loaded")
