"""Time strip: profiles and values by step, and the totals of one function."""

from dataclasses import replace
from datetime import datetime, timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.queries.reports import time_strip
from profiles.query import (
    FilterOption,
    InvalidQuery,
    Metric,
    ProfileSelection,
    View,
    ViewFilter,
    run_function_strip,
    run_history,
    run_strip,
    strip_step,
)
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
TEN_MINUTES = timedelta(minutes=10)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def stored(shop: Deployment) -> None:
    for minute, weight in ((0, 10), (5, 20), (59, 4)):
        rows.stored(shop, {"main": weight, "main;work": 2 * weight}, minutes=minute)


def test_strip_sums_profiles_by_step_without_gaps(selection: ProfileSelection) -> None:
    strip = run_strip(query_context(selection), selection, step=TEN_MINUTES)
    assert strip.step_seconds == 600
    assert [(step.profiles, step.total) for step in strip.steps] == [
        (2, 90_000),
        *[(0, 0)] * 4,
        (1, 12_000),
    ]
    assert [step.duration_ns for step in strip.steps][1:5] == [0] * 4
    assert strip.steps[1].start == rows.NOON + TEN_MINUTES
    assert strip.coverage.profiles == 3


def test_steps_begin_at_round_times_also_before_the_range(selection: ProfileSelection) -> None:
    cut = replace(selection, start=selection.start + timedelta(minutes=3))
    strip = run_strip(query_context(cut), cut, step=TEN_MINUTES)
    assert strip.selection.start == strip.steps[0].start == rows.NOON
    assert strip.steps[0].profiles == 2


@pytest.mark.parametrize(
    ("span", "step"),
    [
        (timedelta(seconds=7), timedelta(seconds=1)),
        (timedelta(minutes=35), MINUTE),
        (timedelta(hours=7), timedelta(minutes=5)),
        (timedelta(days=7), timedelta(hours=2)),
        (timedelta(days=210), timedelta(days=2)),
        (timedelta(days=400), timedelta(days=5)),
    ],
)
def test_step_of_each_span_is_round(span: timedelta, step: timedelta) -> None:
    assert strip_step(span) == step


def test_the_range_and_the_number_of_steps_are_bounded(selection: ProfileSelection) -> None:
    with pytest.raises(InvalidQuery, match="the limit is 120"):
        run_strip(query_context(selection), selection, step=timedelta(seconds=10))
    with pytest.raises(InvalidQuery, match="not empty"):
        run_strip(query_context(selection), replace(selection, end=selection.start))


def test_a_functions_total_is_that_of_the_history(selection: ProfileSelection) -> None:
    context = query_context(selection)
    found = run_function_strip(context, selection, View(), "work", TEN_MINUTES)
    history = run_history(context, selection, View(), step=TEN_MINUTES, names=["work"])
    assert found == history.lines[0].total == (60_000, 0, 0, 0, 0, 8_000)
    hidden = View(filters=(ViewFilter(FilterOption.HIDE, "work"),))
    assert set(run_function_strip(context, selection, hidden, "work", TEN_MINUTES)) == {0}
    assert set(run_function_strip(context, selection, View(), "absent", TEN_MINUTES)) == {0}
    other = View(metric=Metric("absent", "count"))
    assert set(run_function_strip(context, selection, other, "work", TEN_MINUTES)) == {0}


def test_sums_of_blocks_are_cached_and_new_profiles_are_read(
    project: Project, shop: Deployment, selection: ProfileSelection
) -> None:
    now = timezone.now()
    for hours, weight in ((5, 3), (4, 4)):
        rows.stored(shop, {"main;work": weight}, minutes=(now - rows.NOON) / MINUTE - hours * 60)
    Compactor(project.pk, now + timedelta(days=1)).build_level1()
    rows.stored(shop, {"main;work": 7}, minutes=(now - rows.NOON) / MINUTE - 1)
    until_now = replace(selection, start=now - timedelta(hours=7), end=now)
    context = query_context(selection)
    step = timedelta(minutes=5)
    first = run_function_strip(context, until_now, View(), "work", step)
    assert [total for total in first if total] == [3_000, 4_000, 7_000]
    ranges: list[datetime] = []

    def counted(
        context: object, selection: ProfileSelection, *args: object, **options: object
    ) -> object:
        ranges.append(selection.start)
        return run_history(context, selection, *args, **options)  # type: ignore[arg-type]

    with patch.object(time_strip, "run_history", counted):
        assert run_function_strip(context, until_now, View(), "work", step) == first
    assert len(ranges) == 1
    assert ranges[0] > now - timedelta(hours=4)
