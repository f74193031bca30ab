"""Command palette and the pages that a browser showed last."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects import saved_views
from projects.models import Deployment, Project, User
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)


def search(page: Page, text: str) -> None:
    page.wait_for_load_state()  # the address changes before the scripts of the page run
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search pages")).to_be_focused()
    page.keyboard.type(text)


def test_palette_opens_services_saved_views_and_pages(
    page: Page, shop_url: str, project: Project, alice: User
) -> None:
    saved_views.create(
        project, "Nightly work", "/p/acme-shop/flame?service=checkout&span=2d", actor=alice
    )
    page.goto("/p/acme-shop/agents")
    search(page, "nightly")
    expect(page.get_by_role("option", name="Nightly work")).to_have_attribute(
        "aria-selected", "true"
    )
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"flame\?service=checkout&span=2d"))
    drawn(page)
    search(page, "history")
    page.get_by_role("group", name="Pages").get_by_role("option", name="History").click()
    expect(page).to_have_url(re.compile("/history"))
    search(page, "check")
    page.get_by_role("group", name="Services").get_by_role("option", name="checkout").click()
    expect(page).to_have_url(re.compile(r"flame\?service=checkout&type=CPU&span=2d$"))


def test_palette_focuses_a_function_and_runs_actions(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout")
    drawn(page)
    search(page, "RULE match")
    expect(page.locator("#palette [role=option]")).to_have_count(1)
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("focus=Rule.matches"))
    search(page, "dark mode")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    search(page, "Bottom-up")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("view=bottomup"))


def test_arrow_keys_select_an_option_and_escape_closes_the_palette(
    page: Page, shop_url: str
) -> None:
    page.goto("/p/acme-shop/services")
    search(page, "s")
    options = page.locator("#palette [role=option]")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.get_by_role("combobox", name="Search pages").fill("nothing has this name")
    expect(page.get_by_text("No matching command")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.get_by_role("button", name="Commands").click()
    expect(page.locator("#palette")).to_be_visible()


def test_recent_views_are_offered_again(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout&span=6h&view=bottomup")
    drawn(page)
    page.goto("/p/acme-shop/saved")
    recent = page.locator("#recent a")
    expect(recent).to_have_text("Flame graph · checkout · CPU · 6h · bottomup")
    search(page, "6h bottomup")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"service=checkout&span=6h&view=bottomup$"))


def test_keyboard_help_lists_the_palette(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?service=checkout")
    drawn(page)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("Commands")


def add_services(project: Project, number: int) -> None:
    now = timezone.now()
    Deployment.objects.bulk_create(
        Deployment(
            project=project,
            service=f"svc-{n:04}",
            profiled=["CPU"],
            first_seen=now,
            last_seen=now,
        )
        for n in range(1, number + 1)
    )


@pytest.mark.parametrize(("number", "service"), [(500, "svc-0450"), (1500, "svc-1400")])
def test_palette_finds_every_service_of_a_large_project(
    page: Page, shop_url: str, project: Project, number: int, service: str
) -> None:
    add_services(project, number)
    page.goto("/p/acme-shop/agents")
    search(page, "svc")
    services = page.get_by_role("group", name="Services")
    expect(services.get_by_role("option")).to_have_count(8)
    status = page.locator("#palette [role=status]")
    expect(status).to_have_text(f"{number - 8:,} more services match. Type more of the name.")
    assert violations(page) == []
    page.get_by_role("combobox", name="Search pages").fill(service[4:])
    expect(services.get_by_role("option")).to_have_text([service])
    expect(status).to_have_text("")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"flame\?service={service}"))


@pytest.mark.parametrize("path", ["flame", "breakdown", "compare"])
def test_the_service_menu_of_a_large_project_searches_all_services(
    page: Page, shop_url: str, project: Project, path: str
) -> None:
    add_services(project, 1500)
    page.goto(f"/p/acme-shop/{path}?service=checkout&span=6h")
    page.wait_for_load_state()
    menu = page.locator("form.picker select[name=service]")
    menu.select_option("Search all 1,501 services…")
    expect(page.get_by_role("combobox", name="Search services")).to_be_focused()
    expect(menu).to_have_value("checkout")
    page.keyboard.type("svc-14")
    expect(page.locator("#palette [role=option]")).to_have_count(50)
    status = page.locator("#palette [role=status]")
    expect(status).to_have_text("50 more services match. Type more of the name.")
    expect(status).to_be_in_viewport()
    page.keyboard.type("00")
    expect(page.locator("#palette [role=option]")).to_have_text(["svc-1400"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/{path}\?(?=.*service=svc-1400)(?=.*span=6h)"))
    expect(menu).to_have_value("svc-1400")
