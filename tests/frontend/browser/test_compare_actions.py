"""Actions on a comparison: search, filter, use a frame's menu, open folded frames."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project, User
from tests.frontend import shop

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/p/acme-shop/compare?service=checkout&type=CPU&version=2&b.version=1&b.end=now"
MAIN, QUOTE, TAX = ("main", "main.py"), ("pricing.quote", "quote.py"), ("tax", "tax.py")
RULE = ("Rule.matches", "rules.py")
READ_NAMES = (
    "graph => Array.from(graph.tree.frame, f => graph.tree.names[graph.tree.frames.name[f]])"
)


@pytest.fixture
def versions(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    now = timezone.now()
    for version, quote in (("1", 6_910_000), ("2", 4_670_000)):
        stacks: shop.FrameStacks = {
            (MAIN,): 3_000_000,
            (MAIN, QUOTE): quote,
            (MAIN, QUOTE, RULE): 500_000,
            (MAIN, TAX): 400_000,
        }
        of = shop.deployment(project, version=version)
        shop.send(of, shop.minutes_before(now, 10), stacks)
    sign_in(alice)
    page.goto(ADDRESS)
    load_and_render(page)
    return page


def load_and_render(page: Page) -> None:
    drawn = re.compile(r"\d{2,}")
    expect(page.locator("flame-diff canvas").first).to_have_attribute("height", drawn)


def reach(page: Page, *keys: str) -> None:
    page.locator(".fg-view").first.focus()
    for key in keys:
        page.locator(".fg-view").first.press(key)


def test_search_counts_matches_dims_others_and_steps(versions: Page) -> None:
    versions.keyboard.press("/")
    versions.keyboard.type("/quote|Rule/")
    found = versions.locator("#found")
    expect(found).to_contain_text("2 matches")
    expect(found).to_contain_text("Matched 6.29 s, 64.9%")
    lit = versions.locator("flame-diff").evaluate("graph => Array.from(graph.found)")
    assert sum(lit) == 2
    versions.keyboard.press("Enter")
    expect(found).to_contain_text("1 of 2 matches")
    expect(versions.locator("flame-diff [aria-live]")).to_contain_text("pricing.quote, total")
    expect(versions).to_have_url(re.compile("search="))
    versions.reload()
    expect(found).to_contain_text("2 matches")
    versions.locator("#search").press("Escape")
    expect(found).to_be_hidden()


def test_filters_are_added_changed_and_removed(versions: Page) -> None:
    versions.locator("#add-filter summary").click()
    versions.locator("#add-filter select").select_option("hide")
    versions.locator("#add-filter input").fill("tax")
    versions.locator("#add-filter input").press("Enter")
    expect(versions.locator(".chip")).to_have_text("Hide stacks :tax")
    expect(versions.locator("#changes tbody")).not_to_contain_text("tax")
    versions.get_by_role("button", name="Change filter Hide stacks tax").click()
    versions.locator(".chip-editor input").fill("Rule")
    versions.locator(".chip-editor input").press("Enter")
    expect(versions.locator(".chip")).to_have_text("Hide stacks :Rule")
    expect(versions.locator("#changes tbody")).to_contain_text("tax")
    versions.get_by_role("link", name="Remove filter Hide stacks Rule").click()
    expect(versions.locator(".chip")).to_have_count(0)
    expect(versions.locator(".over")).to_contain_text(re.compile(r"Baseline:\s+10 profiles"))


def test_frame_actions_are_in_a_menu_and_on_keys(versions: Page) -> None:
    reach(versions, "ArrowDown", "ArrowDown")
    versions.keyboard.press("Shift+F10")
    versions.get_by_role("menuitem", name="Show stacks").click()
    expect(versions.locator(".chip")).to_have_text("Show stacks :pricing.quote")
    load_and_render(versions)
    reach(versions, "ArrowDown", "ArrowDown", "-")
    expect(versions.locator(".chip")).to_have_count(2)


def test_a_clicked_frame_keeps_its_tooltip_for_its_actions(versions: Page) -> None:
    area = versions.locator(".fg-view").bounding_box()
    assert area
    versions.mouse.click(area["x"] + area["width"] * 0.1, area["y"] + 50)
    tip = versions.locator("flame-diff .tip")
    tip.get_by_role("button", name="Show history").click()
    versions.wait_for_url("**/history?**")
    query = parse_qs(urlsplit(versions.url).query)
    assert (query["function"], query["version"]) == (["pricing.quote"], ["2"])


def test_a_row_of_the_list_has_a_menu(versions: Page) -> None:
    versions.locator("#changes a.fn", has_text="pricing.quote").click(button="right")
    versions.get_by_role("menuitem", name="Show from frame").click()
    expect(versions.locator(".chip")).to_have_text("Show from frame :pricing.quote")


def test_a_folded_box_opens_and_closes_again(versions: Page) -> None:
    """Open a folded box as a click does, by the id that the browser derives."""
    graph = versions.locator("flame-diff")
    at = graph.evaluate(READ_NAMES).index("Rule.matches")
    graph.evaluate("(graph, at) => graph.open(at)", at)
    versions.wait_for_url(re.compile("root=[0-9a-f]{16}"))
    load_and_render(versions)
    assert graph.evaluate(READ_NAMES) == ["checkout", "pricing.quote", "Rule.matches"]
    expect(versions.locator("#rooted")).to_be_visible()
    reach(versions, "Escape")
    expect(versions).not_to_have_url(re.compile("root="))
    expect(versions.locator("#rooted")).to_have_count(0)


def test_list_view_requests_no_tree(versions: Page) -> None:
    urls: list[str] = []
    versions.on("request", lambda request: urls.append(request.url))
    versions.get_by_role("link", name="List", exact=True).click()
    expect(versions.locator("flame-diff")).to_have_count(0)
    expect(versions.locator("#changes tbody")).to_contain_text("pricing.quote")
    versions.wait_for_load_state("networkidle")
    assert not [url for url in urls if "/compare/tree" in url]


def test_list_view_is_searched(versions: Page) -> None:
    versions.get_by_role("link", name="List", exact=True).click()
    field = versions.get_by_label("Search functions by name")
    field.fill("quote")
    field.press("Enter")
    rows = versions.locator("#changes tbody tr")
    expect(rows).to_have_count(1)
    versions.get_by_role("link", name="Δ self").click()
    expect(rows).to_have_count(1)
    field.fill("nothing has this name")
    field.press("Enter")
    expect(versions.locator("#changes")).to_contain_text("No matches")
    field.fill("")
    field.press("Enter")
    expect(rows).to_have_count(5)  # the total, and all functions
    expect(versions).not_to_have_url(re.compile("search="))


def test_a_link_has_the_ends_of_both_sides(versions: Page) -> None:
    versions.context.grant_permissions(["clipboard-read", "clipboard-write"])
    versions.keyboard.press("y")
    expect(versions.locator("#said")).to_contain_text("Link copied")
    copied = versions.evaluate("() => navigator.clipboard.readText()")
    query = parse_qs(urlsplit(copied).query)
    assert {"from", "to", "b.from", "b.to"} <= query.keys()
    assert not {"span", "end", "b.end"} & query.keys()
    shown = versions.locator("#range").inner_text()
    versions.goto(copied)
    load_and_render(versions)
    expect(versions.locator("#range")).to_have_text(shown, use_inner_text=True)
    versions.keyboard.press("?")
    expect(versions.locator("#keys")).to_contain_text("Largest callee")
