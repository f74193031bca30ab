"""`/p/<project>/breakdown`, a metric over time by the values of a label."""

import csv
import io
import json
import re
from datetime import datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from projects.models import Agent, Deployment, Project, User
from projects.prices import change_prices
from tests.frontend import labelled_shop, shop
from tests.frontend.every_page import HTMX
from tests.frontend.html import render_html

BREAKDOWN = "/p/acme-shop/breakdown"
WHAT = {"service": "checkout", "type": "CPU", "span": "30m"}
HOSTILE = "<script>alert(1)</script>\u202e"

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def profiles(project: Project, now: datetime) -> None:
    """Store 20 profiles each of 2.30.4 and 2.31.0, and as many of 2.30.4 half an hour before.

    The endpoint /pay costs 0.03 cores in 2.30.4, 0.05 in 2.31.0, and 0.04 half an hour before.
    """
    times = shop.minutes_before(now, 20)
    before = [time - timedelta(minutes=30) for time in times]
    old, new = (shop.deployment(project, version=version) for version in ("2.30.4", "2.31.0"))
    labelled_shop.send(old, times, labelled_shop.stacks(300), {"instance": "a"})
    labelled_shop.send(new, times, labelled_shop.stacks(500), {"instance": "b"})
    labelled_shop.send(old, before, labelled_shop.stacks(400), {"instance": "a"})


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def shown(client: Client, **parameters: str) -> str:
    response = client.get(BREAKDOWN, WHAT | parameters)
    assert response.status_code == 200
    return render_html(response)


def rows(html: str) -> list[list[str]]:
    body = html.partition('class="values"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [
            unescape(re.sub(r"<[^>]+>|\s+", " ", cell)).strip()
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
        ]
        for row in body.split("<tr>")[1:]
    ]


def plot(html: str) -> dict[str, object]:
    found = re.search(r'data-plot="([^"]*)"', html)
    assert found
    data: dict[str, object] = json.loads(unescape(found[1]))
    return data


def test_page_without_services_links_to_the_setup(signed_in: Client, project: Project) -> None:
    assert "No service sends profiles yet" in render_html(signed_in.get(BREAKDOWN))


@pytest.mark.usefixtures("profiles")
def test_versions_have_value_share_mean_change_and_profiles(signed_in: Client) -> None:
    html = shown(signed_in)
    assert rows(html) == [
        ["", "2.31.0", "40 millicores", "57.1%", "80 millicores", "new", "20", "Flame graph"],
        ["", "2.30.4", "30 millicores", "42.9%", "60 millicores", "-14.3%", "20", "Flame graph"],
    ]
    assert "mean compared with the previous 30 minutes" in html


@pytest.mark.usefixtures("profiles")
def test_endpoints_are_labels_of_samples(signed_in: Client) -> None:
    html = shown(signed_in, group_by="sample.endpoint")
    assert rows(html) == [
        ["", "/pay", "40 millicores", "57.1%", "no change", "Flame graph"],
        ["", "/list", "20 millicores", "28.6%", "no change", "Flame graph"],
        ["", "(not set)", "10 millicores", "14.3%", "no change", "Flame graph"],
    ]
    assert "sample.endpoint=%2Fpay" in html
    drawn = plot(html)
    assert (drawn["names"], drawn["unit"], drawn["others"]) == (
        ["/pay", "/list", "(not set)"],
        "cores",
        0,
    )
    only_new = rows(shown(signed_in, group_by="sample.endpoint", version="2.30.4"))
    assert only_new[0][4] == "-25%"


@pytest.mark.usefixtures("profiles")
def test_menu_lists_the_labels_of_the_selection(signed_in: Client) -> None:
    html = shown(signed_in)
    menu = html.partition('name="group_by"')[2].partition("</select>")[0]
    assert re.findall(r'value="([^"]+)"', menu) == [
        "version",
        "zone",
        "label.instance",
        "sample.endpoint",
    ]
    unknown = shown(signed_in, group_by="sample.nothing")
    assert '<option value="sample.nothing" selected>' in unknown
    assert rows(unknown)[0][1] == "(not set)"


@pytest.mark.usefixtures("profiles")
def test_the_flame_graph_of_a_value_keeps_range_and_filters(signed_in: Client) -> None:
    html = shown(signed_in, group_by="label.instance", f="show:shop", zone="europe-west1-b")
    link = unescape(re.findall(r'href="(/p/acme-shop/flame\?[^"]*label[^"]*)"', html)[0])
    query = parse_qs(urlsplit(link).query)
    assert query == {
        **{name: [value] for name, value in WHAT.items()},
        "zone": ["europe-west1-b"],
        "label.instance": ["b"],
        "f": ["show:shop"],
    }
    assert signed_in.get(link).status_code == 200


@pytest.mark.usefixtures("profiles")
def test_the_flame_graph_of_samples_without_the_label_has_only_these(signed_in: Client) -> None:
    html = shown(signed_in, group_by="sample.endpoint")
    link = unescape(re.findall(r'href="(/p/acme-shop/flame\?[^"]*)"', html)[-1])
    assert parse_qs(urlsplit(link).query)["unset"] == ["sample.endpoint"]
    assert 'aria-label="Flame graph of (not set)"' in html
    assert 'value="None"' not in html
    flame = render_html(signed_in.get(link))
    assert "Showing 100 ms of 700 ms, 14.3%" in flame
    assert "Remove label endpoint (not set)" in flame
    assert "shop.pay" not in flame
    history = render_html(signed_in.get(link.replace("/flame", "/history")))
    assert "Remove label endpoint (not set)" in history
    assert "shop.pay" not in history


def test_the_flame_graph_of_profiles_without_the_label(
    signed_in: Client, project: Project, now: datetime, profiles: None
) -> None:
    plain = shop.deployment(project, version="2.31.0")
    labelled_shop.send(plain, shop.minutes_before(now, 3), labelled_shop.stacks(900))
    html = shown(signed_in, group_by="label.instance")
    assert [row[1] for row in rows(html)] == ["b", "a", "(not set)"]
    link = unescape(re.findall(r'href="(/p/acme-shop/flame\?[^"]*)"', html)[-1])
    flame = render_html(signed_in.get(link))
    assert re.search(r"<b class=\"strong\">\s*3 profiles", flame)
    assert "Remove label instance (not set)" in flame
    of_nothing = render_html(signed_in.get("/p/acme-shop/flame", WHAT | {"unset": "zone"}))
    assert "No CPU time profiles of this zone and version" in of_nothing


@pytest.mark.usefixtures("profiles")
def test_a_flame_graph_of_an_endpoint_has_its_samples_only(signed_in: Client) -> None:
    of_pay = WHAT | {"sample.endpoint": "/pay"}
    html = render_html(signed_in.get("/p/acme-shop/flame", of_pay))
    assert "Rule.matches" in html
    assert "shop.list" not in html
    assert "Remove label endpoint /pay" in html
    nothing = render_html(signed_in.get("/p/acme-shop/flame", WHAT | {"sample.endpoint": "/none"}))
    assert "No samples with these labels" in nothing
    history = render_html(signed_in.get("/p/acme-shop/history", of_pay))
    assert "Rule.matches" in history
    assert "shop.list" not in history


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("order", [1, -1])
def test_the_newer_of_two_versions_is_compared_with_the_older(
    signed_in: Client, project: Project, order: int
) -> None:
    older = Deployment.objects.filter(project=project, version="2.30.4")
    older.update(first_seen=datetime.fromisoformat("2025-01-01T00:00:00Z"))
    picks = ["2.31.0", "2.30.4"][::order]
    response = signed_in.get(BREAKDOWN, WHAT | {"pick": picks, "compare": "1"})
    assert response.status_code == 302
    address = urlsplit(response.headers["Location"])
    query = parse_qs(address.query)
    assert address.path == "/p/acme-shop/compare"
    assert (query["version"], query["b.version"]) == (["2.31.0"], ["2.30.4"])
    assert query["span"] == ["30m"]
    assert signed_in.get(response.headers["Location"]).status_code == 200


@pytest.mark.usefixtures("profiles")
def test_two_endpoints_are_compared(signed_in: Client) -> None:
    picks = {"pick": ["/pay", "/list"]}
    of_samples = WHAT | {"group_by": "sample.endpoint", "compare": "1"}
    response = signed_in.get(BREAKDOWN, {**of_samples, **picks})
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    assert (query["sample.endpoint"], query["b.sample.endpoint"]) == (["/pay"], ["/list"])
    compared = render_html(signed_in.get(response.headers["Location"]))
    assert "Rule.matches" in compared


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("picks", [[], ["2.31.0"], ["2.31.0", "2.31.0"]])
def test_other_than_two_values_cannot_be_compared(signed_in: Client, picks: list[str]) -> None:
    response = signed_in.get(BREAKDOWN, WHAT | {"pick": picks, "compare": "1"})
    assert response.status_code == 200
    assert "Select two values to compare." in render_html(response)


@pytest.fixture
def many(project: Project, now: datetime) -> None:
    """Store one profile each of 60 instances, the first of which is the heaviest."""
    for number in range(60):
        of = labelled_shop.stacks(600 - number, 0, 0)
        labels = {"instance": f"web-{number:02}"}
        labelled_shop.send(shop.deployment(project), [now - timedelta(minutes=5)], of, labels)


@pytest.mark.usefixtures("many")
def test_the_chart_has_ten_values_and_the_rest(signed_in: Client) -> None:
    html = shown(signed_in, group_by="label.instance")
    drawn = plot(html)
    assert drawn["names"] == [f"web-{number:02}" for number in range(10)]
    assert drawn["others"] == 50
    assert len(drawn["values"]) == 11  # type: ignore[arg-type]
    assert "Other (50 values)" in html
    assert len(rows(html)) == 50
    second = shown(signed_in, group_by="label.instance", page="2")
    assert [row[1] for row in rows(second)] == [f"web-{number}" for number in range(50, 60)]
    assert "Page 2 of 2" in second


@pytest.mark.usefixtures("many")
def test_the_table_is_sorted(signed_in: Client) -> None:
    by = {"group_by": "label.instance"}
    assert rows(shown(signed_in, **by, sort="-value"))[0][1] == "web-59"
    assert rows(shown(signed_in, **by, sort="-name"))[0][1] == "web-59"
    html = shown(signed_in, **by, sort="name")
    assert rows(html)[0][1] == "web-00"
    assert 'aria-sort="ascending"' in html
    for column in ("mean", "change", "profiles"):
        assert len(rows(shown(signed_in, **by, sort=column))) == 50


@pytest.mark.usefixtures("many")
def test_htmx_request_gets_the_table_only(signed_in: Client) -> None:
    parameters = WHAT | {"group_by": "label.instance", "page": "2"}
    response = signed_in.get(BREAKDOWN, parameters, headers=HTMX)
    html = render_html(response)
    assert html.lstrip().startswith("<section")
    assert response.headers["HX-Push-Url"].endswith("page=2")
    assert len(rows(html)) == 10


@pytest.mark.usefixtures("profiles")
def test_csv_has_the_sums_of_every_value_and_step(signed_in: Client) -> None:
    response = signed_in.get(f"{BREAKDOWN}/csv", WHAT | {"step": "15m"})
    header, *found = csv.reader(io.StringIO(response.content.decode()))
    assert header[:5] == [
        "version",
        "total (nanoseconds)",
        "profiles",
        "total of the previous period (nanoseconds)",
        "profiles of the previous period",
    ]
    assert [row[:5] for row in found] == [
        ["2.31.0", "16000000000", "20", "0", "0"],
        ["2.30.4", "12000000000", "20", "14000000000", "20"],
    ]
    assert all(sum(map(int, row[5:])) == int(row[1]) for row in found)
    assert signed_in.get(f"{BREAKDOWN}/csv").status_code == 400


@pytest.mark.usefixtures("profiles")
def test_filters_choose_the_stacks(signed_in: Client) -> None:
    found = rows(shown(signed_in, f="show:Rule"))
    assert [row[2] for row in found] == ["25 millicores", "15 millicores"]
    assert "No stacks match this filter" in shown(signed_in, f="show:nowhere")
    assert "Invalid regex /a(/" in unescape(shown(signed_in, f="show:/a(/"))


@pytest.mark.usefixtures("profiles")
def test_a_bad_parameter_is_named(signed_in: Client) -> None:
    html = unescape(shown(signed_in, group_by="pod", step="1s", sort="colour"))
    assert "“group_by=pod” in the address could not be read" in html
    assert len(rows(html)) == 2


def test_markup_in_values_is_escaped(signed_in: Client, project: Project, now: datetime) -> None:
    times = shop.minutes_before(now, 3)
    of = shop.deployment(project)
    labelled_shop.send(of, times, labelled_shop.stacks(), {"instance": HOSTILE})
    html = shown(signed_in, group_by="label.instance")
    assert "<script>alert(1)" not in html
    assert rows(html)[0][1] == HOSTILE.replace("\u202e", "\ufffd")


def test_an_empty_range_says_so(signed_in: Client, project: Project, profiles: None) -> None:
    html = shown(signed_in, end="2026-01-01T00:00Z")
    assert "No CPU time profiles in this range" in html


@pytest.mark.usefixtures("profiles")
def test_costs_of_the_values_are_parts_of_the_cost_of_the_service(
    signed_in: Client, project: Project, alice: User, now: datetime
) -> None:
    parameters = {"group_by": "version"}
    assert "Cost a month" not in shown(signed_in, **parameters)  # no agent runs
    for number, deployment in enumerate(Deployment.objects.filter(project=project)):
        for agent in range(2):
            Agent.objects.create(
                deployment=deployment,
                identity=f"agent-{number}-{agent}",
                first_seen=now,
                last_seen=now,
            )
    html = shown(signed_in, **parameters)
    assert "Cost a month" in html
    assert "Set prices" in html
    change_prices(project, {"currency": "EUR", "core_hour": 1}, actor=alice)
    costs = [
        float(cell.removeprefix("€").replace(",", ""))
        for row in rows(shown(signed_in, **parameters))
        for cell in row
        if cell.startswith("€")
    ]
    services = render_html(signed_in.get("/p/acme-shop/services?span=30m"))
    whole = re.search(r"€([\d.,]+)", services.partition('class="num cost"')[2])
    assert whole is not None
    assert sum(costs) == pytest.approx(float(whole[1].replace(",", "")), rel=0.01)
    assert len(costs) == 2
    assert "Cost a month" not in shown(signed_in, **parameters, type="HEAP")
