"""`/p/<project>/services`, every service with its state."""

import gzip
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from frontend.pages.services.service_list import PAGE_SIZE
from profiles.models import Profile
from projects.models import Agent, Delivery, Deployment, Project, User
from projects.profile_types import ProfileType
from tests.frontend.html import render_html
from tests.profiles import rows

SERVICES = "/p/acme-shop/services"


def add_service(project: Project, name: str, version: str = "1", *types: ProfileType) -> Deployment:
    made = rows.deployment(project, name, version=version)
    made.profiled = list(types)
    made.save()
    return made


def add_profile(of: Deployment, minutes_ago: float, cpu_ms: int = 2380) -> None:
    stored = rows.stored(of, {"main": [cpu_ms * 1000]})
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    Profile.objects.filter(name_id=stored.name_id).update(time=moment)


def add_agent(of: Deployment, minutes_ago: float) -> None:
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    Agent.objects.create(deployment=of, identity="a", first_seen=moment, last_seen=moment)


@pytest.fixture
def signed_in(client: Client, alice: User, project: Project) -> Client:
    client.force_login(alice)
    return client


def shown(signed_in: Client, **parameters: str) -> str:
    response = signed_in.get(SERVICES, parameters)
    assert response.status_code == 200
    return render_html(response)


def names(html: str) -> list[str]:
    return re.findall(r"<b>([^<]+)</b>", html)


def test_stranger_is_redirected_to_sign_in(client: Client, project: Project) -> None:
    assert client.get(SERVICES).headers["Location"] == f"/account/login/?next={SERVICES}"


def test_outsider_gets_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get(SERVICES).status_code == 404


def test_member_gets_the_page(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    assert client.get(SERVICES).status_code == 200


def test_page_without_services_links_to_the_setup(signed_in: Client) -> None:
    html = shown(signed_in)
    assert "No service sends profiles yet" in html
    assert 'href="/p/acme-shop/setup"' in html


def test_a_service_is_shown_with_its_average(signed_in: Client, project: Project) -> None:
    shop = add_service(project, "checkout", "2.31.0", ProfileType.CPU, ProfileType.WALL)
    add_profile(shop, 3, cpu_ms=2000)
    add_profile(shop, 2, cpu_ms=3000)
    html = shown(signed_in)
    assert "<b>checkout</b>" in html
    assert '<span class="strong">2.5 s</span>' in html
    assert "25% of a core" in html
    assert '<span class="tag">CPU</span><span class="tag">Wall</span>' in html
    assert "2.31.0" in html
    assert "1 service, 1 reporting now · 2 profiles in the last 24 hours" in html


def test_service_without_cpu_profiles_names_its_type(signed_in: Client, project: Project) -> None:
    shop = add_service(project, "checkout", "1", ProfileType.WALL)
    stored = rows.stored(shop, type=ProfileType.WALL)
    Profile.objects.filter(name_id=stored.name_id).update(time=timezone.now())
    html = shown(signed_in)
    assert '<span class="sub">Wall</span>' in html
    assert "of a core" not in html


def test_reporting_silent_and_absent_services_have_their_states(
    signed_in: Client, project: Project
) -> None:
    reporting = add_service(project, "reporting", "1", ProfileType.CPU)
    add_profile(reporting, 2)
    silent = add_service(project, "silent", "1", ProfileType.CPU)
    add_profile(silent, 180)
    add_agent(silent, 1)
    absent = add_service(project, "absent", "1", ProfileType.CPU)
    add_profile(absent, 180)
    add_agent(absent, 60)
    html = shown(signed_in)
    assert re.findall(r'<i class="(dot[^"]*)"></i><span class="sr">([^<]+)</span>', html) == [
        ("dot off", "no agents"),
        ("dot", "reporting"),
        ("dot warn", "not reporting"),
    ]
    assert "1 agent waiting" in html
    assert "· 1 not reporting" in html


def test_service_with_a_low_capture_rate_is_reporting(signed_in: Client, project: Project) -> None:
    Project.objects.update(profiles_per_minute=0.05)
    shop = add_service(project, "checkout", "1", ProfileType.CPU)
    add_profile(shop, 60)
    add_agent(shop, 1)
    assert 'class="dot"></i><span class="sr">reporting' in shown(signed_in)


def test_service_without_profiles_in_the_range_says_so(signed_in: Client, project: Project) -> None:
    add_profile(add_service(project, "checkout", "1", ProfileType.CPU), 60 * 30)
    html = shown(signed_in)
    assert "none in 24 hours" in html
    assert 'class="spark dead"' in html
    assert "none in 7 days" not in shown(signed_in, span="7d")


def test_older_versions_are_counted(signed_in: Client, project: Project) -> None:
    for version in ("1.0", "1.1", "1.2"):
        add_service(project, "checkout", version, ProfileType.CPU)
    html = shown(signed_in)
    assert ">1.2</span>" in html
    assert "2 older" in html


def test_search_matches_a_part_of_the_name(signed_in: Client, project: Project) -> None:
    for name in ("checkout", "catalog", "search"):
        add_service(project, name)
    html = shown(signed_in, find="Ca")
    assert names(html) == ["catalog"]
    assert "1 found" in html
    assert "No matching services for" in shown(signed_in, find="<nothing>")
    assert "&lt;nothing&gt;" in shown(signed_in, find="<nothing>")


def test_list_is_sorted_by_name_profiles_or_last_profile(
    signed_in: Client, project: Project
) -> None:
    for name, count, newest in (("alpha", 1, 5.0), ("Beta", 3, 9.0), ("gamma", 2, 1.0)):
        service = add_service(project, name, "1", ProfileType.CPU)
        for i in range(count):
            add_profile(service, newest + i)
    assert names(shown(signed_in)) == ["alpha", "Beta", "gamma"]
    assert names(shown(signed_in, sort="profiles")) == ["Beta", "gamma", "alpha"]
    assert names(shown(signed_in, sort="last")) == ["gamma", "alpha", "Beta"]


def test_sort_links_keep_the_other_parameters(signed_in: Client, project: Project) -> None:
    add_service(project, "checkout")
    html = shown(signed_in, find="check", span="7d")
    assert 'href="?find=check&amp;sort=last&amp;span=7d"' in html


@pytest.mark.parametrize(
    "parameters", [{"span": "3y"}, {"sort": "'; drop"}, {"page": "-1"}, {"page": "9" * 40}]
)
def test_unreadable_parameters_are_named_and_replaced_by_the_nearest(
    signed_in: Client, project: Project, parameters: dict[str, str]
) -> None:
    add_service(project, "checkout")
    html = shown(signed_in, **parameters)
    assert names(html) == ["checkout"]
    if parameters != {"page": "9" * 40}:
        assert "could not be read" in html


def test_htmx_request_gets_the_list_and_the_summary_only(
    signed_in: Client, project: Project
) -> None:
    add_service(project, "checkout")
    response = signed_in.get(SERVICES, {"find": "x"}, headers={"HX-Request": "true"})
    assert render_html(response).startswith('<div class="card" id="services">')
    assert 'id="summary" role="status" hx-swap-oob="true"' in render_html(response)
    assert response.headers["HX-Push-Url"] == "/p/acme-shop/services?find=x"


@pytest.mark.slow
def test_thousands_of_services_are_paged(
    signed_in: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    Deployment.objects.bulk_create(
        Deployment(
            project=project,
            service=f"a-service-with-a-name-of-some-length-{number:04}",
            version="2026.11.21-4f2a91c",
            first_seen=now,
            last_seen=now,
            profiled=["CPU", "WALL", "HEAP", "THREADS"],
        )
        for number in range(2000)
    )
    first = Deployment.objects.filter(project=project).order_by("service")[:PAGE_SIZE]
    for deployment in first:
        for hours in range(24):
            add_profile(deployment, hours * 60 + 1, cpu_ms=1000 + hours * 37)
    with django_assert_max_num_queries(19):
        html = shown(signed_in)
    assert len(names(html)) == PAGE_SIZE
    assert "Page 1 of 100" in html
    assert names(shown(signed_in, page="2"))[0].endswith(f"{PAGE_SIZE:04}")
    fragment = signed_in.get(SERVICES, headers={"HX-Request": "true"}).content
    assert len(gzip.compress(fragment)) <= 5_000


def test_markup_in_names_is_escaped(signed_in: Client, project: Project) -> None:
    add_service(project, "<script>alert(1)</script>", "<b>1</b>")
    html = shown(signed_in)
    assert "<script>alert" not in html
    assert "service=%3Cscript%3E" in html


def test_import_makes_no_service_report(signed_in: Client, project: Project) -> None:
    batch = add_service(project, "batch", "1", ProfileType.CPU)
    add_profile(batch, 1)
    add_agent(batch, 1)
    Agent.objects.update(delivery=Delivery.FILE)
    html = shown(signed_in)
    assert '<span class="sr">no agents</span>' in html
    assert "1 service, 0 reporting now" in html
    assert "agent waiting" not in html


def test_newest_version_is_by_profile_time(signed_in: Client, project: Project) -> None:
    """An import in another order than that of the versions."""
    for version, minutes in (("2.31.0", 120), ("2.30.1", 0), ("2.30.2", 60)):
        rows.stored(rows.deployment(project, "checkout", version=version), minutes=minutes)
    html = shown(signed_in)
    versions = re.findall(r'<span class="mono clip">([^<]+)</span>', html)
    assert versions == ["2.31.0"]
    assert "2 older" in html
