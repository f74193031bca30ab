"""`/p/<project>/history`, the cost of functions step by step."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from endpoints.params.reader import LenientReader
from frontend.components.charts.chart_notes import ChartNotes
from frontend.components.charts.time_steps import default_step, steps_for
from frontend.pages.history.chart import chart
from frontend.pages.history.params import HistoryQuery, read
from profiles.queries.reports.history import VersionSpan
from profiles.queries.reports.time_steps import HistoryStep
from profiles.query import (
    Coverage,
    HistoryResult,
    Metric,
    ProfileSelection,
    View,
)
from projects.models import Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.html import render_html

HISTORY = "/p/acme-shop/history"
WHAT = {"service": "checkout", "type": "CPU", "span": "1h", "step": "5m"}
MAIN, GREW = ("main", "main.py"), ("shop.Rule.matches", "rules.py")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def profiles(project: Project) -> None:
    """Store 20 minutes each of 2.30.4 and 2.31.0, one profile a minute, with a gap between."""
    now = timezone.now()
    for version, first, grown in (("2.31.0", 1, 200), ("2.30.4", 36, 100)):
        times = [now - timedelta(minutes=first + n) for n in range(20)]
        stacks = {(MAIN,): 700_000, (MAIN, GREW): 1000 * grown}
        shop.send(shop.deployment(project, version=version), times, stacks)


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def shown(client: Client, **parameters: str) -> str:
    response = client.get(HISTORY, WHAT | parameters)
    assert response.status_code == 200
    return render_html(response)


def rows(html: str) -> list[list[str]]:
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [
            re.sub(r"<[^>]+>", "", cell).strip()
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
        ]
        for row in body.split("<tr>")[1:]
    ]


@pytest.mark.django_db
def test_page_without_services_links_to_the_setup(signed_in: Client, project: Project) -> None:
    assert "No service sends profiles yet" in render_html(signed_in.get(HISTORY))


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_each_function_has_its_last_values_and_its_range(signed_in: Client) -> None:
    assert rows(shown(signed_in)) == [
        [
            "main",
            "main.py",
            "700 ms",
            "900 ms",
            "700 ms – 700 ms",
            "Not enough steps to compare",
            "Focus",
        ],
        [
            "shop.Rule.matches",
            "rules.py",
            "200 ms",
            "200 ms",
            "100 ms – 200 ms",
            "Not enough steps to compare",
            "Focus",
        ],
    ]


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_percent_values_are_shares(signed_in: Client) -> None:
    assert rows(shown(signed_in, values="percent"))[1][2:5] == ["22.2%", "22.2%", "12.5% – 22.2%"]


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_versions_are_marked_and_can_be_compared(signed_in: Client) -> None:
    html = shown(signed_in)
    drawn = [json.loads(unescape(plot)) for plot in re.findall(r'data-plot="([^"]+)"', html)]
    assert [[name for _, name in plot["versions"]] for plot in drawn] == [["2.30.4", "2.31.0"]] * 2
    assert "Compare 2.31.0 with 2.30.4" in html
    link = re.search(r'href="(/p/acme-shop/compare\?[^"]*b\.version=[^"]+)"', html)
    assert link
    assert signed_in.get(link[1].replace("&amp;", "&")).status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_functions_are_chosen_or_left_out(signed_in: Client) -> None:
    def names(**parameters: str) -> list[str]:
        return [row[0] for row in rows(shown(signed_in, **parameters))]

    assert names(function="shop.Rule.matches") == ["shop.Rule.matches"]
    assert names(show="^shop") == ["shop.Rule.matches"]
    assert names(hide="shop") == ["main"]
    html = shown(signed_in, show="nothing")
    assert "No functions" in html
    assert "Clear expressions" in html


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_data_table_has_every_step_and_marks_gaps(signed_in: Client) -> None:
    html = shown(signed_in)
    every = html.partition('<details class="body ruled">')[2]
    counts = [int(n) for n in re.findall(r'</th><td class="num[^"]*">(\d+)</td>', every)]
    assert sum(counts) == 40
    assert 0 in counts
    assert '<span class="faint">none</span>' in every


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_history_is_downloaded_as_csv(signed_in: Client) -> None:
    response = signed_in.get(f"{HISTORY}/csv", WHAT)
    header, *found = csv.reader(io.StringIO(response.content.decode()))
    assert header[:4] == ["from", "profiles", "total (nanoseconds)", "self of main (nanoseconds)"]
    assert sum(int(row[1]) for row in found) == 40
    assert sum(int(row[3]) for row in found) == 40 * 700_000_000


@pytest.mark.django_db
@pytest.mark.usefixtures("profiles")
def test_unreadable_parameters_are_named(signed_in: Client) -> None:
    assert "“step=soon” in the address could not be read" in shown(signed_in, step="soon")
    assert "more than 400 steps" in shown(signed_in, step="1s")
    assert 'role="alert"' in shown(signed_in, show="(")


@pytest.mark.django_db
def test_markup_in_names_is_escaped(signed_in: Client, project: Project) -> None:
    of = shop.deployment(project, version=HOSTILE)
    shop.send(of, shop.minutes_before(timezone.now(), 2), {((HOSTILE, HOSTILE),): 1000})
    assert "<script>alert" not in shown(signed_in, show=HOSTILE)
    assert "<script>alert" not in shown(signed_in)


@pytest.mark.django_db
def test_history_of_another_tenant_is_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get(HISTORY, WHAT).status_code == 404
    assert client.get(f"{HISTORY}/csv", WHAT).status_code == 404


@pytest.mark.parametrize(
    ("span", "step"),
    [("1h", 1), ("6h", 15), ("1d", 60), ("7d", 360), ("30d", 1440), ("400d", 7 * 1440)],
)
def test_a_step_suits_the_range(span: str, step: int) -> None:
    query, notices = read(LenientReader.from_query(QueryDict(f"span={span}")), NOON)
    assert notices == ()
    assert query.shown_step == timedelta(minutes=step)
    assert query.shown_step in steps_for(query.params.span)


def test_default_range_is_7_days() -> None:
    query, _ = read(LenientReader.from_query(QueryDict("")), NOON)
    assert isinstance(query, HistoryQuery)
    assert query.params.span == timedelta(days=7)
    assert default_step(query.params.span) == timedelta(hours=6)


def test_a_line_has_gaps_and_versions() -> None:
    starts = [NOON + timedelta(hours=i) for i in range(4)]
    result = HistoryResult(
        selection=ProfileSelection(1, "shop", ProfileType.CPU, NOON, NOON + timedelta(hours=4)),
        view=View(),
        metric=Metric("cpu", "nanoseconds"),
        metrics=(),
        coverage=Coverage(3, 0, 0, NOON, NOON),
        step_seconds=3600.0,
        steps=tuple(HistoryStep(start, 1, 1, 1) for start in starts),
        lines=(),
        versions=(
            VersionSpan("1", NOON, NOON, 1),
            VersionSpan("2", NOON + timedelta(minutes=10), NOON, 1),
        ),
    )
    values = [[8e8, 4e8, None, 2e8 / 3]]
    drawn = json.loads(chart(result, values, ChartNotes([], [], "", ""), percent=False))
    assert drawn["lines"] == [[8e8, 4e8, None, 66667000]]
    assert drawn["profiles"] == [1, 1, 1, 1]
    assert (drawn["from"], drawn["to"]) == (NOON.timestamp(), NOON.timestamp() + 4 * 3600)
    assert drawn["versions"] == [[NOON.timestamp(), "1"], [NOON.timestamp() + 600, "2"]]
