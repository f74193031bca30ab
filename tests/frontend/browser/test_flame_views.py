"""Views, filters, search, menus and keys of the flame page in a browser."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import box, drawn, middle, option, view, width_of
from tests.waiting import until


def names(page: Page) -> set[str]:
    return {found["name"] for found in drawn(page)}


def chips(page: Page) -> list[str]:
    return page.locator(".chip").all_inner_texts()


def test_a_filter_is_added_by_the_form_and_removed_by_its_chip(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("#add-filter summary").click()
    page.locator("[name='f.option']").select_option("hide")
    page.locator("[name='f.value']").fill("pricing.quote")
    page.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip")).to_have_text("Hide stacks :pricing.quote")
    expect(page).to_have_url(re.compile("f=hide%3Apricing.quote"))
    expect(page.locator("#chips")).to_contain_text("Showing 828 ms of 1.71 s, 48.5%")
    expect(page.locator("#crumbs")).to_contain_text("9 frames")
    assert "pricing.quote" not in names(page)
    page.get_by_label("Remove filter Hide stacks pricing.quote").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator("#crumbs")).to_contain_text("15 frames")
    page.go_back()
    expect(page.locator(".chip")).to_have_count(1)


def test_a_frame_is_filtered_from_its_bar(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    view(page).click(position=middle(box(page, "pricing.quote")))
    page.locator("#frame-bar").get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Show from frame").click()
    expect(page.locator(".chip")).to_have_text("Show from frame :pricing.quote")
    expect(page.locator("#crumbs")).to_contain_text("6 frames")
    assert box(page, "pricing.quote")["row"] == 1
    expect(page).not_to_have_url(re.compile("frame="))


def test_several_filters_keep_their_order_and_are_cleared_by_one_click(
    page: Page, shop_url: str
) -> None:
    page.goto(f"{shop_url}?f=show:discounts&f=hide:Rule&f=hide:discounts")
    expect(page.get_by_role("heading", level=2)).to_have_text("No stacks match these filters")
    expect(page.locator(".chip")).to_have_count(3)
    page.get_by_role("link", name="Remove “Hide stacks”").click()
    expect(page.locator(".chip")).to_have_text(["Show stacks :discounts", "Hide stacks :Rule"])
    drawn(page)


def test_highlights_change_no_width(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    before = drawn(page)
    page.goto(f"{shop_url}?f=highlight:django")
    assert drawn(page) == before
    lit = page.evaluate("Array.from(document.querySelector('#graph').data.tree.highlight)")
    assert sum(lit) == 3  # get_response and both QuerySet.get


def test_a_focus_has_callers_above_and_callees_below(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("#functions a.fn", has_text="QuerySet.get").click()
    expect(page).to_have_url(re.compile("focus=QuerySet.get"))
    expect(page.locator("#focus")).to_contain_text("511 ms total, 29.9%, in 4 stacks")
    expect(page.locator("#callers canvas")).to_be_visible()
    drawn(page)
    callees = page.evaluate("document.querySelector('#graph').boxes.map((box) => box.name)")
    assert callees == ["QuerySet.get", "Cursor.execute", "psycopg_binary.wait_c+0x1f"]
    expect(page.locator("#callers .fg-view")).to_have_attribute("style", re.compile("height"))
    above = page.evaluate("document.querySelector('#callers').boxes")
    assert {found["name"] for found in above if found["row"] == 1} == {
        "pricing.quote",
        "rank.score_all",
    }
    expect(page.locator("#views [aria-current]")).to_have_text("Sandwich")
    page.get_by_role("link", name="Clear focus").click()
    expect(page).not_to_have_url(re.compile("focus="))
    expect(page.locator("#callers")).to_have_count(0)
    assert box(page, "checkout")["width"] == pytest.approx(width_of(page))


def test_bottom_up_has_the_costliest_functions_first(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("#views").get_by_text("Bottom-up").click()
    expect(page).to_have_url(re.compile("view=bottomup"))
    expect(page.locator("#views [aria-current]")).to_have_text("Bottom-up")
    expect(page.locator("#crumbs")).to_contain_text(re.compile(r"[4-9]\d frames"))
    first = [found["name"] for found in drawn(page) if found["row"] == 1]
    assert first[:2] == ["Rule.matches", "Cursor.execute"]


def test_list_view_hides_the_graph(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("#views").get_by_text("List").click()
    expect(page).to_have_url(re.compile("view=list"))
    expect(page.locator("#pane")).to_be_hidden()
    expect(page.locator("#functions tbody tr").first).to_contain_text("Rule.matches")


def test_order_by_name_sorts_siblings(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("#recursion").focus()
    option(page, "Order").select_option("name")
    expect(page).to_have_url(re.compile("order=name"))
    expect(page.get_by_label("Order")).to_have_value("name")
    until(
        lambda: (
            [found["name"] for found in drawn(page) if found["row"] == 7][:2]
            == ["QuerySet.get", "discounts.apply"]
        ),
        seconds=30,
        what="graph in another order",
    )


def test_recursion_is_folded_and_unfolded(page: Page, url: str, project: Project) -> None:
    file = "/app/walk.py"
    main, walk, visit = ("main", file), ("walk", file), ("visit", file)
    stacks: shop.FrameStacks = {
        (main, walk, visit, walk, visit, walk): 300_000,
        (main, walk, visit): 100_000,
    }
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2), stacks)
    page.goto(url)
    assert len(drawn(page)) == 7
    option(page, "Collapse recursion").check()
    expect(page).to_have_url(re.compile("recursion=folded"))
    expect(page.locator("#crumbs")).to_contain_text("3 frames")
    assert [found["name"] for found in drawn(page)] == ["checkout", "main", "walk", "visit"]
    page.reload()
    expect(page.locator("#crumbs")).to_contain_text("3 frames")
    page.go_back()
    expect(page.locator("#crumbs")).to_contain_text("6 frames")
    expect(page.get_by_label("Collapse recursion")).not_to_be_checked()


def test_a_search_marks_dims_and_sums_once_for_each_stack(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("Cursor.execute")
    found = page.locator("#found")
    expect(found).to_contain_text("1 of 2 matches")
    expect(found).to_contain_text("Matched 391 ms, 22.9%")
    expect(page).to_have_url(re.compile("search=Cursor.execute"))
    page.keyboard.press("Enter")
    expect(found).to_contain_text("2 of 2 matches")
    page.locator("#search").fill("/^(pricing|discounts)\\./")
    expect(found).to_contain_text("1 of 2 matches")
    expect(found).to_contain_text("Matched 880 ms, 51.5%")
    page.locator("#search").fill("nothing like it")
    expect(found).to_contain_text("No matches (case-sensitive)")
    page.locator("#search").fill("/(/")
    expect(found).to_contain_text("Invalid regex")


def test_next_and_previous_go_through_the_matches(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?search=QuerySet")
    expect(page.locator("#found")).to_contain_text("1 of 2 matches")
    view(page).focus()
    page.keyboard.press("n")
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text("QuerySet.get")
    expect(page.locator("#found")).to_contain_text("2 of 2 matches")
    page.keyboard.press("n")
    expect(page.locator("#found")).to_contain_text("1 of 2 matches")
    page.keyboard.press("N")
    expect(page.locator("#found")).to_contain_text("2 of 2 matches")
    page.reload()
    expect(page.locator("#search")).to_have_value("QuerySet")
    expect(page.locator("#found")).to_contain_text("2 matches")


def test_an_expression_that_explodes_is_stopped(page: Page, url: str, project: Project) -> None:
    stacks: shop.FrameStacks = {(("a" * 5_000 + "!", "/app/a.py"),): 1000}
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 1), stacks)
    page.goto(url)
    drawn(page)
    page.locator("#search").fill("/^(a+)+$/")
    expect(page.locator("#found")).to_contain_text("takes too long", timeout=30_000)


def test_right_click_opens_the_menu_of_a_frame(page: Page, shop_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(shop_url)
    position = middle(box(page, "discounts.apply"))
    view(page).click(button="right", position=position)
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    menu.get_by_role("menuitem", name="Copy stack").click()
    expect(page.locator("#said")).to_contain_text("Stack copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[0] == "Thread.run"
    assert copied.splitlines()[-1] == "discounts.apply"
    view(page).click(button="right", position=position)
    menu.get_by_role("menuitem", name="Copy link to this frame").click()
    expect(page.locator("#said")).to_contain_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"from=.*to=.*frame=[0-9a-f]{16}", link)
    page.goto(link)
    expect(page.locator("#crumbs .here")).to_have_text("discounts.apply")


def test_keyboard_opens_the_menu_of_a_frame(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    view(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+F10")
    menu = page.get_by_role("menu")
    expect(menu).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(menu.get_by_role("menuitem").last).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(view(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+F10")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("focus=ThreadWorker.handle"))


def test_question_mark_opens_the_list_of_keys(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("Copy absolute link")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("dialog:focus-within")).to_have_count(0)
    page.keyboard.press("i")
    expect(page).to_have_url(re.compile("view=bottomup"))


def test_a_drag_over_the_chart_selects_its_range(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    area = strip.bounding_box()
    assert area
    left, y = area["x"], area["y"] + 30
    page.mouse.move(left + area["width"] * 0.95, y)
    page.mouse.down()
    page.mouse.move(left + area["width"] * 0.99, y)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"span=\d+s.*end=20|from=20"))
    expect(page.locator(".over")).to_contain_text(re.compile(r"^\s*1\d profiles"))
    page.go_back()
    expect(page.locator(".over")).to_contain_text("30 profiles")


def test_top_percent_selects_the_largest_profiles(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    page.locator("select[name=weight]").select_option("10")
    expect(page).to_have_url(re.compile("weight=10"))
    expect(page.locator(".over")).to_contain_text("3 profiles")
    expect(page.locator("select[name=weight] option:checked")).to_contain_text("Top 10%")


def test_more_rows_of_the_list_come_on_demand(page: Page, url: str, project: Project) -> None:
    stacks: shop.FrameStacks = {((f"f{i:03}", "/app/f.py"),): 1000 + i for i in range(70)}
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 1), stacks)
    page.goto(url)
    rows = page.locator("#functions tbody tr:has(a.fn)")
    expect(rows).to_have_count(30)
    page.get_by_role("link", name="Show more (40 left)").click()
    expect(rows).to_have_count(60)
    page.get_by_role("link", name="Show more (10 left)").click()
    expect(rows).to_have_count(70)
    expect(rows.last).to_contain_text("f000")
    mark = rows.last.locator(".sw")
    expect(mark).to_have_class(re.compile("p-own"))


def test_image_of_the_view_is_downloaded_as_svg(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Image of this view").click()
    assert re.fullmatch(
        r"profiler_checkout_CPU_\d{8}T\d{6}Z_\d{8}T\d{6}Z\.svg", started.value.suggested_filename
    )
    picture = started.value.path().read_text()
    assert picture.startswith("<svg ")
    assert "<title>discounts.apply</title>" in picture


def test_a_folded_box_opens_and_closes_again(page: Page, shop_url: str) -> None:
    """Open a folded box as a click does, by the id that the browser derives."""
    page.goto(shop_url)
    drawn(page)
    page.evaluate(
        """() => {
            const graph = document.querySelector('#graph');
            const { tree } = graph.data;
            const names = Array.from(tree.frame, (frame) => tree.names[tree.frames.name[frame]]);
            tree.hidden[names.indexOf('discounts.apply')] = 1;
            graph.open(names.indexOf('discounts.apply'));
        }"""
    )
    expect(page).to_have_url(re.compile("root=[0-9a-f]{16}"))
    expect(page.locator("#rooted")).to_be_visible()
    expect(page.locator("#crumbs")).to_contain_text("6 frames")
    assert box(page, "pricing.quote")["row"] == 1
    page.get_by_role("link", name="Show all").click()
    expect(page).not_to_have_url(re.compile("root="))
    expect(page.locator("#crumbs")).to_contain_text("15 frames")


def test_the_lines_of_a_function_are_a_table(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    view(page).click(button="right", position=middle(box(page, "discounts.apply")))
    page.get_by_role("menuitem", name="Show lines").click()
    lines = page.locator("#functions tr:has(.fn[data-name='discounts.apply']) + .lines-row")
    expect(lines.locator("table tr")).to_have_count(2)
    expect(lines).to_contain_text("421 ms")
    expect(page).to_have_url(re.compile("lines=discounts.apply"))
    page.reload()
    expect(lines.locator("table tr")).to_have_count(2)
    lines.get_by_role("button", name="Close").click()
    expect(page.locator(".lines-row")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("lines="))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_matches_of_a_search_are_readable(page: Page, shop_url: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{shop_url}?search=quote")
    drawn(page)
    expect(page.locator("#found")).to_contain_text("1 match")
    ink = page.locator("#graph").evaluate("graph => graph.picture.palette.ink")
    assert "rgb(26, 28, 25)" in ink, "dark letters on the yellow of a match"
    assert all(ink)
