"""Chart of values over time: its series, readings at the cursor, and selection of ranges."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import box, drawn, middle, show_full_chart, view

pytestmark = pytest.mark.django_db(transaction=True)

UPLOT = re.compile(r"/vendor/uPlot[^/]*\.js")
# Records the left-aligned texts that are drawn on a canvas, with their ends.
RECORD_TEXTS = """
    window.texts = [];
    const fillText = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...others) {
        if (this.textAlign === 'left') {
            const { width } = this.measureText(text);
            window.texts.push({ text, end: x + width, width: this.canvas.width });
        }
        fillText.call(this, text, x, ...others);
    };
"""
# Redraws the chart with eight hours that end half an hour after an hour; returns the times drawn.
# The label of that hour then begins 23 px before the right edge of the chart.
REDRAW = """async (strip, hour) => {
    window.texts = [];
    const plot = JSON.parse(strip.dataset.plot);
    plot.to = Math.floor(plot.to / 86400) * 86400 + hour * 3600 + 1800;
    plot.from = plot.to - 8 * 3600;
    plot.step = (plot.to - plot.from) / plot.counts.length;
    strip.dataset.plot = JSON.stringify(plot);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return window.texts.filter(({ text }) => /^\\d+:\\d\\d/.test(text));
}"""


def test_readout_has_value_and_profiles_at_the_cursor(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    area = strip.locator(".u-over").bounding_box()
    assert area
    page.mouse.move(area["x"] + area["width"] * 0.96, area["y"] + 20)
    expect(strip.locator(".readout")).to_contain_text(re.compile(r"CPU time.*1\.71 s.*\d profiles"))
    page.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + 20)
    expect(strip.locator(".readout")).to_contain_text("no profiles")


def series(page: Page) -> Locator:
    return page.locator("#over-time .series li:not(.counts)")


def test_a_focused_or_zoomed_function_is_a_second_series(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?focus=Rule.matches")
    expect(series(page)).to_have_text([re.compile("CPU time"), re.compile("Rule.matches")])
    expect(series(page).nth(1)).to_contain_text("368 ms")
    page.goto(shop_url)
    expect(series(page)).to_have_count(1)
    view(page).click(position=middle(box(page, "orders.place")))
    expect(series(page).nth(1)).to_contain_text(re.compile(r"orders.place\s+970 ms"))
    page.reload()
    expect(series(page).nth(1)).to_contain_text("orders.place")
    page.locator("#strip").press("End")
    page.locator("#strip").press("ArrowLeft")  # the last step may have begun after the profiles
    expect(page.locator("#strip [aria-live]")).to_contain_text("orders.place 970 ms")
    view(page).press("Home")
    expect(series(page)).to_have_count(1)


def test_the_graph_is_requested_before_the_chart(page: Page, shop_url: str) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url.partition("?")[0]))
    page.goto(shop_url)
    expect(page.locator("#strip canvas")).to_be_visible()
    data = [url.rpartition("/")[2] for url in requested if "/flame/" in url]
    assert data == ["tree", "over-time"]
    tree = next(i for i, url in enumerate(requested) if url.endswith("/tree"))
    scripts = [i for i, url in enumerate(requested) if re.search(r"uPlot.*\.js|profile_strip", url)]
    assert len(scripts) == 2
    assert min(scripts) > tree


def test_list_view_has_the_chart(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?view=list")
    expect(series(page)).to_have_count(1)


def test_the_data_table_has_the_values_of_the_chart(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?focus=Rule.matches")
    table = page.locator("#over-time-data table")
    expect(table).to_be_hidden()
    page.locator("#over-time-data summary").click()
    expect(table.locator("thead")).to_contain_text(re.compile(r"From.*Profiles.*CPU time.*Rule"))
    expect(table.locator("tbody tr").last).to_contain_text(re.compile(r"1\.71 s\s+368 ms"))


def test_loading_the_chart_does_not_move_the_graph(page: Page, shop_url: str) -> None:
    pending: list[Route] = []
    page.route("**/over-time?*", lambda route: pending.append(route))  # noqa: PLW0108  Playwright sets attributes of handlers
    page.goto(f"{shop_url}?focus=Rule.matches")
    drawn(page)
    before = page.locator("#pane").bounding_box()
    expect(page.locator("#strip")).to_have_count(0)
    for route in pending:
        route.continue_()
    expect(page.locator("#strip canvas")).to_be_visible()
    assert page.locator("#pane").bounding_box() == before


def test_a_narrow_page_has_the_chart_and_does_not_scroll_sideways(
    page: Page, shop_url: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{shop_url}?focus=Rule.matches")
    expect(page.locator("#strip canvas")).to_be_visible()
    expect(series(page)).to_have_count(2)
    show_full_chart(page)
    for each in [*series(page).all(), page.locator("#chart-notes")]:
        expect(each).to_be_in_viewport(ratio=1)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == 390


def test_failure_is_reported_in_place_of_the_chart(
    page: Page, shop_url: str, allowed_errors: list[str]
) -> None:
    allowed_errors.append("status of 503")
    page.route("**/over-time?*", lambda route: route.fulfill(status=503, body=""))
    page.goto(shop_url)
    failed = page.locator("#over-time [role=status]")
    expect(failed).to_have_text("The chart of values over time could not be loaded.")


def test_a_chart_whose_script_fails_says_so_and_keeps_its_data_table(
    page: Page, shop_url: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["Failed to load resource", "cannot fetch"]
    page.route(UPLOT, lambda route: route.abort())
    page.goto(shop_url)
    drawn(page)
    expect(page.locator("#over-time .failed")).to_contain_text("could not be loaded")
    expect(page.locator("#over-time-data summary")).to_be_visible()
    page.unroute(UPLOT)
    view(page).click(position=middle(box(page, "orders.place")))
    expect(page.locator("#strip canvas")).to_be_visible()
    expect(page.locator("#over-time .failed")).to_have_count(0)


@pytest.mark.parametrize("hour", range(2))  # labels are two hours apart
def test_no_label_of_the_time_axis_is_cut(page: Page, shop_url: str, hour: int) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.add_init_script(RECORD_TEXTS)
    page.goto(shop_url)
    expect(page.locator("#strip canvas")).to_be_visible()
    show_full_chart(page)
    labels = page.locator("#strip").evaluate(REDRAW, hour)
    assert len(labels) >= 2
    assert [label for label in labels if label["end"] > label["width"]] == []


def test_keys_select_a_range(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    strip.focus()
    for key in ("End", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        strip.press(key)
    expect(strip.locator("[aria-live]")).to_contain_text(
        re.compile(r"CPU time 1\.71 s, \d+ profiles")
    )
    strip.press("Enter")
    expect(page).to_have_url(re.compile(r"from=[^&]+&to=[^&]+$"))
    expect(page.locator(".over")).to_contain_text(re.compile(r"^\s*1\d profiles"))


def test_a_version_is_named_where_it_begins(page: Page, shop_url: str, project: Project) -> None:
    now = timezone.now()
    shop.send(shop.deployment(project, version="2.32.0"), [now - timedelta(seconds=20)])
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    strip.focus()
    strip.press("End")
    readout = strip.locator(".readout")
    if "no profiles" in readout.inner_text():  # a step has begun since the profile was captured
        strip.press("ArrowLeft")
    expect(readout).to_contain_text("first profile of version 2.32.0")


def test_theme_change_redraws_the_chart(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    before = page.locator("#strip canvas").evaluate("canvas => canvas.toDataURL()")
    page.locator("[data-toggle-theme]").click()
    after = page.locator("#strip canvas").evaluate("canvas => canvas.toDataURL()")
    assert before != after
