"""Simplified Chinese in the browser: choice, dates, fonts and narrow windows."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.every_page import P, furnish

pytestmark = pytest.mark.django_db(transaction=True)
MAIN_PAGES = (
    "/account/language",
    "/help/concepts",
    "/projects/new",
    f"{P}/services",
    f"{P}/flame?service=checkout&type=CPU&span=1d",
    f"{P}/compare?service=checkout&type=CPU&span=1d",
    f"{P}/history?service=checkout&type=CPU&span=1d",
    f"{P}/profiles?service=checkout&type=CPU&span=1d",
    f"{P}/agents",
    f"{P}/settings",
    f"{P}/setup",
)
OVERFLOW = """() => [...document.querySelectorAll('body *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && each.checkVisibility())
  .map((each) => `${each.tagName}.${each.className}: ${each.textContent.trim().slice(0, 40)}`)"""


@pytest.fixture
def shop_page(page: Page, project: Project, alice: User, sign_in: Callable[[User], None]) -> Page:
    """Return a page of alice, whose project has data of the last day."""
    furnish(project, alice, timezone.now())
    sign_in(alice)
    return page


def test_chinese_is_selected_on_the_account_page(shop_page: Page) -> None:
    shop_page.goto("/account/language")
    shop_page.get_by_label("Language").select_option(label="简体中文")
    shop_page.get_by_role("button", name="Save language").click()
    expect(shop_page.get_by_text("语言已保存")).to_be_visible()
    html = shop_page.locator("html")
    expect(html).to_have_attribute("lang", "zh-Hans")
    fonts = html.evaluate("html => getComputedStyle(html).getPropertyValue('--sans')")
    system_fonts = {"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC"}
    assert system_fonts <= set(re.findall('"(.*?)"', fonts))
    shop_page.goto(f"{P}/flame?service=checkout&type=CPU&span=1d")
    expect(html).to_have_attribute("lang", "zh-Hans")
    expect(shop_page.get_by_role("link", name="火焰图").first).to_be_visible()
    expect(shop_page.locator("#range time").first).to_have_text(re.compile(r"\d+月\d+日"))


def test_dates_are_chinese_with_and_without_scripts(
    browser: Browser,
    page: Page,
    project: Project,
    alice: User,
    sign_in: Callable[[User], None],
    base_url: str,
) -> None:
    deployment = shop.deployment(project)
    shop.send(deployment, shop.minutes_before(timezone.now() - timedelta(hours=1), 3), shop.STACKS)
    sign_in(alice)
    found = {}
    for scripts in (True, False):
        context = browser.new_context(
            base_url=base_url,
            locale="zh-CN",
            timezone_id="UTC",
            java_script_enabled=scripts,
            storage_state=page.context.storage_state(),
        )
        shown = context.new_page()
        shown.goto(f"{P}/flame?service=checkout&type=CPU&span=1d")
        found[scripts] = shown.locator("#range time").first.inner_text()
        context.close()
    assert re.fullmatch(r"\d+月\d+日星期[一二三四五六日] \d\d:\d\d", found[False])
    assert re.fullmatch(r"\d+月\d+日 \d\d:\d\d", found[True])


def test_chinese_pages_do_not_overflow_a_narrow_window(
    browser: Browser, shop_page: Page, base_url: str
) -> None:
    context = browser.new_context(
        base_url=base_url,
        locale="zh-CN",
        viewport={"width": 390, "height": 844},
        storage_state=shop_page.context.storage_state(),
    )
    shown = context.new_page()
    wide = {}
    for address in MAIN_PAGES:
        shown.goto(address)
        expect(shown.locator("html")).to_have_attribute("lang", "zh-Hans")
        shown.wait_for_load_state("networkidle")
        if shown.evaluate("document.documentElement.scrollWidth") > 390:
            wide[address] = shown.evaluate(OVERFLOW)
    context.close()
    assert wide == {}
