"""Labels on both sides of a comparison."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.frontend import labelled_shop, shop
from tests.frontend.browser.axe import violations
from tests.frontend.browser.flame_page import box, drawn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pods(project: Project, url: str) -> str:
    now = timezone.now()
    of = shop.deployment(project)
    for name, pay in (("pod-1", 200), ("pod-2", 500), ("pod-3", 800)):
        times = shop.minutes_before(now, 10)
        labelled_shop.send(of, times, labelled_shop.stacks(pay), {"instance": name})
    return url


def expect_pods(page: Page, baseline: str, selected: str) -> None:
    sides = page.locator(".picker fieldset")
    expect(sides.nth(0).locator(".chip")).to_have_text(re.compile(f"instance :\\s*{baseline}"))
    expect(sides.nth(1).locator(".chip")).to_have_text(re.compile(f"instance :\\s*{selected}"))
    expect(page.locator(".over")).to_contain_text(re.compile("10 profiles.*10 profiles", re.S))


def test_two_pods_are_compared_with_three_clicks_from_the_flame_graph(
    page: Page, pods: str
) -> None:
    page.goto(f"{pods}?service=checkout&span=1h")
    drawn(page)
    page.locator("#comparisons > summary").click()
    page.locator("#comparisons").get_by_role("link", name="pod-1").click()
    menu = page.locator("#labels-of-selected")
    expect(menu).to_have_attribute("open", "")
    assert violations(page) == []
    menu.get_by_role("link", name="pod-3").click()
    expect_pods(page, "pod-1", "pod-3")
    expect(menu).not_to_have_attribute("open", "")
    expect(page.locator("#changes .whole .up").first).to_have_text("+600 ms")


def test_two_pods_are_compared_with_three_clicks_on_the_compare_page(page: Page, pods: str) -> None:
    page.goto(f"{pods.replace('/flame', '/compare')}?service=checkout&span=1h&new=1")
    page.locator("#labels-of-baseline > summary").click()
    page.locator("#labels-of-baseline").get_by_role("link", name="pod-2").click()
    page.locator("#labels-of-selected").get_by_role("link", name="pod-1").click()
    expect_pods(page, "pod-2", "pod-1")
    page.get_by_role("link", name="Baseline: remove label instance pod-2").click()
    expect(page.locator(".picker fieldset").nth(0).locator(".chip")).to_have_count(0)
    expect(page.locator(".over")).to_contain_text(re.compile("30 profiles.*10 profiles", re.S))


def test_endpoints_are_offered_as_labels(page: Page, pods: str) -> None:
    page.goto(f"{pods}?service=checkout&span=1h")
    drawn(page)
    page.locator("#picker details[data-menu] > summary").filter(has_text="Label").click()
    field = page.locator("input[name='sample.endpoint']")
    listed = page.locator(f"#{field.get_attribute('list')} option")
    expect(listed).to_have_count(2)
    field.fill("/pay")
    field.press("Enter")
    expect(page.locator(".chip[data-label='sample.endpoint']")).to_contain_text("/pay")
    expect(page.locator("#functions tbody tr").first).to_contain_text("100%")


def test_compare_keeps_the_samples_of_an_endpoint_on_both_sides(page: Page, pods: str) -> None:
    page.goto(f"{pods}?service=checkout&span=1h&sample.endpoint=%2Fpay")
    drawn(page)
    page.locator(".nav").get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"/compare\?(?=.*[?&]sample\.endpoint=%2Fpay(&|$))"))
    sides = page.locator(".picker fieldset")
    for side in (sides.nth(0), sides.nth(1)):
        expect(side.locator(".chip")).to_have_text(re.compile(r"endpoint :\s*/pay"))
    untested = page.locator(".over .untested")
    expect(untested).to_have_text("No intervals: samples selected by their labels are not tested.")
    expect(page.locator(".over")).not_to_contain_text("Not enough profiles")
    expect(page.locator("#changes tbody")).to_contain_text("shop.pay")
    expect(page.locator("#changes tbody")).not_to_contain_text("shop.list")
    facts, sentence = page.locator(".over .facts").bounding_box(), untested.bounding_box()
    assert facts
    assert sentence
    assert sentence["y"] - (facts["y"] + facts["height"]) < 4, "no empty line between them"


@pytest.mark.parametrize("restriction", ["", "&f=hideframes%3ARule", "&f=hide%3Ashop.list"])
def test_percentages_of_an_endpoint_refer_to_the_total_of_its_graph(
    page: Page, project: Project, url: str, restriction: str
) -> None:
    stacks = {
        ("/pay", (labelled_shop.MAIN, labelled_shop.PAY, labelled_shop.RULE)): 300_000,
        ("/pay", (labelled_shop.MAIN, labelled_shop.LIST)): 100_000,
        ("/list", (labelled_shop.MAIN, labelled_shop.LIST)): 400_000,
    }
    times = shop.minutes_before(timezone.now(), 3)
    labelled_shop.send(shop.deployment(project), times, stacks)
    page.goto(f"{url}?service=checkout&span=1h&sample.endpoint=%2Fpay{restriction}")
    drawn(page)
    share = box(page, "shop.pay")["share"]
    assert share == ("100%" if "list" in restriction else "75%")
    row = page.locator("#functions tbody tr", has_text="shop.pay")
    expect(row).to_contain_text(share)
