"""Accessibility of every page: axe-core, both themes, wide and narrow windows."""

from collections.abc import Callable, Iterable, Sequence

import pytest
from django.contrib.admin import site
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import ApiKey, Project, User
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn, view
from tests.frontend.every_page import PAGES, REFERENCES, STATES, P, furnish

Looks = Sequence[tuple[str, int]]
pytestmark = pytest.mark.django_db(transaction=True)
HEIGHT = 900
# Theme and width. Colours do not depend on the width, nor sizes on the theme.
LOOKS = [("light", 1440), ("dark", 360)]
_END_OF_ANIMATIONS = "() => Promise.all(document.getAnimations().map(each => each.finished))"
# In pages of the admin: Select2 without a label, and the empty head of a table's first column.
_OF_DJANGO = (".select2-container", "th.original")
OTHER_LOOKS = [("light", 360), ("dark", 1440)]


@pytest.fixture(
    params=[LOOKS, pytest.param(OTHER_LOOKS, marks=pytest.mark.nightly)],
    ids=["light-wide", "light-narrow"],
)
def looks(request: pytest.FixtureRequest) -> Looks:
    looks: Looks = request.param
    return looks


@pytest.fixture
def furnished(project: Project, alice: User) -> None:
    furnish(project, alice, timezone.now())


@pytest.fixture
def alices(page: Page, alice: User, furnished: None, sign_in: Callable[[User], None]) -> Page:
    sign_in(alice)
    return page


def found_in(looks: Looks, page: Page, without: Sequence[str] = ()) -> list[str]:
    """Return the violations found by axe-core in each of the themes and widths."""
    found = []
    for theme, width in looks:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.evaluate(_END_OF_ANIMATIONS)  # links of the admin fade from one theme to the other
        found += [f"{theme}, {width}: {each}" for each in violations(page, without)]
    return found


def found_on(
    looks: Looks, page: Page, addresses: Iterable[str], without: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Open all pages in one test, so that their data are created once."""
    found = {}
    for address in addresses:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        if violated := found_in(looks, page, without):
            found[address] = violated
    return found


def test_axe_finds_nothing_on_any_page(alices: Page, looks: Looks) -> None:
    addresses = [each.address for each in PAGES if not each.stranger]
    assert found_on(looks, alices, addresses) == {}


def test_axe_finds_nothing_on_any_page_for_strangers(page: Page, db: None, looks: Looks) -> None:
    addresses = [each.address for each in (*PAGES, *REFERENCES) if each.stranger]
    assert found_on(looks, page, addresses) == {}


def test_axe_finds_nothing_on_empty_and_error_pages(
    alices: Page, allowed_errors: list[str], looks: Looks
) -> None:
    allowed_errors.append("404 (Not Found)")
    assert found_on(looks, alices, [each.address for each in STATES]) == {}


@pytest.mark.usefixtures("project")
def test_axe_finds_nothing_in_an_empty_project(
    page: Page, alice: User, sign_in: Callable[[User], None], looks: Looks
) -> None:
    sign_in(alice)
    paths = ("services", "flame", "compare", "history", "profiles", "agents", "setup", "settings")
    assert found_on(looks, page, [f"{P}/{path}" for path in paths]) == {}


def test_axe_finds_nothing_in_menus_and_dialogs_over_the_graph(page: Page, shop_url: str) -> None:
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


def test_axe_finds_nothing_in_the_chart_above_the_graph(
    page: Page, shop_url: str, looks: Looks
) -> None:
    page.goto(f"{shop_url}?focus=Rule.matches")
    page.locator("#over-time-data summary").click()
    expect(page.locator("#over-time-data table")).to_be_visible()
    assert found_in(looks, page) == []


def test_axe_finds_nothing_in_the_range_menu(page: Page, shop_url: str, looks: Looks) -> None:
    for path in ("flame", "services", "breakdown"):
        page.goto(shop_url.replace("/flame", f"/{path}"))
        page.locator("#range-menu > summary").click()
        expect(page.locator("#range-menu .calendar")).to_be_visible()
        assert found_in(looks, page) == []


def test_axe_finds_nothing_in_a_search_and_its_map(page: Page, shop_url: str, looks: Looks) -> None:
    page.goto(f"{shop_url}?search=/Cursor|rank/")
    expect(page.locator("#found")).to_contain_text("1 of")
    expect(page.locator("#graph .match-map")).to_be_visible()
    assert found_in(looks, page) == []


def test_axe_finds_nothing_in_the_line_of_a_capture(
    page: Page, shop_url: str, looks: Looks
) -> None:
    page.goto(shop_url)
    drawn(page)
    page.get_by_role("button", name="Capture now").click()
    expect(page.get_by_role("region", name="Requested capture")).to_contain_text("failed")
    assert found_in(looks, page) == []


def test_axe_finds_nothing_in_the_breakdown_with_its_steps(alices: Page, looks: Looks) -> None:
    alices.goto(f"{P}/breakdown?service=checkout&type=CPU&span=1d&group_by=label.endpoint")
    alices.locator("#values details summary").click()
    alices.locator("table.values input").first.check()
    assert found_in(looks, alices) == []


def test_axe_finds_nothing_in_open_menus(alices: Page, looks: Looks) -> None:
    alices.goto(f"{P}/services")
    for summary in ("Switch project", "Account"):
        alices.locator("summary").filter(has_text=summary).or_(
            alices.get_by_label(summary, exact=False)
        ).first.click()
        assert found_in(looks, alices) == []


def test_axe_finds_nothing_in_the_dialogs_of_keys(alices: Page, looks: Looks) -> None:
    alices.goto(f"{P}/settings/keys/{ApiKey.objects.filter(revoked=None)[0].key_id}/revoke")
    assert found_in(looks, alices) == []
    for name in ("Create API key", "Rotate", "Change", "Revoke", "Key file"):
        alices.goto(f"{P}/settings/keys")
        alices.get_by_role("link", name=name).first.click()
        expect(alices.get_by_role("dialog")).to_be_visible()
        assert found_in(looks, alices) == []


def test_axe_finds_nothing_in_the_admin(
    page: Page,
    allowed_errors: list[str],
    furnished: None,
    project: Project,
    alice: User,
    sign_in: Callable[[User], None],
    looks: Looks,
) -> None:
    # A policy of the server's blocks the styles that axe-core adds while it looks for style sheets.
    allowed_errors.extend(("Applying inline style violates", "Couldn't load preload assets"))
    operator = User.objects.create_superuser("operator@example.org", "a sentence works well")
    sign_in(operator)
    key = ApiKey.objects.filter(project=project).first()
    assert key
    lists = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in site._registry
    ]
    addresses = [
        "/admin/",
        *lists,
        reverse("admin:projects_project_overview", args=[project.pk]),
        reverse("admin:projects_project_change", args=[project.pk]),
        reverse("admin:projects_apikey_change", args=[key.pk]),
        reverse("admin:projects_user_change", args=[alice.pk]),
        reverse("admin:projects_plan_add"),
        reverse("admin:profiles_deletionjob_add"),
    ]
    assert found_on(looks, page, addresses, _OF_DJANGO) == {}
