"""`/p/<project>/flame/over-time`, values over time of a selection and of a function."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from frontend.components.charts.chart_notes import ChartNotes
from frontend.components.charts.version_marks import VersionMark
from frontend.pages.flame.over_time import view
from frontend.pages.flame.over_time.chart import around, build_over_time
from profiles.query import (
    Coverage,
    DeadlinePassed,
    Metric,
    ProfileSelection,
    StripResult,
    StripStep,
)
from projects.models import Annotation, Member, Project, Role, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.frontend.html import render_html

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NONE = Coverage(0, 0, 0, None, None)
NO_NOTES = ChartNotes((), (), "", "")
TEN_SECONDS = 10**10  # ns
CPU = Metric("cpu", "nanoseconds")


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def selection(
    start: datetime, end: datetime, of: ProfileType = ProfileType.CPU
) -> ProfileSelection:
    return ProfileSelection(1, "shop", of, start, end)


def strip(
    totals: Sequence[float], metric: Metric = CPU, of: ProfileType = ProfileType.CPU
) -> StripResult:
    """Return a result with two profiles of 10 s in each hour that has a total."""
    steps = [
        StripStep(NOON + i * HOUR, 2 if total else 0, total, 2 * TEN_SECONDS if total else 0)
        for i, total in enumerate(totals)
    ]
    whole = selection(NOON, NOON + len(totals) * HOUR, of)
    return StripResult(whole, 3600, metric, NONE, tuple(steps))


def test_chart_extends_around_the_selected_range_up_to_now() -> None:
    latest = around(selection(NOON - HOUR, NOON), NOON)
    assert (latest.start, latest.end) == (NOON - 7 * HOUR, NOON)
    heavy = around(replace(selection(NOON - HOUR, NOON), top_percent=10.0), NOON)
    assert heavy.top_percent is None
    past = around(selection(NOON - 10 * HOUR, NOON - 9 * HOUR), NOON)
    assert (past.start, past.end) == (NOON - 13 * HOUR, NOON - 6 * HOUR)


def test_cpu_time_is_charted_in_the_unit_of_the_graph_beside_that_of_a_function() -> None:
    result = strip([10**10, 0, 2 * 10**10])
    chosen = selection(NOON + 2 * HOUR, NOON + 3 * HOUR)
    release = VersionMark("2.31.0", NOON + HOUR)
    shown = build_over_time(result, chosen, [release], NO_NOTES, ("quote", [10**9, 0, 4 * 10**9]))
    plot = json.loads(shown.plot)
    assert (plot["unit"], plot["names"]) == ("nanoseconds", ["CPU time", "quote"])
    assert plot["values"] == [[5e9, None, 1e10], [5e8, None, 2e9]]
    assert plot["counts"] == [2, 0, 2]
    assert plot["selected"] == [plot["to"] - plot["step"], plot["to"]]
    assert plot["versions"] == [[release.first.timestamp(), "2.31.0"]]
    assert [each.value for each in shown.series] == ["10 s", "2 s"]
    assert [(row.profiles, row.values, row.versions) for row in shown.rows] == [
        (2, ["5 s", "500 ms"], []),
        (0, ["", ""], ["2.31.0"]),
        (2, ["10 s", "2 s"], []),
    ]


@pytest.mark.parametrize(
    ("of", "metric", "text"),
    [
        (ProfileType.CPU, Metric("samples", "count"), "1,024"),
        (ProfileType.WALL, Metric("wall", "nanoseconds"), "1.02 µs"),
        (ProfileType.HEAP, Metric("inuse_space", "bytes"), "1 KiB"),
        (ProfileType.HEAP_ALLOC, Metric("alloc_space", "bytes"), "1 KiB"),
        (ProfileType.CONTENTION, Metric("delay", "nanoseconds"), "1.02 µs"),
        (ProfileType.THREADS, Metric("goroutine", "count"), "1,024"),
    ],
)
def test_other_types_are_charted_as_the_mean_of_a_profile(
    of: ProfileType, metric: Metric, text: str
) -> None:
    shown = build_over_time(
        strip([2048], metric, of), selection(NOON, NOON + HOUR, of), [], NO_NOTES
    )
    assert shown.series[0].value == text


def test_a_significant_change_since_a_version_is_named() -> None:
    noise = [98, 100, 102, 99, 101] * 2
    before, after = [10**7 * each for each in noise], [2 * 10**7 * each for each in noise]
    result = strip([1e10] * 20)
    began = VersionMark("2", NOON + 10 * HOUR)
    shown = build_over_time(
        result, result.selection, [began], NO_NOTES, ("quote", [*before, *after])
    )
    assert shown.change
    assert (shown.change.version, shown.change.sign) == ("2", 1)
    assert shown.change.text == "+500 ms"
    assert json.loads(shown.plot)["changes"] == [1]
    same = build_over_time(
        result, result.selection, [began], NO_NOTES, ("quote", [*before, *before])
    )
    assert same.change is None
    assert json.loads(same.plot)["changes"] == [0]


@pytest.mark.django_db
def test_the_fragment_has_the_function_that_is_in_focus_or_named(
    signed_in: Client, project: Project
) -> None:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3))
    url = reverse("flame_over_time", args=[project.project_id]) + "?service=checkout&type=CPU"

    def plot(query: str) -> dict[str, list[str]]:
        html = render_html(signed_in.get(url + query))
        text = html.partition('data-plot="')[2].partition('"')[0]
        found: dict[str, list[str]] = json.loads(unescape(text))
        return found

    assert plot("")["names"] == ["CPU time"]
    assert plot("&focus=pricing.quote")["names"] == ["CPU time", "pricing.quote"]
    assert plot("&function=Rule.matches")["names"] == ["CPU time", "Rule.matches"]
    assert signed_in.get(url.partition("?")[0]).status_code == 400


@pytest.mark.django_db
def test_chart_over_its_deadline_is_503_with_advice(signed_in: Client, project: Project) -> None:
    url = reverse("flame_over_time", args=[project.project_id]) + "?service=checkout&type=CPU"
    with patch.object(view, "run_strip", side_effect=DeadlinePassed):
        response = signed_in.get(url)
    assert response.status_code == 503
    assert "Try a shorter time range" in response.content.decode()


def test_notes_are_marks_rows_of_the_table_and_texts_of_functions(
    client: Client, bob: User, project: Project
) -> None:
    now = timezone.now()
    shop.send(shop.deployment(project), shop.minutes_before(now, 5))
    notes = Annotation.objects
    at = now - timedelta(minutes=7)
    timed = notes.create(project=project, service="checkout", at=at, text="deploy <2>")
    notes.create(project=project, service="cart", at=at, text="of another service")
    notes.create(project=project, at=now - timedelta(days=300), text="out of the range")
    notes.create(project=project, service="checkout", function="a.b", text="slow here")
    notes.create(project=project, service="cart", function="c.d", text="other function")
    client.force_login(bob)
    query = {"service": "checkout", "type": "CPU"}
    html = client.get(reverse("flame_over_time", args=[project.project_id]), query).content.decode()
    plot = json.loads(unescape(html.partition('data-plot="')[2].partition('"')[0]))
    assert plot["notes"] == [[at.timestamp(), "deploy <2>", timed.pk]]
    assert f'/notes?service=checkout#note-{timed.pk}">deploy &lt;2&gt;</a>' in html
    assert 'data-function="a.b">slow here</a>' in html
    assert "other" not in html
    assert "/notes/new?service=checkout&amp;at=" in html


def test_viewers_are_not_offered_to_add_a_note(client: Client, project: Project) -> None:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 5))
    vera = User.objects.create_user("vera@example.org", "a sentence works well")
    Member.objects.create(project=project, user=vera, role=Role.VIEWER)
    client.force_login(vera)
    for name in ("flame_over_time", "flame", "history", "breakdown"):
        url = reverse(name, args=[project.project_id])
        page = client.get(url, {"service": "checkout", "type": "CPU"})
        assert page.status_code == 200
        assert "/notes/new" not in page.content.decode()
