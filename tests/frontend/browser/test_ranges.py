"""Time ranges: chosen once, carried by every link, picked in a calendar, never a dead end."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from projects.models import Deployment, Project, User
from tests.frontend import shop
from tests.frontend.browser.flame_page import drawn

pytestmark = pytest.mark.django_db(transaction=True)
LENGTHS = (
    *("15 minutes", "1 hour", "2 hours", "6 hours", "12 hours"),
    *("1 day", "2 days", "7 days", "14 days", "30 days"),
)


@pytest.fixture
def hours_ago(project: Project, url: str) -> str:
    """Store the shop's profiles of five to six hours ago; return the flame page's URL."""
    shop.send(shop.deployment(project), times_before(timezone.now() - timedelta(hours=5), 30))
    return url


def times_before(moment: datetime, count: int) -> list[datetime]:
    return shop.minutes_before(moment.replace(microsecond=0), count)


def open_menu(page: Page) -> None:
    page.locator("#range-menu > summary").click()


def test_a_service_opens_with_the_range_that_the_list_shows(page: Page, hours_ago: str) -> None:
    page.goto(hours_ago.replace("/flame", "/services"))
    expect(page.locator("#summary")).to_contain_text("30 profiles in the last 24 hours")
    page.locator("a.name", has_text="checkout").click()
    page.wait_for_url("**/flame?service=checkout&type=CPU&span=1d")
    expect(page.locator(".over")).to_contain_text("30 profiles, merged")
    for name, path, own in (
        ("History", "history", ""),
        ("Compare", "compare", "&b.end=now"),  # a new comparison
        ("Profiles", "profiles", ""),
    ):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(f"**/{path}?service=checkout&type=CPU&span=1d{own}")
    page.get_by_role("link", name="Agents", exact=True).click()
    page.wait_for_url("**/agents?span=1d")
    page.get_by_role("link", name="Flame graph", exact=True).click()
    page.wait_for_url("**/flame?span=1d")
    expect(page.locator(".over")).to_contain_text("30 profiles, merged")


def test_links_follow_a_range_that_is_chosen_on_the_page(page: Page, hours_ago: str) -> None:
    page.goto(hours_ago)
    open_menu(page)
    page.locator("#range-menu").get_by_role("link", name="12 hours").click()
    expect(page.locator(".over")).to_contain_text("30 profiles, merged")
    expect(page.locator("#range-menu > summary")).to_contain_text("12 hours")
    services = page.get_by_role("link", name="Services", exact=True)
    expect(services).to_have_attribute("href", re.compile(r"/services\?span=12h$"))
    services.click()
    expect(page.locator("#summary")).to_contain_text("30 profiles in the last 12 hours")


def test_range_menu_lists_the_default_lengths_and_the_present_one(
    page: Page, shop_url: str
) -> None:
    page.goto(f"{shop_url}?span=5m")  # of an older link
    open_menu(page)
    lengths = page.locator("#range-menu .lengths a")
    expect(lengths).to_have_text(["5 minutes", *LENGTHS])
    expect(lengths.first).to_have_attribute("aria-current", "true")


def test_a_custom_range_is_local_in_the_page_and_utc_in_the_address(
    page: Page, shop_url: str
) -> None:
    page.goto(shop_url)
    open_menu(page)
    menu = page.locator("#range-menu")
    day = timezone.now().date() - timedelta(days=3)
    menu.get_by_label("From", exact=True).fill(f"{day}T09:30")  # Berlin, in winter (UTC+1)
    menu.get_by_label("Until", exact=True).fill(f"{day}T11:00")
    menu.get_by_role("button", name="Show range").click()
    expect(page).to_have_url(re.compile(rf"from={day}T08%3A30%3A00Z&to={day}T10%3A00%3A00Z$"))
    expect(menu.locator("summary")).to_contain_text(re.compile(r"09:30.*11:00", re.DOTALL))
    expect(menu.get_by_label("From", exact=True)).to_have_value(f"{day}T09:30")


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (-2, -3, "The start has to be before the end."),
        (24, 48, "This range is in the future."),
        (-24 * 90, -24 * 80, "Profiles are kept for 30 days"),
    ],
)
def test_impossible_range_is_explained(
    page: Page, shop_url: str, start: int, end: int, text: str
) -> None:
    page.goto(shop_url)
    open_menu(page)
    menu = page.locator("#range-menu")
    now = timezone.now()
    for label, hours in (("From", start), ("Until", end)):
        menu.get_by_label(label, exact=True).fill(f"{now + timedelta(hours=hours):%Y-%m-%dT%H:%M}")
    menu.get_by_label("Until", exact=True).press("Enter")
    expect(menu.get_by_role("alert")).to_contain_text(text)
    assert "from=" not in page.url
    query = {"from": now + timedelta(hours=start), "to": now + timedelta(hours=end)}
    page.goto(f"{shop_url}?" + "&".join(f"{k}={v:%Y-%m-%dT%H:%M:%SZ}" for k, v in query.items()))
    expected = {-2: "A range has to start before it ends."}.get(start, text)
    expect(page.locator("#flame-notes")).to_contain_text(expected)


def test_the_calendar_marks_days_with_profiles_and_selects_one(
    page: Page, project: Project, url: str
) -> None:
    noon = timezone.now().replace(hour=12, minute=0, second=0) - timedelta(days=9)
    shop.send(shop.deployment(project), times_before(noon, 5))
    page.goto(url)
    open_menu(page)
    calendar = page.locator("#range-menu .calendar")
    day = calendar.locator(f"[data-day='{noon:%Y-%m-%d}']")
    expect(calendar.locator("button[data-day]").first).to_be_visible()
    expect(page.locator("#range-menu .calendar p")).to_have_text("Days with profiles have a dot.")
    while not day.count():
        calendar.get_by_role("button", name="Previous month").click()
    expect(day).to_have_class("full")
    expect(day).to_have_attribute("aria-label", re.compile("has profiles$"))
    expect(calendar.locator("button.full")).to_have_count(1)
    day.click()
    expect(day).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Show range").click()
    expect(page.locator(".over")).to_contain_text("5 profiles, merged")
    start = noon.date() - timedelta(days=1)
    expect(page).to_have_url(re.compile(rf"from={start}T23%3A00%3A00Z&to={noon:%F}T23%3A00%3A00Z"))


def test_an_empty_range_keeps_the_chart_and_leads_to_profiles(page: Page, hours_ago: str) -> None:
    page.goto(f"{hours_ago}?span=15m")
    expect(page.get_by_role("heading", level=2)).to_have_text("No CPU time profiles in this range")
    expect(page.locator("#strip canvas")).to_be_visible()
    page.get_by_role("link", name="Earlier:").click()
    expect(page.locator(".over")).to_contain_text("15 profiles, merged")
    drawn(page)
    before = timezone.now() - timedelta(hours=9)
    page.goto(f"{hours_ago}?span=15m&end={before:%Y-%m-%dT%H:%M:%SZ}")
    page.get_by_role("link", name="Later:").click()
    expect(page.locator(".over")).to_contain_text("15 profiles, merged")


@pytest.mark.parametrize(("path", "chart"), [("history", "history-chart"), ("profiles", "#map")])
def test_history_and_profiles_keep_their_charts(
    page: Page, hours_ago: str, path: str, chart: str
) -> None:
    page.goto(hours_ago.replace("/flame", f"/{path}?span=1h"))
    expect(page.locator(chart)).to_be_visible()
    page.get_by_role("link", name="Earlier:").click()
    expect(page.get_by_role("heading", name="No CPU time profiles in this range")).to_have_count(0)
    expect(page.locator(chart).first).to_be_visible()


def test_version_label_is_at_the_time_of_its_first_profile(
    page: Page, shop_url: str, project: Project
) -> None:
    agent_came = timezone.now() - timedelta(hours=3)
    Deployment.objects.filter(project=project).update(first_seen=agent_came)
    page.goto(shop_url)
    drawn(page)
    strip = page.locator("#strip")
    plot = strip.evaluate("strip => JSON.parse(strip.dataset.plot)")
    [(first, version)] = plot["versions"]
    assert version == "2.31.0"
    assert abs(first - (timezone.now() - timedelta(minutes=30)).timestamp()) < 60


def visit_as(
    browser: Browser, page: Page, language: str, address: str, zone: str = "Europe/Berlin"
) -> Page:
    """Open a page in a browser of another region, with the same session."""
    other = browser.new_context(
        locale=language, timezone_id=zone, viewport={"width": 1280, "height": 900}
    )
    other.add_cookies([{**each} for each in page.context.cookies()])  # type: ignore[typeddict-item]
    shown = other.new_page()
    shown.goto(address)
    return shown


@pytest.mark.parametrize(
    ("language", "clock"),
    [
        ("en-US", r"\d:\d\d\s(AM|PM)"),
        ("en-GB", r"\d\d:\d\d(?!\s?[AaPp])"),
        ("de-DE", r"\d\d:\d\d(?!\s?[AaPp])"),  # an English page in a German browser
    ],
)
def test_clock_format_follows_the_locale_of_the_browser(
    browser: Browser, page: Page, shop_url: str, language: str, clock: str
) -> None:
    shown = visit_as(browser, page, language, shop_url)
    expect(shown.locator("#range time").first).to_have_text(re.compile(rf"{clock}$"))
    strip = shown.locator("#strip")
    strip.focus()
    strip.press("End")
    expect(strip.locator(".readout b")).to_have_text(re.compile(rf"{clock}$"))
    shown.goto(shop_url.replace("/flame", "/profiles"))
    expect(shown.locator("svg.heat .times text").first).to_have_text(re.compile(clock))
    shown.context.close()


@pytest.mark.parametrize("language", ["en-US@posix", ""])  # the first: Linux without a locale
def test_page_works_with_an_invalid_language_of_the_browser(
    page: Page, shop_url: str, language: str
) -> None:
    get = f"configurable: true, get: () => {json.dumps(language)}"
    page.add_init_script(f"Object.defineProperty(navigator, 'language', {{ {get} }})")
    page.goto(shop_url)
    drawn(page)
    expect(page.locator("#range time").first).to_have_text(re.compile(r"\d:\d\d"))
    page.locator("#range-menu > summary").click()
    expect(page.locator("#range-menu .calendar button[data-day]").first).to_be_visible()
    page.goto(shop_url.replace("/flame", "/history"))
    expect(page.locator(".uplot").first).to_be_visible()


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland"])
@pytest.mark.parametrize("span", ["7d", "1d"])
def test_times_below_the_heat_map_are_round_in_the_time_zone_of_the_browser(
    browser: Browser, page: Page, shop_url: str, zone: str, span: str
) -> None:
    address = f"{shop_url.replace('/flame', '/profiles')}?service=checkout&span={span}"
    shown = visit_as(browser, page, "en-GB", address, zone)
    axis = shown.locator("svg.heat .times")
    start, end = (
        datetime.fromisoformat(axis.get_attribute(name) or "") for name in ("data-from", "data-to")
    )
    labels = axis.locator("text")
    assert labels.count() >= 2
    for label in labels.all():
        share = float((label.get_attribute("x") or "").removesuffix("%")) / 100
        second = round((start + share * (end - start)).timestamp() / 300) * 300
        time = datetime.fromtimestamp(second, ZoneInfo(zone))
        text = f"{time:%a} {time.day}" if span == "7d" else f"{time:%H}:00"
        expect(label).to_have_text(text)
        assert (time.hour % (24 if span == "7d" else 6), time.minute) == (0, 0)
    shown.context.close()


def test_numbers_follow_the_locale_of_the_browser(
    browser: Browser, page: Page, shop_url: str, project: Project, alice: User
) -> None:
    stacks: shop.FrameStacks = {((f"f{i}", "f.py"),): 1_000 + i for i in range(1_200)}
    shop.send(shop.deployment(project, service="wide"), times_before(timezone.now(), 2), stacks)
    shown = visit_as(browser, page, "es-ES", f"{shop_url}?service=wide")
    drawn(shown)
    expect(shown.locator("#crumbs .push")).to_contain_text("1.200")
    expect(shown.locator(".over")).to_contain_text("1,92 s")
    expect(shown.locator("body")).to_contain_text("2,2 ms")
    shown.context.close()


def test_a_range_is_chosen_without_scripts(
    browser: Browser, page: Page, hours_ago: str, sign_in: Callable[[User], None]
) -> None:
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies([{**each} for each in page.context.cookies()])  # type: ignore[typeddict-item]
    shown = plain.new_page()
    shown.goto(f"{hours_ago}?version=2.31.0")
    shown.locator("#range-menu > summary").click()
    shown.locator("#range-menu").get_by_role("link", name="12 hours").click()
    expect(shown.locator(".over")).to_contain_text("30 profiles, merged")
    shown.locator("#range-menu > summary").click()
    day = timezone.now().date() - timedelta(days=3)
    shown.get_by_label("From", exact=True).fill(f"{day}T09:30")
    shown.get_by_label("Until", exact=True).fill(f"{day}T11:00")
    shown.locator("#picker").get_by_role("button", name="Show", exact=True).click()
    expect(shown).to_have_url(re.compile(rf"from={day}T09%3A30&to={day}T11%3A00"))
    assert "version=2.31.0" in shown.url
    assert "span=" not in shown.url
    plain.close()
