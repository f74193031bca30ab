"""Comparison page: tooltips, synchronised zoom, and state in the URL."""

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.browser.narrow_window import require_fit

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/p/acme-shop/compare?service=checkout&type=CPU&version=2&b.version=1&b.end=now"
MAIN, QUOTE, TAX = ("main", "main.py"), ("pricing.quote", "quote.py"), ("tax", "tax.py")


@pytest.fixture
def versions(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    """Open a comparison of ten profiles each: quote takes 6.91 s instead of 4.67 s, tax is new."""
    now = timezone.now()
    for version, main, quote, tax in (
        ("1", 5_350_000, 4_670_000, 0),
        ("2", 2_100_000, 6_910_000, 1_000_000),
    ):
        of = shop.deployment(project, version=version)
        stacks: dict[tuple[shop.Frame, ...], int] = {(MAIN,): main, (MAIN, QUOTE): quote}
        if tax:
            stacks[MAIN, TAX] = tax
        shop.send(of, shop.minutes_before(now, 10), stacks)
    sign_in(alice)
    page.goto(ADDRESS)
    return page


def pointed_at(page: Page, row: int, share: float) -> None:
    """Move the pointer to a row of the first graph."""
    box = page.locator(".fg-view").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + 20 * row + 10)


def test_the_tooltip_compares_as_documented(versions: Page) -> None:
    expect(versions.locator("canvas").first).to_have_attribute("height", re.compile(r"\d{2,}"))
    pointed_at(versions, 2, 0.05)
    tip = versions.locator(".tip").first
    expect(tip.locator("[data-tip=name]")).to_have_text("pricing.quote")
    expect(tip.locator("[data-tip=total]")).to_have_text(
        "total: 4.67 s → 6.91 s (+2.24 s), 46.6% → 69% (+22.4 pp)"
    )
    expect(tip.locator("[data-tip=say]")).to_contain_text("Significant. 95% interval")
    expect(tip.locator("[data-tip=say]")).to_contain_text("over 10 and 10 profiles")


def test_a_regression_of_the_newer_version_is_warm_and_positive(versions: Page) -> None:
    sides = versions.locator(".picker fieldset.pair")
    expect(sides).to_contain_text(["Baseline", "Selected"])
    assert [side.locator('select[name$="version"]').input_value() for side in sides.all()] == [
        "1",
        "2",
    ]
    expect(versions.locator("canvas").first).to_have_attribute("height", re.compile(r"\d{2,}"))
    red, _green, blue = colour_at(versions, 2, 0.05)
    assert red > blue, "more is warm"
    label = versions.locator("flame-diff").evaluate(
        "graph => graph.look(Array.from(graph.tree.frame).findIndex("
        "f => f >= 0 && graph.tree.names[graph.tree.frames.name[f]] === 'pricing.quote')).label"
    )
    assert label["whole"] == label["narrow"] == "+ pricing.quote"
    assert label["full"] == "pricing.quote"
    expect(versions.locator("#changes thead th")).to_have_text(
        ["Function", "Δ self", "Δ total", "Δ total, 95%", "Baseline", "Selected"]
    )
    row = versions.locator("#changes tbody tr", has_text="pricing.quote")
    expect(row.locator("td").nth(2).locator(".up")).to_have_text("+2.24 s")
    expect(row.locator("td").nth(4)).to_have_text("4.67 s")
    expect(row.locator("td").nth(5)).to_have_text("6.91 s")
    expect(versions.locator("#changes tbody tr", has_text="tax")).to_contain_text("added")


def test_side_by_side_graphs_are_ordered_by_name(versions: Page) -> None:
    versions.get_by_role("link", name="Side by side").click()
    expect(versions.locator("flame-diff .crumbs")).to_have_text(["Baseline", "Selected"])
    expect(versions.locator("canvas").last).to_have_attribute("height", re.compile(r"\d{2,}"))
    versions.get_by_role("link", name="Swap sides").click()
    versions.wait_for_url("**version=1**b.version=2**")
    expect(versions.locator("#changes tbody tr", has_text="tax")).to_contain_text("removed")


def colour_at(page: Page, row: int, share: float) -> list[int]:
    """Return red, green and blue of the canvas in a row, beside the frame's label."""
    colour: list[int] = page.locator("flame-diff canvas").first.evaluate(
        """(canvas, [row, share]) => {
          const at = devicePixelRatio || 1;
          const pixel = [Math.round(canvas.width * share), Math.round((20 * row + 2) * at), 1, 1];
          return Array.from(canvas.getContext('2d').getImageData(...pixel).data).slice(0, 3);
        }""",
        [row, share],
    )
    return colour


def test_a_new_comparison_has_one_range_and_all_versions_on_both_sides(versions: Page) -> None:
    versions.get_by_role("navigation", name="Project").get_by_role("link", name="Compare").click()
    versions.wait_for_url("**version=2**b.version=1**")
    ranges = versions.locator("#range")
    for end in ("from", "to"):
        assert ranges.get_attribute(f"data-{end}") == ranges.get_attribute(f"data-b-{end}")
    for name, chosen in (("b.version", "1"), ("version", "2")):
        menu = versions.locator(f'select[name="{name}"]')
        expect(menu).to_have_value(chosen)
        expect(menu.locator("option")).to_have_text(["all (2)", "1", "2"])
    versions.locator("#comparisons summary").click()
    versions.get_by_role("link", name="Previous period").click()
    versions.wait_for_url(re.compile(r"version=2&span=1h$"))
    expect(versions.locator("#range")).not_to_have_attribute(
        "data-b-to", re.compile(versions.locator("#range").get_attribute("data-to") or "")
    )


def test_click_zooms_and_back_restores_the_whole_graph(versions: Page) -> None:
    expect(versions.locator("canvas").first).to_have_attribute("height", re.compile(r"\d{2,}"))
    pointed_at(versions, 2, 0.05)
    expect(versions.locator(".tip").first).to_be_visible()
    versions.mouse.down()
    versions.mouse.up()
    versions.wait_for_url("**frame=*")
    pointed_at(versions, 2, 0.95)
    expect(versions.locator(".tip [data-tip=name]").first).to_have_text("pricing.quote")
    versions.go_back()
    expect(versions.locator("flame-diff").first).not_to_have_attribute("frame", re.compile("."))
    pointed_at(versions, 2, 0.94)
    expect(versions.locator(".tip").first).to_be_hidden()


def test_both_sides_zoom_together(versions: Page) -> None:
    versions.get_by_role("link", name="Side by side").click()
    expect(versions.locator("flame-diff")).to_have_count(2)
    expect(versions.locator("canvas").last).to_have_attribute("height", re.compile(r"\d{2,}"))
    view = versions.locator(".fg-view").first
    view.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        view.press(key)
    versions.wait_for_url("**frame=*")
    frame = versions.locator("flame-diff").first.get_attribute("frame") or ""
    assert frame
    expect(versions.locator("flame-diff").last).to_have_attribute("frame", frame)


def test_keyboard_navigation_announces_frames(versions: Page) -> None:
    view = versions.locator(".fg-view")
    expect(versions.locator("canvas").first).to_have_attribute("height", re.compile(r"\d{2,}"))
    view.focus()
    view.press("ArrowDown")
    view.press("ArrowDown")
    said = versions.locator("flame-diff [aria-live]")
    expect(said).to_contain_text("pricing.quote, total: 4.67 s → 6.91 s (+2.24 s)")
    view.press("ArrowRight")
    expect(said).to_contain_text("tax, total: 0 → 1 s (+1 s)")
    view.press("ArrowUp")
    expect(said).to_contain_text("main, total:")


def test_picker_changes_one_side_only(versions: Page) -> None:
    expect(versions.locator(".over")).to_contain_text(re.compile(r"Baseline:\s+10 profiles"))
    versions.locator('select[name="b.version"]').select_option("2")
    versions.wait_for_url("**b.version=2**")
    expect(versions.locator("#changes")).to_contain_text("Not significant")
    expect(versions.locator(".over")).to_contain_text("no change")
    versions.go_back()
    versions.get_by_role("link", name="Swap sides").click()
    expect(versions.locator("#changes tbody")).to_contain_text("removed")


def test_button_lists_significant_changes_only(versions: Page) -> None:
    button = versions.get_by_role("button", name="Significant changes only")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    versions.wait_for_url("**real=1**")
    expect(versions.get_by_role("button", name="Significant changes only")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_legend_explains_the_width(versions: Page) -> None:
    words = versions.locator(".width-words")
    expect(words).to_have_text("Width: mean of both sides")
    assert words.evaluate("words => words.scrollWidth <= words.clientWidth"), "not cut off"


def test_page_fits_a_narrow_window(versions: Page) -> None:
    require_fit(versions)
