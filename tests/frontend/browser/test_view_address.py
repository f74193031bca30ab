"""View state in the URL: each control changes only its own parameters."""

import re
from collections import Counter
from datetime import timedelta
from random import Random
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, Route, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.controls import check, parameters, used
from tests.frontend.browser.flame_page import option


def test_a_second_filter_keeps_the_first_one_and_the_metric(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?f=show:QuerySet&metric=cpu")
    page.locator("#add-filter summary").click()
    page.locator("[name='f.option']").select_option("hide")
    page.locator("[name='f.value']").fill("json.dumps")
    page.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip")).to_have_text(["Show stacks :QuerySet", "Hide stacks :json.dumps"])
    assert parameters(page.url) == {"f": ["show:QuerySet", "hide:json.dumps"], "metric": ["cpu"]}


def test_another_order_keeps_filters_and_metric(page: Page, shop_url: str) -> None:
    page.goto(f"{shop_url}?f=show:QuerySet&metric=cpu")
    option(page, "Order").select_option("name")
    expect(page.get_by_label("Order")).to_have_value("name")
    expect(page.locator(".chip")).to_have_text("Show stacks :QuerySet")
    expected = {"f": ["show:QuerySet"], "metric": ["cpu"], "order": ["name"]}
    assert parameters(page.url) == expected


def test_a_control_that_changes_before_the_scripts_are_there_is_not_lost(
    page: Page, shop_url: str
) -> None:
    waiting: list[Route] = []

    def delay(route: Route) -> None:
        waiting.append(route)

    page.route(re.compile(r"/shell/shell\.[^/]*js"), delay, times=1)
    page.goto(shop_url, wait_until="commit")
    option(page, "Order").select_option("name")
    page.locator("select[name=version]").select_option("2.31.0")
    assert parameters(page.url) == parameters(shop_url)
    (script,) = waiting
    script.continue_()
    page.wait_for_url("**order=name**")
    expect(page.get_by_label("Order")).to_have_value("name")
    expect(page.locator("select[name=version]")).to_have_value("2.31.0")
    assert parameters(page.url) == parameters(shop_url) | {"order": ["name"], "version": ["2.31.0"]}


COMMON = {
    "service": ["checkout"],
    "type": ["CPU"],
    "zone": ["europe-west1-b"],
    "version": ["2.31.0", "2.30.9"],
    "label.instance": ["a", "b"],
    "metric": ["samples"],
    "f": ["show:Thread", "hide:json", "from:ThreadWorker", "hideframes:orders", "highlight:/a|b/"],
    "search": ["QuerySet", "/(a|b)/"],
}
PAGES: dict[str, dict[str, list[str]]] = {
    "flame": {
        **COMMON,
        "weight": ["50", "10"],
        "weights": ["1..9000000000000"],
        "view": ["bottomup", "list"],
        "focus": ["QuerySet.get"],
        "order": ["name"],
        "recursion": ["folded"],
        "flip": ["bottom"],
        "sort": ["-self", "total", "name"],
        "colour": ["self", "total"],
        "all": ["1"],
    },
    "compare": {
        **COMMON,
        "b.version": ["", "2.30.9"],
        "b.zone": [""],
        "b.span": ["6h"],
        "b.end": ["now"],
        "weight": ["50"],
        "side": ["sides", "list"],
        "values": ["relative"],
        "real": ["1"],
        "sort": ["-total", "self", "name"],
        "all": ["1"],
    },
    "history": {
        **COMMON,
        "step": ["5m", "15m"],
        "function": ["QuerySet.get", "json.dumps"],
        "top": ["3", "1"],
        "values": ["percent"],
        "show": ["/Query/"],
        "hide": ["/json/"],
    },
    "profiles": {
        **COMMON,
        "order": ["heaviest"],
        "table": ["1"],
        "weights": ["1..9000000000000"],
        "pick_from": ["2026-01-01T00:00:00Z"],
    },
}
ADDRESSES = 4  # URLs per page; their parameters are drawn from the seed
METRICS = (("samples", "count"), ("cpu", "microseconds"))


@pytest.fixture
def versions_url(project: Project, url: str) -> str:
    """Store two versions and zones of a service with two metrics, and another service."""
    now = timezone.now()
    for version, zone in (("2.30.9", "europe-west1-c"), ("2.31.0", "europe-west1-b")):
        of = shop.deployment(project, zone=zone, version=version)
        shop.send(of, shop.minutes_before(now, 6), sample_types=METRICS)
    shop.send(shop.deployment(project, service="search"), shop.minutes_before(now, 2))
    return url.removesuffix("flame")


def drawn_address(seed: Random, pool: dict[str, list[str]]) -> str:
    pairs = []
    for name, values in pool.items():
        if seed.random() < 0.5:
            count = seed.randint(1, len(values)) if name in {"f", "function", "version"} else 1
            pairs += [(name, value) for value in seed.sample(values, count)]
    now = timezone.now().replace(microsecond=0)
    start, end = (now - timedelta(hours=2)).isoformat(), now.isoformat()
    pairs += seed.choice([[], [("span", "1h")], [("span", "6h"), ("end", end)]])
    if "span" not in dict(pairs) and seed.random() < 0.5:
        pairs += [("from", start), ("to", end)]
    if "pick_from" in dict(pairs):
        pairs[pairs.index(("pick_from", "2026-01-01T00:00:00Z"))] = ("pick_from", start)
        pairs.append(("pick_to", end))
    seed.shuffle(pairs)
    return urlencode(pairs)


@pytest.mark.parametrize("name", PAGES)
def test_every_control_changes_its_parameters_and_nothing_else(
    page: Page, versions_url: str, name: str
) -> None:
    seed = Random(name)
    kinds: Counter[str] = Counter()
    for _ in range(ADDRESSES):
        query = drawn_address(seed, PAGES[name])
        page.goto(f"{versions_url}{name}?{query}")
        page.wait_for_load_state("networkidle")
        for use in used(page):
            check(use, parameters(f"?{query}"))
            kinds[use.kind] += 1
    assert kinds["field"] >= 3 * ADDRESSES  # service, type, and another
    assert kinds["link"] >= 3 * ADDRESSES


def test_two_quick_changes_are_both_made(page: Page, versions_url: str) -> None:
    for name in ("flame", "history"):
        page.goto(f"{versions_url}{name}?f=show:QuerySet")
        page.evaluate(
            """() => {
                for (const [name, value] of [['zone', 'europe-west1-b'], ['version', '2.31.0']]) {
                    const menu = document.querySelector(`select[name=${name}]`);
                    menu.value = value;
                    menu.dispatchEvent(new Event('change', { bubbles: true }));
                }
            }"""
        )
        expect(page).to_have_url(re.compile("version="))
        expect(page.locator("select[name=version]")).to_have_value("2.31.0")
        expect(page.locator("select[name=zone]")).to_have_value("europe-west1-b")
        assert parameters(page.url) == {
            "f": ["show:QuerySet"],
            "zone": ["europe-west1-b"],
            "version": ["2.31.0"],
        }


def test_back_undoes_one_change_at_a_time(page: Page, versions_url: str) -> None:
    page.goto(f"{versions_url}flame?f=show:QuerySet")
    page.get_by_label("Metric").select_option("samples")
    expect(page.get_by_label("Metric")).to_have_value("samples")
    option(page, "Order").select_option("name")
    expect(page).to_have_url(re.compile("order=name"))
    expect(page.get_by_label("Order")).to_have_value("name")
    page.locator("#colours").select_option("self")
    expect(page).to_have_url(re.compile("colour=self"))
    for gone, order, metric in (
        ("colour", "name", "samples"),
        ("order", "", "samples"),
        ("metric", "", ""),
    ):
        page.go_back()
        expect(page).not_to_have_url(re.compile(f"{gone}="))
        expect(page.get_by_label("Order")).to_have_value(order)
        expect(page.get_by_label("Metric")).to_have_value(metric)
    expect(page.locator(".chip")).to_have_text("Show stacks :QuerySet")


def test_back_navigation_restores_controls_and_url(page: Page, versions_url: str) -> None:
    page.goto(f"{versions_url}compare?real=1")
    page.locator("select[name='version']").select_option("2.30.9")
    expect(page).to_have_url(re.compile(r"version=2\.30\.9"))
    page.wait_for_load_state()
    page.go_back()
    expect(page.locator("select[name='version']")).to_have_value("")
    page.locator("select[name='zone']").select_option("europe-west1-b")
    expect(page).to_have_url(re.compile("zone="))
    assert parameters(page.url) == {"real": ["1"], "zone": ["europe-west1-b"]}


def test_without_scripts_a_form_keeps_the_rest(
    browser: Browser, page: Page, versions_url: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{**each} for each in page.context.cookies()])  # type: ignore[typeddict-item]
    plain = context.new_page()
    plain.goto(f"{versions_url}flame?f=show:QuerySet&metric=samples&sort=total&colour=self")
    plain.locator("#add-filter summary").click()
    plain.locator("[name='f.value']").fill("json")
    plain.get_by_role("button", name="Add filter").click()
    other_params = {"metric": ["samples"], "sort": ["total"], "colour": ["self"]}
    assert parameters(plain.url) == {**other_params, "f": ["show:QuerySet", "show:json"]}
    plain.locator("#picker select[name=type]").select_option("CPU")
    plain.locator("#picker").get_by_role("button", name="Show", exact=True).click()
    found = parameters(plain.url)
    assert {name: found[name] for name in (*other_params, "f")} == {
        **other_params,
        "f": ["show:QuerySet", "show:json"],
    }
    assert found["type"] == ["CPU"]
    plain.get_by_role("link", name="List").click()
    plain.wait_for_url("**view=list**")
    assert parameters(plain.url) == {**found, "view": ["list"]}
    context.close()
