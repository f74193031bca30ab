"""Layout shift of the flame page while its graph, its chart and their scripts are loaded."""

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)

WIDTHS = {"wide": 1440, "narrow": 390}
VIEWS = {
    "flame": "",
    "sandwich": "?view=sandwich",
    "sandwich of a function": "?focus=QuerySet.get",
    "list": "?view=list",
}
MOST = 0.01  # cumulative layout shift; up to 0.1 is good by web.dev/cls
OBSERVE = """
    window.shift = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", VIEWS)
def test_page_has_no_layout_shift_while_loading(
    page: Page, shop_url: str, view: str, width: str
) -> None:
    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
    page.add_init_script(OBSERVE)
    page.goto(shop_url + VIEWS[view])
    expect(page.locator("#strip canvas")).to_be_visible()
    if view != "list":
        drawn(page)
    # Entries of a frame are delivered after it.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
    assert page.evaluate("shift") <= MOST


def test_the_kept_height_is_released_if_the_tree_cannot_be_loaded(
    page: Page, shop_url: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource"]
    page.route("**/flame/tree?*", lambda route: route.abort())
    page.goto(f"{shop_url}?focus=QuerySet.get")
    expect(page.locator("#graph .fg-failed")).to_be_visible()
    expect(page.locator("flame-graph .room")).to_have_count(0)
