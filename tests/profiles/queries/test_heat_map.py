"""Heat map: number of profiles by time and weight."""

from dataclasses import replace
from datetime import timedelta

import pytest

from profiles.queries.reports.heat_map import MOST_STEPS, WEIGHTS, choose_step
from profiles.query import ProfileSelection, run_heat_map
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


def test_every_profile_is_in_one_cell(selection: ProfileSelection, shop: Deployment) -> None:
    for minute in range(60):
        rows.stored(shop, {"main": 10 + minute % 7}, minutes=minute)
    result = run_heat_map(query_context(selection), selection)
    assert result.coverage.profiles == 60
    assert sum(map(sum, result.counts)) == 60
    assert len(result.counts) == len(result.edges) - 1 == WEIGHTS
    assert {len(line) for line in result.counts} == {len(result.starts)}
    assert (result.edges[0], result.edges[-1]) == (10_000, 16_000)


def test_spike_is_in_the_column_of_its_time(selection: ProfileSelection, shop: Deployment) -> None:
    for minute in range(10):
        rows.stored(shop, {"main": 100 if minute == 7 else 10}, minutes=minute)
    result = run_heat_map(query_context(selection), selection)
    heaviest = result.counts[-1]
    (column,) = (i for i, count in enumerate(heaviest) if count)
    start = result.starts[column]
    assert (
        start <= rows.NOON + timedelta(minutes=7) < start + timedelta(seconds=result.step_seconds)
    )
    assert sum(result.counts[0]) == 9


def test_profiles_of_one_weight_are_one_row(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, {"main": 5}, minutes=1)
    rows.stored(shop, {"main": 5}, minutes=2)
    assert [sum(line) for line in run_heat_map(query_context(selection), selection).counts] == [2]


def test_without_profiles_there_are_no_weights(selection: ProfileSelection) -> None:
    result = run_heat_map(query_context(selection), selection)
    assert (result.edges, result.counts, result.coverage.profiles) == ((), (), 0)
    assert result.starts


def test_only_what_is_selected_is_counted(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, minutes=1)
    rows.stored(rows.deployment(shop.project, zone="us"), minutes=2)
    assert (
        run_heat_map(
            query_context(replace(selection, zones=("us",))), replace(selection, zones=("us",))
        ).coverage.profiles
        == 1
    )


@pytest.mark.parametrize("minutes", [1, 5, 59, 60, 61, 1440, 10080, 43200, 400 * 1440])
def test_steps_cover_the_range_and_are_not_too_many(
    selection: ProfileSelection, minutes: int
) -> None:
    odd = selection.start + timedelta(seconds=17.25)
    result = run_heat_map(
        query_context(replace(selection, start=odd, end=odd + timedelta(minutes=minutes))),
        replace(selection, start=odd, end=odd + timedelta(minutes=minutes)),
    )
    step = timedelta(seconds=result.step_seconds)
    assert step == choose_step(timedelta(minutes=minutes))
    assert result.starts[0] <= odd < result.starts[0] + step
    assert result.starts[-1] < odd + timedelta(minutes=minutes) <= result.starts[-1] + step
    assert 10 <= len(result.starts) <= MOST_STEPS
