"""`/p/<project>/insights`: rows with shares, cost and evidence, of all services or of one."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from profiles.models import Profile
from projects.models import Agent, Deployment, Project, User
from projects.prices import change_prices
from projects.profile_types import ProfileType
from tests.frontend.html import render_html
from tests.profiles import rows

pytestmark = pytest.mark.django_db
INSIGHTS = "/p/acme-shop/insights"


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User) -> None:
    client.force_login(alice)


def add_profile(
    project: Project, service: str, stacks: dict[str, int], type_: ProfileType = ProfileType.CPU
) -> Deployment:
    """Store a profile of 10 s, with microseconds of each stack, five minutes ago."""
    deployment = rows.deployment(project, service)
    deployment.profiled = [*{*deployment.profiled, type_}]
    deployment.save()
    stored = rows.stored(deployment, stacks, type=type_)
    moment = timezone.now() - timedelta(minutes=5)
    Profile.objects.filter(name_id=stored.name_id).update(time=moment)
    return deployment


def test_rows_have_share_cost_and_evidence(client: Client, project: Project, alice: User) -> None:
    shop = add_profile(
        project,
        "shop",
        {
            "main;shop.cart;copy.deepcopy": 300_000,
            "main;shop.cart;copy.deepcopy;copy._deepcopy_dict;copy.deepcopy": 200_000,
            "main;shop.price": 500_000,
        },
    )
    now = timezone.now()
    for number in range(4):
        Agent.objects.create(
            deployment=shop, identity=f"agent-{number}", first_seen=now, last_seen=now
        )
    page = render_html(client.get(INSIGHTS))
    assert "Objects are copied deeply" in page
    assert "<b>50%</b>" in page  # recursion counts once
    assert "500 ms per profile" in page
    assert "200 millicores" in page  # 0.5 of 10 s, on 4 agents
    assert "Set prices" in page
    change_prices(project, {"currency": "EUR", "core_hour": 0.1}, actor=alice)
    page = render_html(client.get(INSIGHTS))
    assert "€14.6 a month" in page  # 0.2 cores × 730 h × €0.1
    assert "0.658 kg CO₂" in page  # 0.2 × 7 W × 1.7 × 730 h × 0.379
    callers = page.partition("Called by")[2].partition("</ul>")[0]
    assert '<span class="leaf">cart</span>' in callers
    link = page.rpartition('class="btn" href="')[2].partition('"')[0].replace("&amp;", "&")
    flame = client.get(link)
    assert flame.status_code == 200
    assert "copy.deepcopy" in b"".join(flame).decode()


def test_page_shows_one_service_or_all(client: Client, project: Project) -> None:
    add_profile(project, "shop", {"main;copy.deepcopy": 1000})
    add_profile(project, "till", {"main;traceback.format_exc": 1000})
    page = render_html(client.get(INSIGHTS))
    assert "2 services examined" in page
    assert "Objects are copied deeply" in page
    assert "Tracebacks are formatted" in page
    page = render_html(client.get(f"{INSIGHTS}?service=till"))
    assert "1 service examined" in page
    assert "Objects are copied deeply" not in page


def test_small_shares_are_left_out(client: Client, project: Project) -> None:
    add_profile(project, "shop", {"main;copy.deepcopy": 19, "main;work": 981})
    assert "No rule matches" in render_html(client.get(INSIGHTS))
    add_profile(project, "till", {"main;copy.deepcopy": 20, "main;work": 980})
    assert "Objects are copied deeply" in render_html(client.get(INSIGHTS))


def test_cpu_time_comes_before_wall_time_of_the_same_rule(client: Client, project: Project) -> None:
    stacks = {"asyncio.events.Handle._run;shop.view;requests.api.get": 1000}
    add_profile(project, "shop", stacks)
    add_profile(project, "shop", stacks, ProfileType.WALL)
    page = render_html(client.get(INSIGHTS))
    assert page.count("Blocking calls stop the event loop") == 1
    assert "shop · Python · CPU time" in page


def test_project_without_profiles_has_no_insights(
    client: Client, project: Project, other_project: Project
) -> None:
    add_profile(other_project, "shop", {"main;copy.deepcopy": 1000})
    page = render_html(client.get(INSIGHTS))
    assert "0 services examined" in page
    assert "No rule matches" in page


FUNCTIONS = f"{INSIGHTS}/functions"


def test_search_lists_the_services_that_call_a_function(
    client: Client, project: Project, alice: User, other_project: Project
) -> None:
    shop = add_profile(project, "shop", {"main;cart;json.dumps": 250_000, "main;work": 750_000})
    till = add_profile(project, "till", {"main;pay;json.dumps": 100_000, "main;work": 900_000})
    add_profile(project, "quiet", {"main;work": 1_000_000})
    add_profile(other_project, "foreign", {"main;json.dumps": 1_000_000})
    now = timezone.now()
    for number, deployment in enumerate([shop, till, till, till]):
        Agent.objects.create(
            deployment=deployment, identity=f"agent-{number}", first_seen=now, last_seen=now
        )
    change_prices(project, {"currency": "EUR", "core_hour": 0.2}, actor=alice)
    page = render_html(client.get(f"{FUNCTIONS}?find=json."))
    assert "2 services of 3" in page
    # shop: 0.25 of 10 s on one agent; till: 0.1 of 10 s on three agents
    assert "55 millicores, €8.03" in page
    assert page.index("<b>till</b>") < page.index("<b>shop</b>")
    assert "<b>25%</b>" in page
    assert "<b>10%</b>" in page
    assert '<span class="leaf">pay</span>' in page
    assert "foreign" not in page
    assert "No function matches" in render_html(client.get(f"{FUNCTIONS}?find=absent"))


def test_search_compares_versions(client: Client, project: Project) -> None:
    add_profile(project, "shop", {"main;json.dumps": 250_000, "main;work": 750_000})
    newer = rows.stored(
        rows.deployment(project, "shop", version="2"), {"main;json.dumps": 3, "main;work": 1}
    )
    moment = timezone.now() - timedelta(minutes=2)
    Profile.objects.filter(name_id=newer.name_id).update(time=moment)
    page = render_html(client.get(f"{FUNCTIONS}?find=json.&span=1h"))
    versions = page.partition("<h2>Versions</h2>")[2].partition("</ul>")[0]
    assert versions.index("75%") < versions.index("25%")  # the newest first
    assert versions.count("1 profile") == 2
    assert "Share over time, 75% at most" in page
    assert "<polyline" in page


def test_search_says_what_to_enter(client: Client, project: Project) -> None:
    add_profile(project, "shop", {"main;json.dumps": 1000})
    assert "Enter a part of a function" in render_html(client.get(FUNCTIONS))
    page = render_html(client.get(f"{FUNCTIONS}?find=/(/"))
    assert 'role="alert"' in page
    assert "missing )" in page
