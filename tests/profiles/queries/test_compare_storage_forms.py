"""Comparisons and histories give the same results for all forms of storage."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.engine.accumulators.merge import Merge
from profiles.models import Profile
from profiles.query import (
    CompareResult,
    FilterOption,
    ProfileSelection,
    View,
    ViewFilter,
    run_compare,
    run_history,
    run_tree,
    tree_json,
)
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


@pytest.fixture
def sides(
    shop: Deployment, selection: ProfileSelection
) -> tuple[ProfileSelection, ProfileSelection]:
    """Return selections of two hours of one day; in the second hour `work` takes longer."""
    for i in range(24):
        work = 1000 + 10 * (i % 5) + 300 * (i >= 12)
        stacks = {"main;work": work, "main;rest": 700 + 20 * (i % 7), "gc": 30 + i % 3}
        rows.stored(shop, stacks, minutes=5 * i)
    hour = timedelta(hours=1)
    return selection, replace(selection, start=selection.end, end=selection.end + hour)


def roll_up(selection: ProfileSelection) -> None:
    later = timezone.now() + timedelta(days=2)
    Compactor(selection.project, later).build_level1()
    sum_days(selection.project, later)
    assert not Profile.objects.exists()


def rounded(result: CompareResult) -> list[tuple[object, ...]]:
    whole = result.whole
    functions: list[tuple[object, ...]] = [
        (row.name, row.a_total, row.b_total, f"{row.low:.6g}", f"{row.q:.6g}", row.real)
        for row in sorted(result.functions, key=lambda row: row.name)
    ]
    total = (whole.a_total, whole.b_total, f"{whole.low:.6g}", f"{whole.q:.6g}", whole.real)
    return [*functions, total]


@pytest.mark.parametrize(
    "view", [View(), View(filters=(ViewFilter(FilterOption.HIDE_FRAMES, "main"),))]
)
def test_intervals_by_blocks_are_those_of_the_head(
    sides: tuple[ProfileSelection, ProfileSelection], view: View
) -> None:
    before = run_compare(query_context(sides[0]), *sides, view)
    assert any(row.real for row in before.functions)
    roll_up(sides[0])
    after = run_compare(query_context(sides[0]), *sides, view)
    assert rounded(after) == rounded(before)
    assert after.coverages == before.coverages


@pytest.mark.parametrize("in_blocks", [0, 1])
def test_comparison_of_blocks_with_the_head_gives_the_same_result(
    sides: tuple[ProfileSelection, ProfileSelection], in_blocks: int
) -> None:
    ordered_sides = sides if in_blocks == 0 else sides[::-1]
    before = run_compare(query_context(ordered_sides[0]), *ordered_sides, View())
    Profile.objects.update(stored_at=F("time"))
    Compactor(sides[0].project, sides[0].end + timedelta(minutes=30)).build_level1()
    assert Profile.objects.count() == 12
    after = run_compare(query_context(ordered_sides[0]), *ordered_sides, View())
    assert (rounded(after), after.coverages) == (rounded(before), before.coverages)


def test_strings_of_head_rows_are_not_decoded_if_blocks_have_their_functions(
    sides: tuple[ProfileSelection, ProfileSelection], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = replace(sides[0], end=sides[1].end)
    before = tree_json(query_context(both), run_tree(query_context(both), both, View()))
    Profile.objects.update(stored_at=F("time"))
    Compactor(both.project, sides[0].end + timedelta(minutes=30)).build_level1()
    assert Profile.objects.count() == 12
    monkeypatch.setattr(Merge, "_enter_unknown", None)
    assert tree_json(query_context(both), run_tree(query_context(both), both, View())) == before


def test_histories_after_rollup_equal_those_of_the_head(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    midnight = rows.NOON - timedelta(hours=12)
    day = replace(sides[0], start=midnight, end=midnight + timedelta(days=1))
    steps = (timedelta(minutes=10), timedelta(hours=1), timedelta(days=1))
    before = [run_history(query_context(day), day, View(), step=step) for step in steps]
    roll_up(day)
    after = [run_history(query_context(day), day, View(), step=step) for step in steps]
    for one, other in zip(before, after, strict=True):
        assert (one.steps, one.versions, one.coverage) == (
            other.steps,
            other.versions,
            other.coverage,
        )
        assert sorted(one.lines, key=str) == sorted(other.lines, key=str)
