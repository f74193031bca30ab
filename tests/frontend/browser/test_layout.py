"""Room for the graph, panes that the user sizes, and skip links."""

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from projects.models import Member, Project, Role, User
from tests.frontend import every_page, shop
from tests.frontend.browser.flame_page import drawn, show_full_chart

pytestmark = pytest.mark.django_db(transaction=True)

DEEP = {
    tuple((f"level_{i}", f"/app/shop/m{i % 7}/level.py") for i in range(length)): 5000 * length
    for length in (40, 70)
}
# height of the window: the least share of it that shows the graph
ROOM = {(1440, 900): 0.6, (1280, 720): 0.5, (390, 844): 0.45}
PAGES = {
    "flame": "/flame?service=deep",
    "compare": "/compare?service=deep&version=1&b.version=2&b.end=now",
    "sandwich": "/flame?service=deep&focus=level_20",
}
# Heights of the visible parts of all graphs, in pixels: within the window and within what scrolls.
SEEN = """() => [...document.querySelectorAll('.fg canvas')].map((canvas) => {
    let { top, bottom } = canvas.getBoundingClientRect();
    for (let at = canvas.parentElement; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowY === 'visible') continue;
        const box = at.getBoundingClientRect();
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return Math.max(0, Math.min(bottom, innerHeight) - Math.max(0, top));
})"""


@pytest.fixture
def deep(url: str, project: Project) -> str:
    """Store profiles of deep stacks of two versions; return the URL of the project's pages."""
    for version in "12":
        of = shop.deployment(project, service="deep", version=version)
        shop.send(of, shop.minutes_before(timezone.now(), 5), DEEP)
    return url.removesuffix("/flame")


def settle(page: Page, name: str) -> None:
    """Wait for the graphs of a page and the chart over time."""
    if name == "compare":
        expect(page.locator("flame-diff canvas")).to_have_attribute("height", re.compile(r"\d{3,}"))
    else:
        drawn(page)
        expect(page.locator("#strip canvas")).to_be_visible()


@pytest.mark.parametrize("size", ROOM, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PAGES)
def test_the_graph_has_most_of_the_window(
    page: Page, deep: str, name: str, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(deep + PAGES[name])
    settle(page, name)
    heights: list[float] = page.evaluate(SEEN)
    assert sum(heights) / size[1] >= ROOM[size]


def test_the_tools_of_the_graph_are_one_row_on_a_small_laptop(
    page: Page, url: str, project: Project
) -> None:
    two_metrics = (("samples", "count"), ("cpu", "microseconds"))  # which have a field to choose
    of = shop.deployment(project, service="deep")
    at = shop.minutes_before(timezone.now(), 5)
    shop.send(of, at, DEEP, sample_types=two_metrics)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{url}?service=deep")
    settle(page, "flame")
    heights = "() => [...document.querySelectorAll('.bars')].map((row) => row.offsetHeight)"
    assert max(page.evaluate(heights)) < 60


# Width of the page's contents. Charts follow the width of the window a little later.
NEEDED_WIDTH = """async (width) => {
    const { documentElement: page } = document;
    for (let i = 0; i < 20 && page.scrollWidth > width; i++) {
        await new Promise(requestAnimationFrame);
    }
    return page.scrollWidth;
}"""
# Names of form fields that are wider than the card around them, which cuts them off. Tables scroll.
CUT_FIELDS = """
() => [...document.querySelectorAll('.card label.input > *')]
  .map((field) => [field, field.closest('.card').getBoundingClientRect().right])
  .filter(([field]) => !field.closest('.scroll'))
  .filter(([field, edge]) => field.getBoundingClientRect().right > edge)
  .map(([field]) => field.textContent || field.name)
"""


def test_no_page_scrolls_sideways_or_cuts_off_fields(
    page: Page, project: Project, alice: User, sign_in: Callable[[User], None]
) -> None:
    every_page.furnish(project, alice, timezone.now())
    sideways: dict[tuple[str, int], int] = {}
    cut: dict[tuple[str, int], list[str]] = {}
    for strangers in (True, False):
        for each in every_page.PAGES:
            if each.stranger != strangers:
                continue
            page.goto(each.address)
            page.wait_for_load_state("networkidle")
            for width in (1280, 1024, 768, 390):
                page.set_viewport_size({"width": width, "height": 844})
                needed: int = page.evaluate(NEEDED_WIDTH, width)
                if needed > width:
                    sideways[each.name, width] = needed
                if fields := page.evaluate(CUT_FIELDS):
                    cut[each.name, width] = fields
        sign_in(alice)
    assert sideways == {}
    assert cut == {}


# Texts that their box cuts off or that overlap the next one: lines of what was found, and numbers.
CUT_TEXTS = """() => [...document.querySelectorAll(
        '.over, .over .line, .path-bar, #functions td.num')]
    .filter((each) => each.checkVisibility())
    .filter((each) => each.scrollHeight > each.clientHeight + 1
        || (each.matches('td') && each.scrollWidth > each.clientWidth))
    .map((each) => each.textContent.trim())"""


def test_texts_fit_their_boxes_with_a_large_font(page: Page, shop_url: str) -> None:
    settings = page.context.new_cdp_session(page)
    settings.send("Page.setFontSizes", {"fontSizes": {"standard": 28}})
    page.goto(shop_url)
    drawn(page)
    expect(page.locator("#functions td.num").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "28px"
    assert page.evaluate(CUT_TEXTS) == []


# Spacing of texts that a reader may set: WCAG 2.2, criterion 1.4.12.
TEXT_SPACING = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
        word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_texts_fit_their_boxes_with_text_spacing(page: Page, shop_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(shop_url)
    drawn(page)
    expect(page.locator("#functions td.num").first).to_be_attached()
    page.evaluate(TEXT_SPACING)
    assert page.evaluate(CUT_TEXTS) == []


def test_a_menu_near_the_edge_opens_inside_the_window(page: Page, shop_url: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(shop_url)
    drawn(page)
    page.locator("summary", has_text="Options").click()
    expect(page.get_by_label("Order")).to_be_in_viewport(ratio=1)
    assert page.evaluate(NEEDED_WIDTH, 1024) == 1024


def test_links_of_the_bar_fit_beside_a_long_name_in_spanish(
    page: Page, shop_url: str, project: Project
) -> None:
    Project.objects.filter(pk=project.pk).update(name="A project of a rather long name")
    page.context.add_cookies([{"name": "django_language", "value": "es", "url": shop_url}])
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(shop_url)
    links = page.get_by_role("navigation", name="Proyecto").get_by_role("link")
    expect(links).to_have_count(10)
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)


def test_a_skip_link_leads_to_the_graph_and_one_to_the_content(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to flame graph")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#graph-view")).to_be_focused()
    assert "#" not in page.url
    page.locator("a.skip").first.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_every_page_with_a_navigation_has_a_skip_link(
    page: Page, project: Project, alice: User, sign_in: Callable[[User], None]
) -> None:
    sign_in(alice)
    for path in ("services", "flame", "compare", "history", "agents", "saved", "settings"):
        page.goto(f"/p/{project.project_id}/{path}")
        page.keyboard.press("Tab")
        expect(page.locator("a.skip").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


def test_the_full_chart_has_axes_from_zero_and_stays_open(page: Page, shop_url: str) -> None:
    page.add_init_script("""
        window.texts = [];
        const fillText = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...others) {
            window.texts.push(text);
            fillText.call(this, text, ...others);
        };
    """)
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    expect(strip.locator("canvas")).to_be_visible()
    before = strip.bounding_box()
    assert "0" not in page.evaluate("window.texts")
    show_full_chart(page)
    expect(page.locator("#over-time .series")).to_be_visible()
    page.wait_for_function("() => window.texts.includes('0')", polling=50)
    page.reload()
    drawn(page)
    expect(page.get_by_role("button", name="Full chart")).to_have_attribute("aria-expanded", "true")
    expect(strip.locator("canvas")).to_be_visible()
    after = strip.bounding_box()
    assert before
    assert after
    assert after["height"] > 2 * before["height"]
    page.get_by_role("button", name="Full chart").click()
    expect(page.locator("#over-time .series")).to_be_hidden()


def width_of_list(page: Page) -> float:
    box = page.locator("#functions").bounding_box()
    assert box
    return box["width"]


def test_list_keeps_the_width_set_by_the_user(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    splitter = page.get_by_role("separator", name="Width of the list")
    stacks = page.get_by_role("columnheader", name="Stacks")
    expect(stacks).to_be_hidden()
    before, at = width_of_list(page), splitter.bounding_box()
    assert at
    page.mouse.move(at["x"] + 4, at["y"] + 100)
    page.mouse.down()
    page.mouse.move(at["x"] - 96, at["y"] + 100)
    page.mouse.up()
    assert width_of_list(page) == pytest.approx(before + 100, abs=1)
    expect(stacks).to_be_visible()
    splitter.press("ArrowRight")
    wide = width_of_list(page)
    assert wide == pytest.approx(before + 76, abs=1)
    page.reload()
    drawn(page)
    assert width_of_list(page) == pytest.approx(wide, abs=1)
    splitter.press("Enter")
    expect(page.locator("#functions")).to_be_hidden()
    expect(splitter).to_have_attribute("aria-valuenow", "0")
    splitter.press("Enter")
    expect(page.locator("#functions")).to_be_visible()
    assert width_of_list(page) == pytest.approx(wide, abs=1)


def test_list_and_controls_work_without_scripts(
    browser: Browser, page: Page, shop_url: str
) -> None:
    context = browser.new_context(
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
        viewport={"width": 1440, "height": 900},
    )
    plain = context.new_page()
    plain.goto(shop_url)
    assert width_of_list(plain) == 440
    expect(plain.locator("#functions").get_by_text("Rule.matches")).to_be_in_viewport()
    plain.locator("#options summary").click()
    plain.get_by_label("Order").select_option("name")
    plain.get_by_label("Colour by").select_option("self")
    plain.locator(".bars").get_by_role("button", name="Show").click()
    expect(plain).to_have_url(re.compile("colour=self.*order=name|order=name.*colour=self"))
    expect(plain.get_by_role("link", name="Embed…")).to_be_visible()
    context.close()


def test_file_dropped_by_a_viewer_is_rejected_with_the_reason(
    page: Page, project: Project, bob: User, sign_in: Callable[[User], None]
) -> None:
    Member.objects.filter(user=bob).update(role=Role.VIEWER)
    sign_in(bob)
    page.goto(f"/p/{project.project_id}/services")
    drag = page.evaluate_handle("""() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['a;b 1'], 'stacks.folded'));
        return transfer;
    }""")
    page.dispatch_event("body", "dragover", {"dataTransfer": drag})
    expect(page.locator("#drop-zone")).to_contain_text("Viewers can’t open files")
    page.dispatch_event("body", "drop", {"dataTransfer": drag})
    expect(page.locator("#drop-zone")).to_be_hidden()
    expect(page.get_by_role("alert").filter(has_text="Ask an owner or admin")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
