"""`/p/<project>/settings/prices`: who sees and changes them, and what pages show afterwards."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from findings.hourly_sums.storage import compute_half_day, last_complete_end
from findings.models import FindingState, HourlySums
from profiles.models import Profile
from profiles.query import QueryContext
from projects.models import Agent, Deployment, Member, Project, Role, User
from projects.prices import PriceList, change_prices, load_price_list
from projects.profile_types import ProfileType
from tests.findings.factory import MS, add_detection, add_finding
from tests.frontend.html import render_html
from tests.profiles import rows

pytestmark = pytest.mark.django_db
PRICES = "/p/acme-shop/settings/prices"
SERVICES = "/p/acme-shop/services"
FINDINGS = "/p/acme-shop/findings"
FORM = {
    "currency": "EUR",
    "core_hour": "0.034",
    "gib_hour": "0.004",
    "zone:eu-1": "",
    "zone:us-1": "0.05",
    "watts_per_core": "7",
    "power_usage_effectiveness": "1.7",
    "kg_co2_per_kwh": "0.379",
}


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User) -> None:
    client.force_login(alice)


def test_prices_of_zones_are_asked_for_and_saved(client: Client, project: Project) -> None:
    for zone in ("eu-1", "us-1", ""):
        rows.deployment(project, zone=zone)
    page = render_html(client.get(PRICES))
    assert 'name="zone:eu-1"' in page
    assert 'name="zone:us-1"' in page
    assert 'name="zone:"' not in page
    assert client.post(PRICES, FORM).status_code == 302
    assert load_price_list(project.pk) == PriceList("EUR", 0.034, 0.004, {"us-1": 0.05})
    page = render_html(client.get(PRICES))
    assert "A core costs €24.8 a month of 730 hours" in page
    assert 'value="0.05"' in page


@pytest.mark.parametrize(
    ("name", "value"), [("core_hour", "-1"), ("currency", "euro"), ("watts_per_core", "")]
)
def test_bad_prices_are_rejected_beside_their_field(
    name: str, value: str, client: Client, project: Project
) -> None:
    response = client.post(PRICES, FORM | {name: value})
    assert response.status_code == 400
    assert response.content.decode().count('aria-invalid="true"') == 1
    assert load_price_list(project.pk) == PriceList()


def test_viewers_read_the_prices_without_a_form(
    client: Client, project: Project, bob: User, alice: User
) -> None:
    Member.objects.filter(project=project, user=bob).update(role=Role.VIEWER)
    change_prices(project, {"currency": "CHF", "core_hour": 0.04}, actor=alice)
    client.force_login(bob)
    page = render_html(client.get(PRICES))
    assert "CHF 0.04 a core-hour" in page
    assert 'name="core_hour"' not in page
    assert client.post(PRICES, FORM).status_code == 403


def add_profile(of: Deployment, stacks: dict[str, list[int]]) -> None:
    """Store a CPU profile of 10 s, with microseconds of each stack, five minutes ago."""
    of.profiled = [ProfileType.CPU]
    of.save()
    stored = rows.stored(of, stacks)
    moment = timezone.now() - timedelta(minutes=5)
    Profile.objects.filter(name_id=stored.name_id).update(time=moment)


def run_agents(project: Project, count: int, service: str = "shop") -> None:
    now, shop = timezone.now(), rows.deployment(project, service)
    for number in range(count):
        Agent.objects.create(
            deployment=shop, identity=f"agent-{number}", first_seen=now, last_seen=now
        )


def test_findings_have_their_cost_and_together(
    client: Client, project: Project, alice: User
) -> None:
    add_detection(project)
    finding = add_finding(project, change=2300 * MS)  # of 10 s: 0.23 cores, on 2 agents 0.46
    add_finding(project, function="other", change=700 * MS)
    add_finding(project, function="over", change=100 * MS, state=FindingState.RESOLVED)
    run_agents(project, 2)
    assert "Set prices" in render_html(client.get(FINDINGS))
    change_prices(project, {"currency": "EUR", "core_hour": 0.1}, actor=alice)
    page = render_html(client.get(FINDINGS))
    assert "+€33.6" in page  # 0.46 cores × 730 h × €0.1
    assert "+600 millicores, +€43.8 a month" in page
    assert "€0.1 a core-hour" in page
    page = render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))
    assert "+€33.6" in page
    assert "+1.51 kg CO₂" in page  # 0.46 × 7 W × 1.7 × 730 h × 0.379


def test_heap_findings_cost_memory(client: Client, project: Project, alice: User) -> None:
    finding = add_finding(
        project, type="HEAP", unit="bytes", change=2.0**30, duration_ns=0, before=2.0**30
    )
    run_agents(project, 3)
    change_prices(project, {"currency": "USD", "gib_hour": 0.005}, actor=alice)
    page = render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))
    assert "+$10.9" in page  # 3 GiB × 730 h × $0.005
    assert "CO₂" not in page.partition('class="facts"')[2].partition("</dl>")[0]


def test_services_have_their_cost_and_are_sorted_by_it(
    client: Client, project: Project, alice: User
) -> None:
    for service, milliseconds, agents in (("a", 1000, 1), ("b", 500, 4), ("c", 2000, 0)):
        add_profile(rows.deployment(project, service), {"main": [milliseconds * 1000]})
        run_agents(project, agents, service)
    change_prices(project, {"currency": "EUR", "core_hour": 0.1}, actor=alice)
    page = render_html(client.get(f"{SERVICES}?sort=cost"))
    positions = [page.index(f"<b>{service}</b>") for service in "bac"]
    assert positions == sorted(positions)
    assert "€14.6" in page  # b: 0.5 of 10 s, 4 agents: 0.2 cores × 730 h × €0.1
    assert "200 millicores" in page
    assert "not known" in page[positions[2] :]


def test_services_say_the_top_function_and_the_most_urgent_change(
    client: Client, project: Project
) -> None:
    add_profile(rows.deployment(project), {"main;price": [700], "main;tax": [300]})
    start = last_complete_end(timezone.now())
    # Five minutes ago may be of the next half day, which begins before this one is complete.
    Profile.objects.update(time=start + timedelta(minutes=1))
    assert "Top function" not in render_html(client.get(SERVICES))
    content = compute_half_day(QueryContext(project.pk), "shop", ProfileType.CPU, start)
    HourlySums.objects.create(
        project=project, service="shop", type="CPU", start=start, content=content
    )
    add_detection(project, detectable=0.36)
    page = render_html(client.get(SERVICES))
    assert "Top function" in page
    assert "70% self" in page
    assert '<span class="leaf">price</span>' in page
    assert "Too few samples to see changes below 36%" in page
    add_finding(project, function="slow", rank=0.2)
    add_finding(project, function="shop.price", rank=0.9, change=23 * MS)
    add_finding(project, function="over", rank=1.0, state=FindingState.RESOLVED)
    page = render_html(client.get(SERVICES))
    changed = page.partition('class="changed"')[2].partition("</td>")[0]
    assert "+23 ms" in changed
    assert "+23% since 2 · 1 more" in " ".join(changed.split())
