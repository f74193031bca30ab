"""`/p/<project>/flame`, its content and its access control."""

import gzip
import html
import json
import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from profiles.models import Profile
from projects.models import Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.html import render_html

HTMX = {"HX-Request": "true"}


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def url(project: Project) -> str:
    return reverse("flame", args=[project.project_id])


@pytest.fixture
def profiles(project: Project, now: datetime) -> None:
    shop.send(shop.deployment(project), shop.minutes_before(now, 3))


def page(client: Client, url: str, **headers: str) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200
    return render_html(response)


def test_stranger_is_redirected_to_sign_in_and_gets_401_for_the_tree(
    client: Client, url: str, project: Project
) -> None:
    assert client.get(url).status_code == 302
    tree = client.get(reverse("flame_tree", args=[project.project_id]))
    assert tree.status_code == 401


def test_page_tree_and_capture_of_another_tenant_are_404(
    client: Client, charlie: User, project: Project, url: str
) -> None:
    client.force_login(charlie)
    assert client.get(url).status_code == 404
    assert client.get(reverse("flame_tree", args=[project.project_id])).status_code == 404
    capture = reverse("capture", args=[project.project_id])
    assert client.post(capture, {"service": "checkout", "type": "CPU"}).status_code == 404


@pytest.mark.usefixtures("profiles")
def test_a_member_sees_how_many_profiles_were_merged_and_their_average(
    client: Client, bob: User, url: str
) -> None:
    client.force_login(bob)
    text = page(client, url)
    assert '<b class="strong">3 profiles</b>, merged' in text
    assert "of CPU in a 10 s profile" in text
    assert "Rule.matches" in text


@pytest.mark.usefixtures("profiles")
def test_htmx_request_gets_the_contents_only(client: Client, alice: User, url: str) -> None:
    client.force_login(alice)
    response = client.get(f"{url}?span=30m", headers=HTMX)
    assert render_html(response).lstrip().startswith('<div class="flame-page"')
    assert "HX-Push-Url" not in response  # the browser has this URL already
    assert "HX-Request" in response["Vary"]


@pytest.mark.usefixtures("profiles")
def test_a_quiet_refresh_is_204_until_there_is_a_new_profile(
    client: Client, alice: User, project: Project, url: str, now: datetime
) -> None:
    client.force_login(alice)
    seen = page(client, url).partition('data-seen="')[2].partition('"')[0]
    assert client.get(f"{url}?seen={seen}", headers=HTMX).status_code == 204
    shop.send(shop.deployment(project), [now - timedelta(seconds=5)])
    response = client.get(f"{url}?seen={seen}", headers=HTMX)
    assert response.status_code == 200


@pytest.mark.usefixtures("profiles")
def test_the_tree_has_the_sums_over_the_profiles(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.get(
        reverse("flame_tree", args=[project.project_id]), {"service": "checkout", "type": "CPU"}
    )
    assert response["Content-Encoding"] == "gzip"
    assert "no-store" in response["Cache-Control"]
    tree = json.loads(gzip.decompress(response.content))
    assert tree["profiles"] == 3
    assert tree["total"] == sum(tree["self"]) == 3 * 1000 * sum(shop.STACKS.values())


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    "view", [{}, {"view": "bottomup"}, {"focus": "pricing.quote"}, {"preview": "1"}]
)
def test_each_tree_has_the_packages_of_the_whole_selection(
    client: Client, alice: User, project: Project, view: dict[str, str]
) -> None:
    client.force_login(alice)
    address = reverse("flame_tree", args=[project.project_id])
    response = client.get(address, {"service": "checkout", "type": "CPU", **view})
    document = json.loads(gzip.decompress(response.content))
    packages = document["packages"]
    assert sum(package["self"] for package in packages) == 3 * 1000 * sum(shop.STACKS.values())
    assert max(package["area"] for package in packages) >= document["total"]
    tree = document.get("callees", document)
    frames = tree["frames"]
    index = [tree["names"][name] for name in frames["name"]].index("pricing.quote")
    package = packages[frames["package"][index]]
    assert (package["name"], package["kind"]) == ("shop.pricing", "own")


@pytest.mark.usefixtures("profiles")
def test_a_function_in_the_list_has_the_colour_that_its_package_has_in_the_graph(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    query = {"service": "checkout", "type": "CPU"}
    tree = client.get(reverse("flame_tree", args=[project.project_id]), query)
    document = json.loads(gzip.decompress(tree.content))
    page = client.get(reverse("flame_functions", args=[project.project_id]), query)
    row = re.search(r'data-name="pricing.quote".*?class="sw ([\w-]+)"', page.content.decode(), re.S)
    package = next(each for each in document["packages"] if each["name"] == "shop.pricing")
    assert row
    assert row[1] == f"p-{package['colour'].replace('-', '')}"


def test_a_tree_without_a_selection_is_rejected(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.get(reverse("flame_tree", args=[project.project_id]))
    assert response.status_code == 400
    assert response.json() == {"error": "The address must name a service and a type."}


@pytest.mark.usefixtures("profiles")
def test_unreadable_parameters_are_named_on_the_page(client: Client, alice: User, url: str) -> None:
    client.force_login(alice)
    text = page(client, f"{url}?span=forever&metric=gold")
    assert "“span=forever” in the address could not be read" in text
    assert "have no metric “gold”" in text
    assert "3 profiles" in text


def test_a_metric_that_the_narrowed_profiles_lack_is_left_out(
    client: Client, alice: User, project: Project, url: str, now: datetime
) -> None:
    metrics = (("samples", "count"), ("cpu", "microseconds"))
    shop.send(shop.deployment(project), shop.minutes_before(now, 3), sample_types=metrics)
    client.force_login(alice)
    text = page(client, f"{url}?metric=samples&label.instance=nobody")
    assert "No metric samples in these profiles" in text
    assert "No CPU time profiles with these labels" in text


def test_a_project_without_services_is_told_how_to_connect_one(
    client: Client, alice: User, url: str
) -> None:
    client.force_login(alice)
    assert "No service sends profiles yet" in page(client, url)


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("query", "title", "action"),
    [
        ("service=nobody", "No service named “nobody”", "checkout"),
        ("type=HEAP", "checkout sends no Heap profiles", "CPU time"),
        ("zone=mars", "No CPU time profiles of this zone and version", "All zones and versions"),
        ("end=2026-01-01T00:00:00Z", "No CPU time profiles in this range", "Later:"),
    ],
)
def test_an_empty_result_says_why_and_what_to_change(
    client: Client, alice: User, url: str, query: str, title: str, action: str
) -> None:
    client.force_login(alice)
    text = page(client, f"{url}?{query}")
    assert title in text
    assert f">{action}<" in text
    assert "<flame-graph" not in text


@pytest.mark.usefixtures("profiles")
def test_another_service_is_offered_without_the_restrictions(
    client: Client, alice: User, url: str
) -> None:
    client.force_login(alice)
    restrictions = "zone=mars&version=9&label.instance=x&sample.endpoint=x&unset=label.pod"
    view = "weight=1&focus=nobody.run&f=show:nobody"
    text = page(client, f"{url}?service=nobody&{restrictions}&{view}&span=2h")
    found = re.search(r'href="([^"]+)"[^>]*>\s*checkout\s*<', text)
    assert found
    link = html.unescape(found[1])
    assert "span=2h" in link
    assert "<flame-graph" in page(client, link)


def test_a_registered_service_without_profiles_is_waited_for(
    client: Client, alice: User, project: Project, url: str
) -> None:
    shop.deployment(project, types=[])
    client.force_login(alice)
    assert "No profiles from checkout yet" in page(client, url)


def test_contention_profile_of_zeros_is_shown_as_a_result(
    client: Client, alice: User, project: Project, url: str, now: datetime
) -> None:
    of = shop.deployment(project, types=[ProfileType.CONTENTION])
    zero = dict.fromkeys(shop.STACKS, 0)
    delay = [("delay", "nanoseconds")]
    shop.send(of, shop.minutes_before(now, 2), zero, ProfileType.CONTENTION, delay)
    client.force_login(alice)
    text = page(client, url)
    assert "No lock contention" in text
    assert "2 profiles without lock waits." in text


def test_menu_lists_several_metrics(
    client: Client, alice: User, project: Project, url: str, now: datetime
) -> None:
    types = [("samples", "count"), ("cpu", "microseconds")]
    shop.send(shop.deployment(project), [now], sample_types=types)
    client.force_login(alice)
    text = page(client, f"{url}?metric=samples&end={(now + timedelta(minutes=1)):%FT%TZ}")
    assert '<option value="samples" selected>Samples</option>' in text
    assert "samples in a 10 s profile" in text


def test_markup_in_names_is_escaped(
    client: Client, alice: User, project: Project, url: str, now: datetime
) -> None:
    name = "<script>alert(1)</script>"
    of = shop.deployment(project, service=name)
    shop.send(of, shop.minutes_before(now, 1), {((name, '"><b>.py'),): 5})
    client.force_login(alice)
    text = page(client, url)
    assert name not in text
    assert '"><b>.py' not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


@pytest.mark.usefixtures("profiles")
def test_a_page_costs_few_queries(
    client: Client, alice: User, url: str, django_assert_max_num_queries: type
) -> None:
    client.force_login(alice)
    with django_assert_max_num_queries(35):
        page(client, url)


def test_fragments_are_small_and_take_few_queries(
    client: Client,
    alice: User,
    project: Project,
    url: str,
    now: datetime,
    django_assert_max_num_queries: type,
) -> None:
    """Check that the graph and the list reuse the merged tree of the page."""
    stacks: shop.FrameStacks = {
        ((f"shop.module{i}.Class.method", f"/app/shop/module{i}.py"),): 1000 + i for i in range(99)
    }
    shop.send(shop.deployment(project), shop.minutes_before(now, 3), stacks)
    client.force_login(alice)
    fragment = page(client, url, **HTMX)
    assert len(fragment.encode()) <= 45_000
    address = re.search(r'src="([^"]*/flame/tree[^"]*)"', fragment)
    more = re.search(r'hx-get="([^"]*/flame/functions[^"]*)"', fragment)
    assert address
    assert more
    with django_assert_max_num_queries(5):
        tree = client.get(html.unescape(address[1]))
        assert json.loads(gzip.decompress(tree.content))["profiles"] == 3
    with django_assert_max_num_queries(5):
        rows = page(client, html.unescape(more[1]))
    assert rows.count("<tr") == 31
    assert len(rows.encode()) <= 30_000


@pytest.mark.usefixtures("profiles")
def test_single_profile_is_shown_with_a_link_to_all(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    name = Profile.objects.values_list("name_id", flat=True)[0]
    html = page(client, f"{url}?{urlencode({'profile': name})}")
    assert "1 profile</b>" in html
    assert "single profile" in html
    assert "3 profiles</b>" in page(client, f"{url}?service=checkout&type=CPU&span=1h")


@pytest.mark.usefixtures("profiles")
def test_missing_profile_links_to_the_others(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    html = page(client, f"{url}?profile=gone")
    assert "Profile not found" in html
    assert "There are 3 profiles in this time range." in html
