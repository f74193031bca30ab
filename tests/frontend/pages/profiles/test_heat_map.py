"""Drawing of the heat map of weight over time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from frontend.pages.profiles.heat_map import LEVELS, Box, picture, table
from frontend.pages.profiles.params import ProfileQuery
from frontend.params.page_params import PageParams
from profiles.query import Coverage, HeatMapResult, Metric, ProfileSelection
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
STEP = timedelta(minutes=10)
SELECTION = ProfileSelection(1, "shop", ProfileType.CPU, NOON, NOON + 4 * STEP)
RESULT = HeatMapResult(
    selection=SELECTION,
    metric=Metric("cpu", "nanoseconds"),
    coverage=Coverage(21, 0, 0, NOON, NOON),
    starts=tuple(NOON + i * STEP for i in range(4)),
    step_seconds=600.0,
    edges=(1e9, 2e9, 3e9),
    counts=((1, 5, 0, 10), (0, 0, 0, 5)),
)
QUERY = ProfileQuery(PageParams(service="shop", type=ProfileType.CPU))


def test_rows_are_ordered_from_the_largest_total() -> None:
    drawn = picture(RESULT, QUERY)
    assert (drawn.columns, drawn.rows, drawn.most) == (4, 2, 10)
    assert drawn.counts == "0 0 0 5 1 5 0 10"
    assert drawn.bounds == "2000000000..3000000000 1000000000..1999999999"
    assert [mark.text for mark in drawn.weights] == ["1 s", "2 s", "3 s"]
    assert drawn.step == "10 minutes"


def test_every_cell_with_profiles_has_a_colour_level() -> None:
    levels = {level.number: level.path for level in picture(RESULT, QUERY).levels}
    assert levels == {
        1: "M0 1h1v1h-1z",
        3: "M3 0h1v1h-1zM1 1h1v1h-1z",
        5: "M3 1h1v1h-1z",
    }
    assert max(levels) == LEVELS


@pytest.mark.parametrize(
    ("picked", "weights", "box"),
    [
        (None, None, None),
        ((NOON + STEP, NOON + 3 * STEP), None, Box(1, 0, 2, 2)),
        (None, (2 * 10**9, 3 * 10**9), Box(0, 0, 4, 1)),
        ((NOON, NOON + STEP), (10**9, 2 * 10**9 - 1), Box(0, 1, 1, 1)),
        ((NOON - STEP, NOON + STEP / 2), (0, 5), Box(0, 2, 0.5, 0)),
    ],
)
def test_the_picked_box_is_marked(
    picked: tuple[datetime, datetime] | None, weights: tuple[int, int] | None, box: Box | None
) -> None:
    query = replace(QUERY, params=replace(QUERY.params, weights=weights))
    if picked:
        query = replace(query, pick_from=picked[0], pick_to=picked[1])
    assert picture(RESULT, query).picked == box


def test_the_table_has_the_same_counts() -> None:
    found = table(RESULT)
    assert [heading.text for heading in found.headings] == ["1 s – 2 s", "2 s – 3 s"]
    assert [(row.start, row.counts) for row in found.rows] == [
        (NOON, [1, 0]),
        (NOON + STEP, [5, 0]),
        (NOON + 3 * STEP, [10, 5]),
    ]
    assert found.headings[0].weights == "1000000000..1999999999"
    picked = found.rows[1].pick_from, found.rows[1].pick_to
    assert picked == ("2026-11-20T12:10:00Z", "2026-11-20T12:20:00Z")


def test_single_profile_total_is_one_row() -> None:
    result = replace(RESULT, edges=(5.0, 6.0), counts=((1, 2, 3, 4),))
    drawn = picture(result, QUERY)
    assert drawn.bounds == "5..6"
    assert [mark.y for mark in drawn.weights] == ["134", "4"]
