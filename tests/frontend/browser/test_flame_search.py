"""Search in a deep flame graph, the bar of the chosen frame, and the list that follows both."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import ROW, box, drawn, middle, view

DEPTH = 60
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def deep_url(project: Project, url: str) -> str:
    """Store stacks whose only functions named needle are below the fold."""
    base = tuple((f"layer_{i}.run", f"/app/shop/layer_{i}.py") for i in range(DEPTH))
    stacks: dict[tuple[shop.Frame, ...], int] = {**shop.STACKS}
    for i in range(17):
        stacks[(*base, (f"needle_{i}.quote", "/app/shop/needle.py"))] = 50_000 - 1000 * i
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 4), stacks)
    return url


def in_sight(page: Page, name: str) -> bool:
    """Return whether the frame is in the visible part of the graph, outlined as chosen."""
    mark = page.locator("#graph .mark").bounding_box()
    pane = page.locator("#graph").bounding_box()
    bar = page.locator("#frame-bar").bounding_box()
    size = page.viewport_size
    assert mark
    assert pane
    assert bar
    assert size
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text(name)
    top = max(pane["y"], bar["y"] + bar["height"])
    bottom = min(pane["y"] + pane["height"], size["height"])
    return top - 1 <= mark["y"] and mark["y"] + ROW <= bottom + 2


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1000, 800), (390, 844)])
def test_a_search_scrolls_to_its_first_match(
    page: Page, deep_url: str, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(deep_url)
    drawn(page)
    page.locator("#search").fill("needle")
    expect(page.locator("#found")).to_contain_text("1 of 17 matches")
    assert in_sight(page, "needle_0.quote")


def test_n_and_shift_n_step_through_the_matches(page: Page, deep_url: str) -> None:
    page.goto(f"{deep_url}?search=needle")
    expect(page.locator("#found")).to_contain_text("1 of 17 matches")
    view(page).focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator("#found")).to_contain_text("3 of 17 matches")
    assert in_sight(page, "needle_2.quote")
    page.keyboard.press("N")
    expect(page.locator("#found")).to_contain_text("2 of 17 matches")
    assert in_sight(page, "needle_1.quote")
    page.get_by_role("button", name="Previous match").click()
    page.get_by_role("button", name="Previous match").click()
    expect(page.locator("#found")).to_contain_text("17 of 17 matches")


def test_a_search_without_matches_offers_to_ignore_case(page: Page, deep_url: str) -> None:
    page.goto(deep_url)
    drawn(page)
    offer = page.get_by_role("button", name="Ignore case")
    page.locator("#search").fill("unknown")
    expect(page.locator("#found")).to_contain_text("No matches")
    expect(offer).to_be_hidden()
    page.locator("#search").fill("NEEDLE_0.")
    offer.click()
    expect(page.locator("#search")).to_have_value(r"/(?i)NEEDLE_0\./")
    expect(page.locator("#search")).to_be_focused()
    expect(page.locator("#found")).to_contain_text("1 of 1 match")
    expect(offer).to_be_hidden()
    assert in_sight(page, "needle_0.quote")
    expect(page.locator("#functions tbody tr")).to_have_count(1)  # the server finds it, too


def test_the_map_shows_where_matches_are_and_a_click_goes_there(page: Page, deep_url: str) -> None:
    page.goto(deep_url)
    drawn(page)
    marks = page.locator("#graph .match-map")
    expect(marks).to_be_hidden()
    page.locator("#search").fill("/needle_0|rank/")
    expect(page.locator("#found")).to_contain_text("of 2 matches")
    area, graph = marks.bounding_box(), view(page).bounding_box()
    assert area
    assert graph
    assert area["x"] >= graph["x"] + graph["width"], "the map covers no frame"
    marks.click(position={"x": 5, "y": area["height"] - 4})
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text("needle_0.quote")
    assert in_sight(page, "needle_0.quote")
    marks.click(position={"x": 5, "y": 10})
    assert in_sight(page, "rank.score_all")
    page.locator("#search").fill("")
    expect(marks).to_be_hidden()


def test_a_zoom_stays_while_there_are_matches_in_it(page: Page, deep_url: str) -> None:
    page.goto(deep_url)
    view(page).click(position=middle(box(page, "pricing.quote")))
    page.locator("#search").fill("needle")
    expect(page.locator("#found")).to_contain_text("17 matches outside the zoomed frame")
    expect(page.locator("#crumbs .here")).to_have_text("pricing.quote")
    page.locator("#search").press("Enter")
    expect(page.locator("#found")).to_contain_text("1 of 17 matches")
    assert in_sight(page, "needle_0.quote")


def test_new_profiles_keep_the_current_match(page: Page, deep_url: str, project: Project) -> None:
    page.clock.install()
    page.goto(f"{deep_url}?search=needle")
    expect(page.locator("#found")).to_contain_text("1 of 17 matches")
    page.locator("#search").press("Enter")
    expect(page.locator("#found")).to_contain_text("2 of 17 matches")
    shop.send(shop.deployment(project), [timezone.now()])
    page.clock.run_for(16_000)
    expect(page.locator(".over")).to_contain_text("5 profiles")
    expect(page.locator("#found")).to_contain_text("2 of 17 matches")


def test_search_filters_the_list_with_a_notice(page: Page, deep_url: str) -> None:
    page.goto(deep_url)
    drawn(page)
    rows = page.locator("#functions tbody tr:has(a.fn)")
    page.locator("#search").fill("needle")
    expect(rows).to_have_count(17)
    expect(page.locator("#listed")).to_contain_text("17 of 90 match")
    page.get_by_role("link", name="Show all functions").click()
    expect(page.locator("#listed")).to_contain_text("90 in all")
    expect(page.locator("#search")).to_have_value("")
    expect(page).not_to_have_url(re.compile("search="))


def test_zoom_filters_the_list_with_a_notice(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    names = page.locator("#functions a.fn")
    expect(names).to_have_count(13)
    view(page).click(position=middle(box(page, "discounts.apply")))
    expect(page.locator("#within")).to_have_text("only within discounts.apply")
    expect(names).to_have_text(["Rule.matches", "discounts.apply"])
    page.reload()
    expect(names).to_have_text(["Rule.matches", "discounts.apply"])
    page.locator("#functions th").get_by_text("Total", exact=True).click()
    expect(names).to_have_text(["discounts.apply", "Rule.matches"])
    page.go_back()
    page.go_back()
    expect(names).to_have_count(13)
    page.go_forward()
    expect(names).to_have_count(2)
    page.get_by_role("link", name="Show all functions").click()
    expect(names).to_have_count(13)
    expect(page.locator("#crumbs .here")).to_have_text("checkout")


@pytest.mark.parametrize("size", [(1440, 900), (1280, 900), (1000, 900), (640, 900), (390, 844)])
def test_the_clicked_frames_card_covers_no_callee(
    page: Page, shop_url: str, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(shop_url)
    drawn(page)
    top = view(page).bounding_box()
    view(page).click(position=middle(box(page, "orders.place")))
    bar = page.locator("#frame-bar")
    expect(bar.locator("[data-bar=name]")).to_have_text("orders.place")
    expect(bar.locator("[data-bar=total]")).to_have_text("970 ms")
    expect(page.locator("#graph .tip")).to_be_hidden()
    card, graph = bar.bounding_box(), view(page).bounding_box()
    assert card
    assert graph
    assert top
    row = box(page, "orders.place")["row"]
    callees = graph["y"] + (row + 1) * ROW
    assert card["y"] + card["height"] <= callees
    assert graph["y"] + page.evaluate("scrollY") == pytest.approx(top["y"], abs=400)


@pytest.mark.parametrize("width", [1440, 390])
def test_clicking_a_frame_does_not_move_the_graph(page: Page, shop_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 2000})
    page.goto(shop_url)
    middle_of_frame = middle(box(page, "orders.place"))
    before = view(page).bounding_box()
    view(page).click(position=middle_of_frame)
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text("orders.place")
    assert view(page).bounding_box() == before


def test_frames_and_lines_link_to_the_repository_and_the_editor(
    page: Page, shop_url: str, project: Project, alice: User
) -> None:
    project.source_url = "https://git.example.org/shop/blob/{version}/{file}#L{line}"
    project.source_root = "/app/"
    project.save()
    alice.editor_url = "vscode://file/home/mara/{project}/{path}:{line}"
    alice.save()
    page.goto(f"{shop_url}?lines=pricing.quote")
    view(page).click(position=middle(box(page, "pricing.quote")))
    source = page.locator("#frame-bar [data-source]")
    expect(source).to_have_text("/app/shop/pricing/quote.py")
    repository = "https://git.example.org/shop/blob/2.31.0/shop/pricing/quote.py#L1"
    expect(source).to_have_attribute("href", repository)
    editor = f"vscode://file/home/mara/{project.project_id}/shop/pricing/quote.py:1"
    opens = page.locator("#frame-bar").get_by_role("link", name="Open in editor")
    expect(opens).to_have_attribute("href", editor)
    lines = page.locator(".lines-row")
    expect(lines.get_by_role("link", name="Open line 1 in editor")).to_have_attribute(
        "href", editor
    )
    expect(lines.get_by_role("link", name="1", exact=True)).to_have_attribute("href", repository)
    view(page).click(position=middle(box(page, "QuerySet.get")))
    expect(source).to_contain_text("site-packages/django")
    assert source.get_attribute("href") is None
    expect(opens).to_be_hidden()


def test_no_script_shows_control_characters(page: Page, url: str, project: Project) -> None:
    evil = "\u202egpj.exe\u2066"
    of = shop.deployment(project, f"shop{evil}", version=f"1{evil}")
    stacks: shop.FrameStacks = {((f"a{evil}", f"/app/{evil}.py"), (f"b{evil}", "")): 500_000}
    shop.send(of, shop.minutes_before(timezone.now(), 3), stacks)
    page.goto(f"{url}?search=a&lines=a{evil}")
    drawn(page)
    view(page).click(position={"x": 200, "y": 1.5 * ROW})
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text("a\ufffdgpj.exe\ufffd")
    expect(page.locator(".lines-row h2")).to_have_text("a\ufffdgpj.exe\ufffd")
    view(page).hover(position={"x": 200, "y": 2.5 * ROW})
    expect(page.locator(".tip header b")).to_have_text("b\ufffdgpj.exe\ufffd")
    expect(page.locator("#functions .fn").first).to_contain_text("\ufffd")
    assert not BIDI.search(page.locator("body").inner_text())
    page.goto(f"{url.removesuffix('flame')}history")
    strip = page.locator("history-chart, profile-strip").first
    strip.hover()
    assert not BIDI.search(page.locator("body").inner_text())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_search_bar_and_lines_are_accessible(
    page: Page, shop_url: str, alice: User, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    alice.editor_url = "vscode://file/{path}:{line}"
    alice.save()
    page.goto(f"{shop_url}?search=quote&lines=pricing.quote")
    view(page).click(position=middle(box(page, "pricing.quote")))
    expect(page.locator(".lines-row table")).to_be_visible()
    assert violations(page) == []
    page.goto(f"{shop_url.partition('/p/')[0]}/account/editor")
    assert violations(page) == []
