"""Profiles page: filtering, sorting, paging, and opening a single profile."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from frontend.pages.profiles.profile_list import PAGE_SIZE
from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.browser.narrow_window import require_fit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def profiles(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    now = timezone.now()
    for version, first in (("2.30.4", 0), ("2.31.0", PAGE_SIZE // 2 + 3)):
        of = shop.deployment(project, version=version)
        for n in range(first, first + PAGE_SIZE // 2 + 3):
            weight: shop.FrameStacks = {(("main", "main.py"),): 100_000 + n * 1000}
            shop.send(of, [now - timedelta(seconds=n + 5)], weight)
    sign_in(alice)
    page.goto("/p/acme-shop/profiles?service=checkout&type=CPU")
    return page


def first_weight(page: Page) -> str:
    return page.locator("#picked tbody tr").first.locator("td").nth(1).inner_text()


def test_order_and_page_are_changed_and_back_restores_them(profiles: Page) -> None:
    expect(profiles.locator("#picked tbody tr")).to_have_count(PAGE_SIZE)
    assert first_weight(profiles) == "100 ms"
    profiles.get_by_role("link", name="Profile total", exact=True).click()
    heaviest = f"{100 + PAGE_SIZE + 5} ms"
    expect(profiles.locator("#picked tbody tr").first).to_contain_text(heaviest)
    profiles.get_by_role("link", name="Next (smaller)").click()
    expect(profiles.locator("#picked tbody tr")).to_have_count(6)
    profiles.reload()
    expect(profiles.locator("#picked tbody tr")).to_have_count(6)
    # The page loads again on the way back, and only then follows the next step.
    with profiles.expect_event("load"):
        profiles.go_back()
    expect(profiles.locator("#picked tbody tr").first).to_contain_text(heaviest)
    with profiles.expect_event("load"):
        profiles.go_back()
    expect(profiles.locator("#picked tbody tr").first).to_contain_text("100 ms")


def test_version_choice_is_in_the_url_and_back_restores_the_previous(profiles: Page) -> None:
    profiles.get_by_label("Version").select_option("2.31.0")
    profiles.wait_for_url("**/profiles?service=checkout&type=CPU&version=2.31.0")
    expect(profiles.locator("#picked-title")).to_have_text(f"{PAGE_SIZE // 2 + 3} profiles")
    profiles.go_back()
    expect(profiles.locator("#picked-title")).to_have_text(f"{PAGE_SIZE + 6} profiles")


def test_a_profile_opens_alone(profiles: Page) -> None:
    profiles.locator("#picked tbody tr").nth(2).get_by_role("link").first.click()
    expect(profiles.locator(".over")).to_contain_text("1 profile")
    expect(profiles.locator(".over")).to_contain_text("Average 102 ms")
    profiles.get_by_role("link", name="Show all profiles").click()
    expect(profiles.locator(".over")).not_to_contain_text("single profile")


def test_page_fits_a_narrow_window(profiles: Page) -> None:
    require_fit(profiles)


def cell(page: Page, column: int, row: int) -> tuple[float, float]:
    """Return the centre of a heat map cell, counted from the right and from the top."""
    view, box = page.locator(".heat-view"), page.locator("svg.cells").bounding_box()
    assert box
    columns, rows = (int(view.get_attribute(f"data-{name}") or 0) for name in ("columns", "rows"))
    x = box["x"] + box["width"] * (columns - column - 0.5) / columns
    return x, box["y"] + box["height"] * (row + 0.5) / rows


def listed(page: Page) -> int:
    expect(page.locator("#picked-title")).to_contain_text("selected")
    return int(page.locator("#picked-title").inner_text().split()[0])


def test_a_drag_over_the_map_lists_those_profiles(profiles: Page) -> None:
    page = profiles
    page.mouse.move(*cell(page, 4, 0))
    page.mouse.down()
    page.mouse.move(*cell(page, 0, 4), steps=3)
    said = page.locator("[data-said]").inner_text()
    page.mouse.up()
    page.wait_for_url("**pick_from=*weights=*")
    assert listed(page) == int(said.rpartition(" ")[2]) > 0
    page.get_by_role("link", name="Flame graph of these").click()
    expect(page.locator(".over")).to_contain_text("filtered by profile total")
    page.go_back()
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("#picked-title")).to_have_text(f"{PAGE_SIZE + 6} profiles")


def test_heat_map_is_operated_by_keyboard(profiles: Page) -> None:
    view = profiles.locator(".heat-view")
    view.focus()
    for _ in range(9):
        view.press("ArrowDown")
    for _ in range(3):
        view.press("Shift+ArrowLeft")
    said = profiles.locator("[data-said]").inner_text()
    view.press("Enter")
    profiles.wait_for_url("**pick_from=*")
    assert listed(profiles) == int(said.rpartition(" ")[2])


def test_heat_map_is_shown_as_a_table_on_demand(profiles: Page) -> None:
    profiles.get_by_role("link", name="Show as table").click()
    expect(profiles.locator("#map tbody tr").first).to_be_visible()
    counts = profiles.locator("#map tbody td").all_inner_texts()
    assert sum(map(int, counts)) == PAGE_SIZE + 6
    profiles.locator("#map thead a").last.click()
    expect(profiles.locator("#picked-title")).to_contain_text("selected")
    profiles.get_by_role("link", name="Show as chart").click()
    expect(profiles.locator("rect.pick")).to_be_visible()
