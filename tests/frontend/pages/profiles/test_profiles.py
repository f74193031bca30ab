"""`/p/<project>/profiles`, a list of single profiles."""

import csv
import io
import re
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from frontend.pages.profiles import profile_list
from profiles.models import Profile
from projects.models import Agent, Deployment, Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.html import render_html
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
PROFILES = "/p/acme-shop/profiles"
FRAGMENT = {"HX-Request": "true"}
CPU = {"service": "checkout", "type": "CPU"}
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def checkout(project: Project) -> Deployment:
    return shop.deployment(project)


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def add(of: Deployment, moment: datetime, cpu_ms: int, **changed: object) -> Profile:
    shop.send(of, [moment], {(("main", "main.py"),): cpu_ms * 1000})
    Profile.objects.filter(time=moment).update(duration_ns=10**10, **changed)
    return Profile.objects.get(time=moment)


def shown(client: Client, **parameters: str) -> str:
    response = client.get(PROFILES, parameters)
    assert response.status_code == 200
    return render_html(response)


def weights(html: str) -> list[str]:
    return re.findall(r'<td class="num strong[^"]*">([^<]+)</td>', html)


def test_page_without_services_links_to_the_setup(signed_in: Client, project: Project) -> None:
    assert "No service sends profiles yet" in shown(signed_in)


def test_row_has_time_total_deployment_and_labels(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    agent = Agent.objects.create(
        deployment=checkout, identity="a", hostname="web-1", first_seen=now, last_seen=now
    )
    labels = {"instance": "i-7", "endpoint": "/pay"}
    add(checkout, now - timedelta(minutes=3), 2380, agent=agent, labels=labels)
    html = shown(signed_in)
    assert "1 profile</h2>" in html
    assert weights(html) == ["2.38 s"]
    texts = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", html)]
    assert texts[3:9] == [
        "10 s",
        "web-1",
        "2.31.0",
        "europe-west1-b",
        "endpoint=/payinstance=i-7",
        "pprof",
    ]
    assert "On-CPU time; excludes waiting." in html


def test_each_profile_links_to_its_own_flame_graph(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    for minute in (3, 2, 1):
        add(checkout, now - timedelta(minutes=minute), 1000 * minute)
    links = re.findall(r'href="(/p/acme-shop/flame\?[^"]*profile=[^"]*)"', shown(signed_in))
    assert len(links) == 3
    alone = render_html(signed_in.get(links[1].replace("&amp;", "&")))
    assert "1 profile</b>" in alone
    assert '<b class="strong">2 s</b>' in alone
    download = links[1].replace("/flame?", "/flame/download/pprof?").replace("&amp;", "&")
    assert signed_in.get(download).status_code == 200


def test_each_profile_of_a_selection_with_unset_versions_links_to_its_own_flame_graph(
    signed_in: Client, project: Project, checkout: Deployment, now: datetime
) -> None:
    add(checkout, now - timedelta(minutes=2), 1000)
    add(shop.deployment(project, version=""), now - timedelta(minutes=1), 1000)
    html = shown(signed_in, **CPU, version="2.31.0", unset="version")
    links = re.findall(r'href="(/p/acme-shop/flame\?[^"]*profile=[^"]*)"', html)
    assert len(links) == 2
    for link in links:
        assert "1 profile</b>" in render_html(signed_in.get(link.replace("&amp;", "&")))


def test_order_heaviest_lists_the_largest_totals_first(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    for minute, cpu_ms in ((1, 500), (2, 4020), (3, 812)):
        add(checkout, now - timedelta(minutes=minute), cpu_ms)
    assert weights(shown(signed_in)) == ["500 ms", "4.02 s", "812 ms"]
    html = shown(signed_in, order="heaviest")
    assert weights(html) == ["4.02 s", "812 ms", "500 ms"]
    assert "could not be read" not in html
    assert '<th scope="col" class="num" aria-sort="descending">' in html


@pytest.mark.parametrize(("profiles", "text"), [(1, "1 profile"), (3, "3 profiles")])
def test_legend_of_the_map_has_the_profiles_of_the_fullest_cell(
    profiles: int, text: str, signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    for second in range(profiles):
        add(checkout, now - timedelta(minutes=30, microseconds=second), 100)
    legend = shown(signed_in, **CPU, span="1h").partition('class="i5"></i>')[2]
    assert re.match(rf"\s*</span>\s*{text}\s*<a", legend)


def test_selected_region_lists_its_profiles_only(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    for minute in range(1, 11):
        add(checkout, now - timedelta(minutes=minute), 100 * minute)
    picked = {
        "pick_from": (now - timedelta(minutes=6, seconds=1)).isoformat(),
        "pick_to": (now - timedelta(minutes=2)).isoformat(),
        "weights": "300000000..500000000",
    }
    html = shown(signed_in, **picked)
    assert weights(html) == ["300 ms", "400 ms", "500 ms"]
    assert "3 selected profiles" in html
    assert "300 ms – 500 ms" in html
    flame = re.search(r'class="btn primary" href="([^"]+)"', html)
    assert flame
    address = parse_qs(urlsplit(flame[1].replace("&amp;", "&")).query)
    assert address["weights"] == ["300000000..500000000"]
    assert "3 profiles</b>" in render_html(signed_in.get(flame[1].replace("&amp;", "&")))


def test_empty_region_says_so(signed_in: Client, checkout: Deployment, now: datetime) -> None:
    add(checkout, now - timedelta(minutes=1), 100)
    html = shown(signed_in, weights="1..2")
    assert "No profiles in this selection" in html
    assert "0 selected profiles" in html


def test_an_empty_range_says_why(signed_in: Client, checkout: Deployment, now: datetime) -> None:
    add(checkout, now - timedelta(days=2), 100)
    html = shown(signed_in)
    assert "No CPU time profiles in this range" in html
    assert 'href="/p/acme-shop/profiles?' in html


def test_long_list_is_paged(signed_in: Client, checkout: Deployment, now: datetime) -> None:
    size = profile_list.PAGE_SIZE
    for second in range(size + 3):
        add(checkout, now - timedelta(seconds=second + 1), 100 + second)
    html = shown(signed_in, order="heaviest")
    assert len(weights(html)) == size
    following = re.search(r'rel="next" href="([^"]+)"', html)
    assert following
    rest = render_html(signed_in.get(following[1].replace("&amp;", "&")))
    assert weights(rest) == ["102 ms", "101 ms", "100 ms"]
    assert "First page" in rest


def test_a_page_that_cannot_be_read_shows_the_first(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    add(checkout, now - timedelta(minutes=1), 100)
    html = shown(signed_in, page="x~y", order="odd", pick_from="never", table="2")
    assert weights(html) == ["100 ms"]
    assert "use the next_page of a response for the same list." in html
    assert "“order=odd” in the address could not be read" in html
    assert "“pick_from=never…” in the address could not be read" in html


def test_a_fragment_is_small_and_takes_few_queries(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    labels = {f"label-{n}": "v" * 60 for n in range(9)}
    for second in range(profile_list.PAGE_SIZE + 1):
        add(checkout, now - timedelta(seconds=second + 1), 100, labels=labels)
    with count_queries() as queries:
        response = signed_in.get(PROFILES, CPU | {"order": "heaviest"}, headers=FRAGMENT)
    assert len(response.content) <= 30_000
    assert len(queries) <= 10
    assert b"<html" not in response.content
    assert response.headers["HX-Push-Url"].endswith("order=heaviest")


def test_list_is_downloaded_as_csv(signed_in: Client, checkout: Deployment, now: datetime) -> None:
    add(checkout, now - timedelta(minutes=1), 100, labels={"a": "=1+1"})
    Deployment.objects.update(version="＝HYPERLINK(1)")
    response = signed_in.get(f"{PROFILES}/csv", CPU)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    header, row = csv.reader(io.StringIO(response.content.decode()))
    assert header[:3] == ["captured", "cpu (nanoseconds)", "seconds"]
    assert row[1:3] == ["100000000", "10.0"]
    assert row[4] == "'＝HYPERLINK(1)"
    assert row[6] == "a==1+1"


def test_a_file_without_a_selection_is_rejected(signed_in: Client, project: Project) -> None:
    assert signed_in.get(f"{PROFILES}/csv").status_code == 400


def test_markup_in_names_is_escaped(signed_in: Client, checkout: Deployment, now: datetime) -> None:
    add(checkout, now - timedelta(minutes=1), 1, labels={HOSTILE: HOSTILE})
    Deployment.objects.update(version=HOSTILE, zone=HOSTILE)
    assert "<script>alert" not in shown(signed_in)


def test_profiles_of_another_tenant_are_404(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    assert client.get(PROFILES).status_code == 404
    assert client.get(f"{PROFILES}/csv", CPU).status_code == 404


def test_instantaneous_profiles_have_no_duration_column(
    signed_in: Client, checkout: Deployment, now: datetime
) -> None:
    moment = now - timedelta(minutes=1)
    threads = (("thread", "count"),)
    shop.send(checkout, [moment], {(("main", ""),): 7}, ProfileType.THREADS, threads)
    Deployment.objects.update(profiled=["THREADS"])
    Profile.objects.update(duration_ns=0)
    html = shown(signed_in)
    assert weights(html) == ["7"]
    assert "Duration" not in html
