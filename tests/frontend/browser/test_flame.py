"""Flame page in a browser."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from profiles.models import Profile
from projects.models import Project
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.browser.flame_page import ROW, FrameBox, box, drawn, middle, view, width_of


def test_documented_example_is_drawn_exactly(page: Page, url: str, project: Project) -> None:
    file = "example.py"
    main, foo1, foo2, bar = (("main", file), ("foo1", file), ("foo2", file), ("bar", file))
    stacks: shop.FrameStacks = {
        (main,): 200_000,
        (main, foo1): 150_000,
        (main, foo1, bar): 250_000,
        (main, foo2): 50_000,
        (main, foo2, bar): 250_000,
    }
    of = shop.deployment(project, service="example")
    shop.send(of, shop.minutes_before(timezone.now(), 5), stacks)
    page.goto(url)
    whole = view(page).evaluate("view => view.clientWidth")
    shapes = [
        (b["row"], b["name"], b["x"] / whole * 9, b["width"] / whole * 9) for b in drawn(page)
    ]
    assert [(row, name, round(x, 9), round(width, 9)) for row, name, x, width in shapes] == [
        (0, "example", 0, 9),
        (1, "main", 0, 9),
        (2, "foo1", 0, 4),
        (2, "foo2", 4, 3),
        (3, "bar", 0, 2.5),
        (3, "bar", 4, 2.5),
    ]
    row = page.locator("tr", has=page.get_by_text("foo1", exact=True))
    expect(row.locator("td")).to_have_text(["foo1", "150 ms", "16.7%", "400 ms", "44.4%", "2"])


def test_root_row_has_the_service_and_the_average(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    assert drawn(page)[0]["label"] == "checkout, 1.71 s, 100%"
    expect(page.locator(".over")).to_contain_text("30 profiles, merged")


def test_pointing_at_a_frame_shows_its_values_at_once(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    view(page).hover(position=middle(box(page, "discounts.apply")))
    tip = page.locator(".tip")
    expect(tip.locator("header")).to_contain_text("discounts.apply")
    expect(tip.locator("header")).to_contain_text("/app/shop/pricing/discounts.py")
    expect(tip.locator("th")).to_have_text(["CPU time", "of root", "of view"])
    expect(tip.locator("tbody td")).to_have_text(
        ["Total", "421 ms", "24.6%", "24.6%", "Self", "53.4 ms", "3.1%", "3.1%"]
    )
    view(page).hover(position={"x": 5, "y": 15 * ROW}, force=True)
    expect(tip).to_be_hidden()


def test_click_zooms_and_click_on_the_root_shows_the_whole_graph(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    before = drawn(page)
    view(page).click(position=middle(box(page, "pricing.quote")))
    expect(page).to_have_url(re.compile("frame=[0-9a-f]{16}"))
    assert box(page, "pricing.quote")["width"] == pytest.approx(width_of(page))
    assert box(page, "checkout")["width"] > width_of(page)  # its callers stay above it
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")
    expect(page.locator("#frame-bar [data-bar=total-view]")).to_have_text("100%")
    view(page).click(position={"x": 50, "y": 5})
    expect(page).not_to_have_url(re.compile("frame="))
    assert drawn(page) == before


def test_back_and_reload_restore_the_view(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    view(page).click(position=middle(box(page, "pricing.quote")))
    page.locator("#colours").select_option("self")
    expect(page).to_have_url(re.compile("colour=self"))
    page.reload()
    assert box(page, "pricing.quote")["width"] == pytest.approx(width_of(page))
    expect(page.locator("#colours")).to_have_value("self")
    page.go_back()
    expect(page.locator("#colours")).to_have_value("")
    assert box(page, "pricing.quote")["width"] == pytest.approx(width_of(page))
    page.go_back()
    expect(page.locator("#crumbs .here")).to_have_text("checkout")
    assert box(page, "pricing.quote")["width"] < width_of(page)
    page.go_forward()
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")


def test_a_link_to_a_frame_that_is_not_there_says_so(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?frame=0123456789abcdef")
    expect(page.get_by_text("The linked frame is not in these profiles")).to_be_visible()
    expect(page).not_to_have_url(re.compile("frame="))
    drawn(page)


def test_keyboard_navigation_announces_frames(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    view(page).focus()
    for key in ("ArrowDown",) * 4 + ("ArrowRight", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    said = page.locator("#graph [aria-live]")
    expect(said).to_have_text("rank.score_all, total 483 ms, 28.3% of the root, self 241 ms")
    page.keyboard.press("Enter")
    expect(page.locator("#crumbs .here")).to_have_text("rank.score_all")
    page.keyboard.press("Escape")
    expect(page.locator("#crumbs .here")).to_have_text("checkout")
    page.keyboard.press("Tab")
    expect(view(page)).not_to_be_focused()


SHARES = "items => items.map((item) => item.lastChild.textContent)"


def test_legend_lists_packages_with_colours_and_shares(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    legend = page.locator("#legend")
    expect(legend.locator("li").first).to_have_text("shop.pricing27.3%")
    shares = [float(text.rstrip("%")) for text in legend.locator("li").evaluate_all(SHARES)]
    assert shares[:4] == sorted(shares[:4], reverse=True)
    expect(legend.locator("li", has_text="django").locator(".sw")).to_have_class(
        re.compile("p-lib")
    )
    page.locator("#colours").select_option("total")
    expect(legend).to_contain_text("Total, up to 1.71 s")


def test_a_functions_mark_in_the_list_has_the_colour_of_its_frame(
    page: Page, shop_url: str
) -> None:
    page.goto(shop_url)
    mark = page.locator(".fn", has_text="discounts.apply").locator(".sw")
    expect(mark).to_have_class(re.compile("p-own"))
    colour = mark.evaluate("mark => getComputedStyle(mark).backgroundColor")
    found = box(page, "discounts.apply")
    pixel = page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector('#graph canvas');
            const data = canvas.getContext('2d').getImageData(x, y, 1, 1).data;
            return `rgb(${data[0]}, ${data[1]}, ${data[2]})`;
        }""",
        [round(found["x"] + found["width"] - 6), found["row"] * ROW + 4],
    )
    assert pixel == colour


def test_the_list_is_sorted_by_its_headings(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    first = page.locator("#functions tbody tr").first
    expect(first).to_contain_text("Rule.matches")
    page.locator("#functions th").get_by_text("Total", exact=True).click()
    expect(first).to_contain_text("Thread.run")
    expect(page).to_have_url(re.compile("sort=total"))
    expect(page.locator("#functions [aria-sort]")).to_have_attribute("aria-sort", "descending")
    page.locator("#functions th").get_by_text("Total", exact=True).click()
    expect(page.locator("#functions [aria-sort]")).to_have_attribute("aria-sort", "ascending")
    page.go_back()
    page.go_back()
    expect(first).to_contain_text("Rule.matches")


def test_a_late_response_does_not_replace_a_newer_one(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    heading = page.locator("#functions th").get_by_text("Total", exact=True)
    sorted_by = page.locator("#functions [aria-sort]")
    pending: list[Route] = []
    page.route(re.compile("sort=-total"), lambda route: pending.append(route))  # noqa: PLW0108 - Playwright sets an attribute
    # htmx forgets a request that is sent between the swap and its settling, and cannot abort it.
    page.evaluate(
        """() => {
          const visit = () => document.querySelector('#functions [aria-sort] a').click();
          document.addEventListener('htmx:afterSwap', visit, { once: true });
          window.settled = new Promise((resolve) =>
            document.addEventListener('htmx:afterSettle', resolve, { once: true }));
        }"""
    )
    heading.click()
    page.evaluate("window.settled")
    expect(page).to_have_url(re.compile("sort=-total"))
    page.go_back()
    page.go_back()
    first = page.locator("#functions tbody tr").first
    expect(first).to_contain_text("Rule.matches")
    with page.expect_response(re.compile("sort=-total")) as late:
        pending[0].continue_()
    late.value.finished()
    page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 50))")
    expect(first).to_contain_text("Rule.matches")
    expect(sorted_by).to_have_attribute("aria-sort", "descending")


def test_sorting_keeps_the_graph_as_it_is(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    view(page).click(position=middle(box(page, "pricing.quote")))
    expect(page).to_have_url(re.compile("frame="))
    page.locator("#functions th").get_by_text("Total", exact=True).click()
    expect(page).to_have_url(re.compile("sort=total.*frame=|frame=.*sort=total"))
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")
    assert box(page, "pricing.quote")["width"] == pytest.approx(width_of(page))


def test_choosing_another_service_keeps_everything_in_the_address(
    page: Page, shop_url: str, project: Project
) -> None:
    now = timezone.now()
    other = shop.deployment(project, service="search", version="7")
    stacks: shop.FrameStacks = {(("index", "/app/search/index.py"),): 40_000}
    shop.send(other, shop.minutes_before(now, 3), stacks)
    page.goto(f"{shop_url}?service=checkout&span=6h")
    drawn(page)
    service = page.get_by_role("combobox", name="Service", exact=True)
    service.select_option("search")
    expect(page).to_have_url(re.compile(r"\?service=search&span=6h$"))
    expect(page.locator(".over")).to_contain_text("3 profiles, merged")
    expect(page.locator("select[name=version]")).to_contain_text("7")
    expect(page.locator("#crumbs .here")).to_have_text("search")
    assert [found["name"] for found in drawn(page)] == ["search", "index"]
    page.go_back()
    expect(service).to_have_value("checkout")
    expect(page.locator(".over")).to_contain_text("30 profiles")
    expect(page.locator("#crumbs .here")).to_have_text("checkout")


def test_new_profiles_are_loaded_automatically_and_keep_the_zoom(
    page: Page, shop_url: str, project: Project
) -> None:
    page.clock.install()
    page.goto(shop_url)
    view(page).click(position=middle(box(page, "pricing.quote")))
    shop.send(shop.deployment(project), [timezone.now() - timedelta(seconds=3)])
    page.clock.run_for(16_000)
    expect(page.locator(".over")).to_contain_text("31 profiles")
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")


def test_the_old_graph_stays_when_the_server_fails(
    page: Page, shop_url: str, project: Project, allowed_errors: list[str]
) -> None:
    allowed_errors.append("500")
    page.goto(shop_url)
    before = drawn(page)
    page.route("**/flame/tree?*", lambda route: route.fulfill(status=500, body="no"))
    page.locator("#range-menu > summary").click()
    page.locator("#range-menu").get_by_role("link", name="6 hours").click()
    failed = page.get_by_role("alert")
    expect(failed).to_contain_text("The server failed to merge these profiles")
    boxes: list[FrameBox] = page.evaluate("document.querySelector('#graph').boxes")
    assert boxes == before


def test_names_with_markup_and_control_characters_are_harmless(
    page: Page, url: str, project: Project
) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e\x07"
    long = "x" * 10_000
    stacks: shop.FrameStacks = {
        ((evil, "<b>.py"),): 500_000,
        ((evil, "<b>.py"), (long, "")): 400_000,
    }
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2), stacks)
    page.goto(url)
    view(page).hover(position={"x": 200, "y": 1.5 * ROW})
    expect(page.locator(".tip header b")).to_have_text("<img src=x onerror=alert(1)>\ufffd\ufffd")
    view(page).hover(position={"x": 100, "y": 2.5 * ROW})
    expect(page.locator(".tip header b")).to_have_text(re.compile("^x{4000,}…"))
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_stack_of_ten_thousand_frames_is_drawn_a_window_at_a_time(
    page: Page, url: str, project: Project
) -> None:
    stack = tuple((f"f{i}", "/app/deep.py") for i in range(9_999))
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 1), {stack: 1000})
    page.goto(url)
    assert len(drawn(page)) < 100
    graph = page.locator("#graph")
    assert graph.evaluate("graph => graph.scrollHeight") >= 10_000 * ROW
    assert page.locator("#graph canvas").evaluate("canvas => canvas.height") < 2_000
    graph.evaluate("graph => { graph.scrollTop = graph.scrollHeight }")
    assert drawn(page)[-1]["name"] == "f9998"


def test_dark_colours_are_drawn_when_the_theme_is_dark(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    pixel = """() => {
        const canvas = document.querySelector('#graph canvas');
        return Array.from(canvas.getContext('2d').getImageData(400, 30, 1, 1).data.slice(0, 3));
    }"""
    assert sum(page.evaluate(pixel)) > 450
    page.locator("[data-toggle-theme]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_function(f"({pixel})().reduce((all, one) => all + one) < 350")


@pytest.mark.parametrize("width", [360, 640, 960, 1240])
def test_page_does_not_scroll_sideways_at_any_width(page: Page, shop_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(shop_url)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    view(page).click(position=middle(box(page, "orders.place")))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_graph_below_the_window_is_drawn_once_it_is_in_sight(page: Page, shop_url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 60})
    page.goto(shop_url)
    expect(page.locator("#legend li").first).to_be_visible()
    assert page.locator("#graph").evaluate("graph => graph.boxes") == []
    view(page).scroll_into_view_if_needed()
    assert box(page, "checkout")["width"] == pytest.approx(width_of(page))


def test_every_type_explains_its_average(page: Page, url: str, project: Project) -> None:
    of = shop.deployment(project, types=[ProfileType.CPU, ProfileType.HEAP])
    times = shop.minutes_before(timezone.now(), 2)
    shop.send(of, times)
    sizes = [("inuse_objects", "count"), ("inuse_space", "bytes")]
    shop.send(of, times, type=ProfileType.HEAP, sample_types=sizes)
    page.goto(url)
    drawn(page)
    page.get_by_label("Type").select_option("HEAP")
    expect(page.locator(".over")).to_contain_text("Average 1.63 MiB in use")
    page.get_by_label("Metric").select_option("inuse_objects")
    expect(page.locator(".over")).to_contain_text("objects in use")
    expect(page).to_have_url(re.compile("metric=inuse_objects"))
    page.get_by_label("Type").select_option("CPU")
    expect(page.locator(".over")).to_contain_text("of CPU")
    expect(page).not_to_have_url(re.compile("metric="))
    assert Profile.objects.count() == 4


@pytest.mark.parametrize("width", [390, 1280])
def test_the_shown_profile_is_downloaded_under_its_name(
    page: Page, shop_url: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(shop_url)
    page.get_by_text("Download", exact=True).click()
    link = page.get_by_role("link", name="pprof")
    expect(link).to_be_in_viewport(ratio=1)
    with page.expect_download() as started:
        link.click()
    assert re.fullmatch(r"profiler_\w+_CPU_.*\.pb\.gz", started.value.suggested_filename)
