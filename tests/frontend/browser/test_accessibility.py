"""Accessibility of every page: axe-core, both themes, wide and narrow windows."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import ApiKey, Project, User
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn, view
from tests.frontend.every_page import PAGES, STATES, P, Shown, furnish

pytestmark = pytest.mark.django_db(transaction=True)
HEIGHT = 900
LOOKS = (("light", 1440), ("light", 360), ("dark", 360), ("dark", 1440))


@pytest.fixture
def furnished(project: Project, alice: User) -> None:
    furnish(project, alice, timezone.now())


@pytest.fixture
def alices(page: Page, alice: User, furnished: None, sign_in: Callable[[User], None]) -> Page:
    sign_in(alice)
    return page


def found_in_every_look(page: Page) -> list[str]:
    """Return the violations found by axe-core in both themes, in wide and narrow windows."""
    found = []
    for theme, width in LOOKS:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": HEIGHT})
        found += [f"{theme}, {width}: {each}" for each in violations(page)]
    return found


def opened(page: Page, shown: Shown) -> Page:
    page.goto(shown.address)
    page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("shown", [each for each in PAGES if not each.stranger], ids=str)
def test_axe_finds_nothing_on_any_page(alices: Page, shown: Shown) -> None:
    assert found_in_every_look(opened(alices, shown)) == []


@pytest.mark.parametrize("shown", [each for each in PAGES if each.stranger], ids=str)
def test_axe_finds_nothing_where_one_is_not_signed_in(page: Page, db: None, shown: Shown) -> None:
    assert found_in_every_look(opened(page, shown)) == []


@pytest.mark.parametrize("shown", STATES, ids=str)
def test_axe_finds_nothing_where_nothing_is(
    alices: Page, shown: Shown, allowed_errors: list[str]
) -> None:
    allowed_errors.append("404 (Not Found)")
    assert found_in_every_look(opened(alices, shown)) == []


@pytest.mark.parametrize(
    "place", ["services", "flame", "compare", "history", "profiles", "agents", "setup", "settings"]
)
def test_axe_finds_nothing_in_an_empty_project(
    page: Page, alice: User, project: Project, sign_in: Callable[[User], None], place: str
) -> None:
    sign_in(alice)
    page.goto(f"{P}/{place}")
    page.wait_for_load_state("networkidle")
    assert found_in_every_look(page) == []


def test_axe_finds_nothing_in_what_opens_over_the_graph(page: Page, shop_url: str) -> None:
    page.goto(shop_url)
    drawn(page)
    view(page).focus()
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.keyboard.press("Shift+F10")
    expect(page.get_by_role("menu")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []


def test_axe_finds_nothing_in_open_menus(alices: Page) -> None:
    alices.goto(f"{P}/services")
    for summary in ("Switch project", "Account"):
        alices.locator("summary").filter(has_text=summary).or_(
            alices.get_by_label(summary, exact=False)
        ).first.click()
        assert found_in_every_look(alices) == []


def test_axe_finds_nothing_in_the_dialogs_of_keys(alices: Page) -> None:
    alices.goto(f"{P}/settings/keys/{ApiKey.objects.filter(revoked=None)[0].key_id}/revoke")
    assert found_in_every_look(alices) == []
    alices.goto(f"{P}/settings")
    alices.get_by_role("link", name="Revoke").first.click()
    expect(alices.get_by_role("dialog")).to_be_visible()
    assert found_in_every_look(alices) == []
