"""Tasks of a working day, from the list of services to the answer, each within five clicks."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, expect

from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from projects.models import Agent, Deployment, Project, User
from projects.profile_types import ProfileType
from scheduler import user_captures
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.models import UserCapture
from tests.frontend import labelled_shop, shop
from tests.frontend.browser.clicks import Clicks
from tests.frontend.browser.flame_page import drawn
from tests.server import PASSWORD, running_server

pytestmark = pytest.mark.django_db(transaction=True)
OLD, NEW = "2.30.4", "2.31.0"
RULE = "Rule.matches"
SLOW_INSTANCE = "web-3"
TOTALS = "graph => graph.tree.total[0]"
NAMES = "graph => graph.boxes.map(box => box.name)"


def endpoint_of(stack: tuple[shop.Frame, ...]) -> str:
    names = [name for name, _file in stack]
    if "CheckoutView.post" in names:
        return "/checkout"
    return "/search" if "rank.score_all" in names else ""


def stacks_of(version: str, instance: str) -> labelled_shop.EndpointStacks:
    """Return the shop's stacks: the rules are slower in the new version, an instance in both."""
    factor = 2 if instance == SLOW_INSTANCE else 1
    found = {}
    for stack, value in shop.STACKS.items():
        more = 300_000 if version == NEW and stack[-1][0] == RULE else 0
        found[endpoint_of(stack), stack] = (value + more) * factor
    return found


@pytest.fixture
def checkout(project: Project) -> dict[str, Deployment]:
    """Store three hours of `checkout` on four instances; the last hour is of the new version."""
    now = timezone.now()
    found = {version: shop.deployment(project, version=version) for version in (OLD, NEW)}
    for version, first, last in ((NEW, 1, 60), (OLD, 60, 180)):
        for number in range(4):
            times = [now - timedelta(minutes=each) for each in range(first + number, last, 4)]
            instance = f"web-{number}"
            labelled_shop.send(
                found[version], times, stacks_of(version, instance), {"instance": instance}
            )
    return found


@pytest.fixture
def begin(
    page: Page, alice: User, project: Project, sign_in: Callable[[User], None]
) -> Callable[[], Clicks]:
    """Return a function that opens the list of services, where each task begins."""

    def begin() -> Clicks:
        sign_in(alice)
        page.goto(f"/p/{project.project_id}/services")
        return Clicks(page)

    return begin


def open_service(clicks: Clicks, name: str = "checkout") -> Page:
    clicks.click(clicks.page.locator("a.name", has_text=name))
    clicks.page.wait_for_url("**/flame?**")
    return clicks.page


def choose_range(clicks: Clicks, name: str) -> None:
    menu = clicks.page.locator("#range-menu")
    clicks.click(menu.locator("> summary"))
    clicks.click(menu.get_by_role("link", name=name, exact=True))


def functions(page: Page) -> Locator:
    return page.locator("#functions a.fn")


@pytest.mark.usefixtures("checkout")
def test_find_the_hottest_function_of_the_last_two_hours(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    choose_range(clicks, "2 hours")
    expect(clicks.page.locator("#summary")).to_contain_text("profiles in the last 2 hours")
    page = open_service(clicks)
    expect(page.locator("#range-menu > summary")).to_contain_text("2 hours")
    expect(page.locator(".over")).to_contain_text(re.compile(r"1(19|20) profiles, merged"))
    row = page.locator("#functions tbody tr").first
    expect(row).to_contain_text(RULE)
    expect(row).to_contain_text(re.compile(r"\d+ ms"))


@pytest.mark.usefixtures("checkout")
def test_tell_whether_the_new_version_is_slower_and_where(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    clicks.click(page.locator("#comparisons > summary"))
    clicks.click(page.get_by_role("link", name=f"Previous version ({OLD})"))
    page.wait_for_url("**/compare?**")
    sides = page.locator(".picker fieldset.pair")
    assert [side.locator('select[name$="version"]').input_value() for side in sides.all()] == [
        OLD,
        NEW,
    ]
    expect(page.locator(".over")).to_contain_text(re.compile(r"Total: \+3\d\d ms"))
    expect(page.locator(".over")).to_contain_text(re.compile(r"\d significant change"))
    clicks.click(page.get_by_role("button", name="Significant changes only"))
    page.wait_for_url("**real=1**")
    expect(page.locator("#changes tbody tr").first).to_contain_text("Total")
    first = page.locator("#changes tbody tr").nth(1)  # the largest increase, below the total
    expect(first).to_contain_text(RULE)
    expect(first.locator(".up").first).to_contain_text("+")


@pytest.mark.usefixtures("checkout")
def test_see_who_calls_a_function(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    clicks.click(functions(page).filter(has_text="QuerySet.get"))
    page.wait_for_url("**focus=QuerySet.get**")
    expect(page.locator("#focus")).to_contain_text("QuerySet.get")
    drawn(page)
    callers = page.locator("#callers").evaluate(NAMES)
    assert {"pricing.quote", "rank.score_all"} <= {*callers}


@pytest.mark.usefixtures("checkout")
def test_see_since_when_a_function_is_slow(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    choose_range(clicks, "2 hours")
    page = open_service(clicks)
    clicks.right_click(functions(page).filter(has_text=RULE))
    clicks.click(page.get_by_role("menuitem", name="Show history"))
    page.wait_for_url("**/history?**")
    expect(page.locator("thead").first).to_contain_text(f"Self since {NEW}")
    line = page.locator("tbody").first.locator("tr")
    expect(line).to_have_count(1)
    expect(line).to_contain_text(RULE)
    expect(line.locator(".up")).to_contain_text("+")
    expect(page.get_by_role("link", name=f"Compare {NEW} with {OLD}")).to_be_visible()


@pytest.mark.usefixtures("checkout")
def test_follow_a_function_over_time(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    clicks.click(functions(page).filter(has_text="rank.score_all"))
    series = page.locator("#over-time .series li:not(.counts)")
    expect(series).to_have_text([re.compile("CPU time"), re.compile("rank.score_all")])
    clicks.click(page.locator("#over-time-data summary"))
    heads = page.locator("#over-time-data thead")
    expect(heads).to_contain_text(re.compile(r"From.*Profiles.*CPU time.*rank", re.DOTALL))
    last = page.locator("#over-time-data tbody tr").last
    expect(last).to_contain_text(re.compile(r"\d s.*\d ms", re.DOTALL))


@pytest.mark.usefixtures("checkout")
def test_find_the_endpoint_that_costs_most(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    clicks.click(page.get_by_role("link", name="Breakdown", exact=True))
    clicks.choose(page.get_by_label("Group by"), "sample.endpoint")
    page.wait_for_url("**group_by=sample.endpoint**")
    first = page.locator("table.values tbody tr").first
    expect(first).to_contain_text("/checkout")
    expect(first).to_contain_text("%")
    clicks.click(first.get_by_role("link", name="Flame graph of /checkout"))
    page.wait_for_url("**sample.endpoint=%2Fcheckout**")
    expect(functions(page).first).to_have_text(RULE)
    expect(functions(page).filter(has_text="rank.score_all")).to_have_count(0)


@pytest.mark.usefixtures("checkout")
def test_find_the_instance_that_differs(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    clicks.click(page.get_by_role("link", name="Breakdown", exact=True))
    clicks.choose(page.get_by_label("Group by"), "label.instance")
    page.wait_for_url("**group_by=label.instance**")
    clicks.click(page.locator("table.values").get_by_role("link", name="Mean"))
    page.wait_for_url("**sort=mean**")
    rows = page.locator("table.values tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text(SLOW_INSTANCE)
    clicks.click(rows.first.get_by_role("link", name=f"Flame graph of {SLOW_INSTANCE}"))
    page.wait_for_url(f"**label.instance={SLOW_INSTANCE}**")
    drawn(page)


@pytest.mark.usefixtures("checkout")
def test_share_a_view_with_a_colleague(
    begin: Callable[[], Clicks],
    browser: Browser,
    browser_context_args: dict[str, object],
    bob: User,
    sign_in: Callable[[User], None],
) -> None:
    clicks = begin()
    page = open_service(clicks)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    clicks.click(functions(page).filter(has_text="QuerySet.get"))
    expect(page.locator("#focus")).to_contain_text("QuerySet.get")
    boxes = drawn(page)
    over = page.locator(".over .line").first.inner_text().split(",")[0]
    clicks.click(page.locator("#links > summary"))
    clicks.click(page.get_by_role("button", name="Copy absolute link"))
    expect(page.locator("#said")).to_contain_text("Link copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")

    sign_in(bob)
    colleague = browser.new_context(**browser_context_args)  # type: ignore[arg-type]
    colleague.add_cookies([{**each} for each in page.context.cookies()])  # type: ignore[typeddict-item]
    shown = colleague.new_page()
    shown.goto(copied)
    assert drawn(shown) == boxes
    expect(shown.locator(".over .line").first).to_contain_text(over)
    expect(shown.locator("#focus")).to_contain_text("QuerySet.get")
    colleague.close()


@pytest.mark.usefixtures("checkout")
def test_download_what_is_shown(begin: Callable[[], Clicks], tmp_path: Path) -> None:
    clicks = begin()
    page = open_service(clicks)
    drawn(page)
    clicks.click(page.locator("summary", has_text="Download"))
    with page.expect_download() as download:
        clicks.click(page.get_by_role("link", name=re.compile(r"pprof")))
    assert re.match(r"profiler_checkout_CPU_.*\.pb\.gz$", download.value.suggested_filename)
    path = tmp_path / "checkout.pb.gz"
    download.value.save_as(path)
    decoded = decode_profile(gunzip(path.read_bytes(), 2**20), ProfileType.CPU, DecodeLimits())
    shown = page.locator("#graph").evaluate(TOTALS)
    assert decoded.totals[decoded.default] == pytest.approx(shown, rel=1e-9)


@pytest.mark.usefixtures("checkout")
def test_search_a_function_and_step_through_its_matches(begin: Callable[[], Clicks]) -> None:
    clicks = begin()
    page = open_service(clicks)
    drawn(page)
    page.keyboard.press("/")
    page.keyboard.type("Cursor.execute")
    found, chosen = page.locator("#found"), page.locator("#frame-bar [data-bar=name]")
    expect(found).to_contain_text("1 of 2 matches")
    expect(chosen).to_have_text("Cursor.execute")
    first = page.locator("#graph .mark").bounding_box()
    clicks.click(page.get_by_role("button", name="Next match"))
    expect(found).to_contain_text("2 of 2 matches")
    expect(chosen).to_have_text("Cursor.execute")
    assert page.locator("#graph .mark").bounding_box() != first
    expect(page).to_have_url(re.compile("search=Cursor.execute"))


def test_capture_now_and_open_the_profile(
    begin: Callable[[], Clicks],
    checkout: dict[str, Deployment],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, now = checkout[NEW], timezone.now()
    target = CaptureTarget(of.project_id, of.pk, frozenset({ProfileType.CPU}), 1)
    monkeypatch.setattr(InProcessQueue, "targets", lambda _: [target])
    agent = Agent.objects.create(
        deployment=of, identity="a", hostname="web-1", types=["CPU"], first_seen=now, last_seen=now
    )
    clicks = begin()
    page = open_service(clicks)
    clicks.click(page.get_by_role("button", name="Capture now"))
    page.wait_for_url("**capture=*")
    card = page.get_by_role("region", name="Requested capture")
    expect(card).to_contain_text("CPU time of checkout: capture queued")
    send_requested(of, agent, now - timedelta(seconds=10))
    clicks.click(card.get_by_role("link", name="Open profile"))
    page.wait_for_url("**profile=*")
    expect(page.locator(".over")).to_contain_text(re.compile(r"1 profile\b"))
    drawn(page)


def send_requested(of: Deployment, agent: Agent, began: datetime) -> None:
    """Answer the only request as an agent does: claim it, then send a profile."""
    name = f"{of.pk}-CPU-{began.isoformat()}"
    user_captures.note_claim(UserCapture.objects.get().request, agent.pk, name, began)
    shop.send(of, [began])


def test_leave_an_empty_range_for_the_data(begin: Callable[[], Clicks], project: Project) -> None:
    reported = timezone.now() - timedelta(hours=5)
    shop.send(shop.deployment(project, "reports"), shop.minutes_before(reported, 30))
    clicks = begin()
    page = open_service(clicks, "reports")
    choose_range(clicks, "1 hour")
    expect(page.get_by_role("heading", name="No CPU time profiles in this range")).to_be_visible()
    clicks.click(page.get_by_role("link", name="Earlier:"))
    expect(page.locator(".over")).to_contain_text(re.compile(r"\d+ profiles, merged"))
    drawn(page)
    expect(functions(page).first).to_have_text(RULE)


def test_find_the_allocation_that_grew_between_two_versions(
    begin: Callable[[], Clicks], project: Project
) -> None:
    main, cache = ("main", "/app/shop/main.py"), ("sessions.remember", "/app/shop/sessions.py")
    load = ("catalog.load", "/app/shop/catalog.py")
    now = timezone.now()
    for version, until, constant in ((OLD, now - timedelta(hours=1), 40_000_000), (NEW, now, None)):
        of = shop.deployment(project, version=version, types=(ProfileType.HEAP,))
        for number, time in enumerate(shop.minutes_before(until, 40)):
            grown = constant or 90_000_000 - number * 100_000
            stacks: shop.FrameStacks = {(main, load): 64_000_000 + number % 3, (main, cache): grown}
            shop.send(of, [time], stacks, ProfileType.HEAP, (("inuse_space", "bytes"),))
    clicks = begin()
    page = open_service(clicks)
    clicks.click(page.locator("#comparisons > summary"))
    clicks.click(page.get_by_role("link", name=f"Previous version ({OLD})"))
    page.wait_for_url("**/compare?**type=HEAP**")
    expect(page.locator("#changes tbody tr").first).to_contain_text("Total")
    first = page.locator("#changes tbody tr").nth(1)  # the largest increase, below the total
    expect(first).to_contain_text("remember")
    expect(first.locator(".up").first).to_contain_text("+")
    expect(first).to_contain_text(re.compile(r"38\.1 MiB.*84 MiB", re.DOTALL))
    expect(page.locator("#changes tbody tr", has_text="load").locator(".up")).to_have_count(0)


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """Run a server with all endpoints, which also serves images without a session."""
    with running_server() as server:
        tenant = server.add_tenant("Acme Shop", "alice@example.org")
        imported = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "checkout", "version": NEW, "type": "CPU", "unit": "milliseconds"},
            content="main;serve;render 60\nmain;serve;query;execute 90\n",
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert imported.is_success, imported.text
        yield server.url


def test_embed_an_image_in_a_dashboard(page: Page, server_url: str) -> None:
    page.goto(f"{server_url}/account/login/?next=/p/acme-shop/services")
    page.get_by_label("E-mail").fill("alice@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    clicks = Clicks(page)
    open_service(clicks)
    clicks.click(page.locator("summary", has_text="Share"))
    clicks.click(page.get_by_role("link", name="Embed…"))
    clicks.click(page.get_by_role("button", name="Create image URL"))
    image = page.get_by_role("img", name="Flame graph of checkout")
    expect(image).to_be_visible()
    path = str(image.get_attribute("src"))
    assert path in page.locator("#embed-url").inner_text()
    without_session = httpx.get(f"{server_url}{path}")
    assert without_session.status_code == 200
    assert ">execute<" in without_session.text
