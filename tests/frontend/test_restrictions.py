"""Every restriction on every page: applied, or struck through with a reason, and never lost."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from html import unescape
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from frontend.params.restrictions import (
    PAGES_OF_PROFILES,
    RESTRICTIONS,
    find_restriction,
    get_reason,
)
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.query import ProfileSelection, QueryContext, View, save_tree
from profiles.storage.insert import insert
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.html import render_html
from tests.profiles.pprofs import PprofBuilder
from tests.profiles.rows import new_profile

pytestmark = [pytest.mark.one_database, pytest.mark.django_db]

SELECTED = [("service", "checkout"), ("type", "CPU"), ("span", "30m")]
PAIRS = {
    "zone": [("zone", "europe-west1-b")],
    "version": [("version", "2.31.0")],
    "label": [("label.instance", "a")],
    "two values of a label": [("label.instance", "a"), ("label.instance", "b")],
    "unset label": [("unset", "label.instance")],
    "sample label": [("sample.endpoint", "/pay")],
    "unset sample label": [("unset", "sample.endpoint")],
    "both labels unset": [("unset", "label.instance"), ("unset", "sample.endpoint")],
    "top percent": [("weight", "25")],
    "weights": [("weights", "1000000000..9000000000")],
    "profile": [("profile", "p3")],
    "metric": [("metric", "samples")],
    "filter": [("f", "hide:shop.pay")],
    "focus": [("focus", "shop.pay")],
}
ALL = [pair for pairs in PAIRS.values() for pair in pairs if pair[0] != "unset"]
CSV = {
    "flame": "flame/download/csv",
    "compare": "compare/csv",
    "history": "history/csv",
    "breakdown": "breakdown/csv",
    "profiles": "profiles/csv",
}


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


@pytest.fixture
def profiles(project: Project) -> None:
    """Store profiles that differ in all that a selection can tell apart."""
    now = timezone.now()
    zones, versions = ("europe-west1-b", "us-east1-c"), ("2.31.0", "2.30.4")
    instances: tuple[dict[str, str], ...] = (
        {"instance": "a"},
        {"instance": "b"},
        {"instance": "c"},
        {},
    )
    number = 0
    for zone in zones:
        for version in versions:
            of = shop.deployment(project, zone=zone, version=version)
            for labels in instances:
                _send(of, now - timedelta(seconds=50 * (number + 1)), labels, number)
                number += 1


def _send(of: Deployment, time: datetime, labels: dict[str, str], number: int) -> None:
    builder = PprofBuilder()
    for name, unit in (("samples", "count"), ("cpu", "nanoseconds")):
        builder.message.sample_type.add(type=builder.string(name), unit=builder.string(unit))
    for function, endpoint in (("shop.pay", "/pay"), ("shop.list", "/list"), ("main", "")):
        names = ["main"] if function == "main" else [function, "main"]
        value = [7 + number, (100 + 20 * number) * 10**6]
        frames = [builder.frame(name, "shop.py") for name in names]
        sample = builder.message.sample.add(location_id=frames, value=value)
        if endpoint:
            sample.label.add(key=builder.string("endpoint"), str=builder.string(endpoint))
    builder.message.duration_nanos = 10 * 10**9
    raw = bytes(builder.message.SerializeToString())
    row = new_profile(
        decode_profile(raw, ProfileType.CPU, DecodeLimits()),
        raw,
        of,
        type=ProfileType.CPU,
        time=time,
        labels=labels,
        name_id=f"p{number}",
    )
    assert all(insert([row]))


def restrictions(query: str) -> list[tuple[str, str]]:
    return sorted(pair for pair in parse_qsl(query) if find_restriction(pair))


def links(html: str, page: str) -> list[str]:
    """Return the query strings of the navigation's links to a page."""
    nav = html.partition('<nav class="nav"')[2].partition("</nav>")[0]
    found = re.findall(rf'href="/p/acme-shop/{page}(?:\?([^"]*))?"', nav)
    return [unescape(query) for query in found]


def left_out(html: str) -> dict[str, str]:
    """Return the parameters that the page shows as left out, with the reasons."""
    chips = re.findall(
        r'data-left-out="([^"]*)".*?<s>.*?</s><small>(.*?)</small>', html, flags=re.DOTALL
    )
    return {unescape(parameter): unescape(reason) for parameter, reason in chips}


def get(client: Client, page: str, pairs: Sequence[tuple[str, str]]) -> str:
    address = f"/p/acme-shop/{page}?{urlencode([*SELECTED, *pairs])}"
    response = client.get(address, follow=True)
    assert response.status_code == 200
    return render_html(response)


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("page", PAGES_OF_PROFILES)
def test_page_links_carry_every_restriction_and_those_not_applied_are_struck_through(
    signed_in: Client, page: str
) -> None:
    for pairs in [*PAIRS.values(), ALL]:
        html = get(signed_in, page, pairs)
        for other in PAGES_OF_PROFILES:
            (query,) = links(html, other)
            assert restrictions(query) == sorted(set(pairs)), (page, other, pairs)
            assert dict(parse_qsl(query))["service"] == "checkout"
        if pairs != ALL:
            reasons = {pair[0]: get_reason(pair, page) for pair in pairs if get_reason(pair, page)}
            assert left_out(html) == reasons, (page, pairs)


@pytest.mark.slow
@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("page", PAGES_OF_PROFILES)
def test_page_reached_by_a_link_keeps_every_restriction(signed_in: Client, page: str) -> None:
    for pairs in [*PAIRS.values(), ALL]:
        (query,) = links(get(signed_in, PAGES_OF_PROFILES[0], pairs), page)
        arrived = signed_in.get(f"/p/acme-shop/{page}?{query}", follow=True)
        assert arrived.status_code == 200
        assert set(pairs) <= set(restrictions(arrived.request["QUERY_STRING"])), (page, pairs)


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("page", PAGES_OF_PROFILES)
def test_numbers_change_by_applied_restrictions_only(signed_in: Client, page: str) -> None:
    # One range for all requests: a later one could have another minute.
    end = f"{timezone.now() + timedelta(minutes=1):%Y-%m-%dT%H:%M:00Z}"
    both = [("end", end), ("b.end", end)] if page == "compare" else [("end", end)]

    def numbers(pairs: Sequence[tuple[str, str]]) -> bytes:
        address = f"/p/acme-shop/{CSV[page]}?{urlencode([*SELECTED, *both, *pairs])}"
        response = signed_in.get(address)
        assert response.status_code == 200, response.content
        return response.content

    whole = numbers([])
    for name, pairs in PAIRS.items():
        is_applied = not all(get_reason(pair, page) for pair in pairs)
        assert (numbers(pairs) != whole) is is_applied, (page, name)


@pytest.mark.usefixtures("profiles")
def test_a_restriction_that_is_left_out_can_be_removed(signed_in: Client) -> None:
    html = get(signed_in, "profiles", [("f", "hide:shop.pay"), ("f", "show:main"), ("zone", "x")])
    (href,) = re.findall(
        r'<a href="([^"]*)"[^>]*aria-label="Remove Hide stacks shop.pay, which is not applied"',
        re.sub(r"\s+", " ", html).replace("data-changes", "x"),
    )
    query = urlsplit(unescape(href)).query
    assert restrictions(query) == [("f", "show:main"), ("zone", "x")]


@pytest.mark.usefixtures("profiles")
def test_an_empty_page_offers_links_that_keep_what_it_leaves_out(signed_in: Client) -> None:
    html = get(signed_in, "history", [("profile", "p3"), ("label.instance", "nothing")])
    href = unescape(re.findall(r'class="btn primary"\s+href="([^"]*)"', html)[0])
    assert restrictions(urlsplit(href).query) == [("profile", "p3")]


def test_every_restriction_has_a_test_case() -> None:
    walked = [pair for pairs in PAIRS.values() for pair in pairs] + [("snapshot", "x")]
    assert all(any(each.matches(*pair) for pair in walked) for each in RESTRICTIONS)


@pytest.mark.usefixtures("profiles")
def test_snapshot_parameter_survives_pages_that_need_profiles(
    signed_in: Client, project: Project, alice: User
) -> None:
    now = timezone.now()
    selection = ProfileSelection(
        project.pk, "checkout", ProfileType.CPU, now - timedelta(hours=1), now
    )
    taken = save_tree(
        QueryContext(project.pk), selection, View(), title="Noon", query="", actor=alice
    )
    pairs = [("snapshot", taken.id), ("zone", "us-east1-c")]
    html = render_html(signed_in.get(f"/p/acme-shop/flame?{urlencode(pairs)}"))
    assert left_out(html) == {"zone": "A snapshot cannot be restricted."}
    for page in ("history", "breakdown", "profiles"):
        (query,) = links(html, page)
        assert restrictions(query) == sorted(pairs)
        other = render_html(signed_in.get(f"/p/acme-shop/{page}?{query}"))
        assert "snapshot" in left_out(other)
        assert links(other, "flame") == [urlencode(pairs[::-1])]
    (query,) = links(html, "compare")
    compared = render_html(signed_in.get(f"/p/acme-shop/compare?{query}", follow=True))
    assert "Compare two sets of profiles of checkout" in compared
    assert f"flame?snapshot={taken.id}" in compared


@pytest.mark.usefixtures("profiles")
def test_the_palette_keeps_the_range_for_other_services(
    signed_in: Client, project: Project
) -> None:
    shop.send(shop.deployment(project, service="search"), [timezone.now()])
    selected = urlencode([*SELECTED, ("zone", "us-east1-c"), ("f", "hide:runtime")])
    entries = signed_in.get(f"/p/acme-shop/saved/palette?{selected}").json()["entries"]
    services = {each["text"]: each["url"] for each in entries if each["group"] == "services"}
    assert services["search"] == "/p/acme-shop/flame?service=search&span=30m"
    assert sorted(parse_qsl(urlsplit(services["checkout"]).query)) == sorted(parse_qsl(selected))
    plain = signed_in.get("/p/acme-shop/saved/palette").json()["entries"]
    assert "/p/acme-shop/flame?service=search" in [each["url"] for each in plain]
