"""Cost of functions over time."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_day, open_hour
from profiles.engine.calltree.top import top
from profiles.engine.encoding.codec import decode
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.stats.time_series import SeriesByFunction, TimeSeriesMerge
from profiles.models import Profile
from profiles.queries.reports.time_steps import MAX_STEPS, choose_step
from profiles.query import (
    DeadlinePassed,
    FilterOption,
    HistoryResult,
    InvalidQuery,
    ProfileSelection,
    StripStep,
    View,
    ViewFilter,
    run_history,
    run_series,
    run_strip,
    run_top,
    run_tree,
)
from projects.models import Deployment, Project
from tests.examples import examples
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.blocks.random_blocks import drawn_profiles
from tests.profiles.engine.random_trees import folded, meaning, tree_of
from tests.profiles.pprofs import EXAMPLE, Stacks
from tests.profiles.queries import labelled_profiles
from tests.profiles.queries.compaction_stages import STAGES, compact_to

pytestmark = pytest.mark.django_db

CPU = Metric("cpu", "nanoseconds")
TEN = timedelta(minutes=10)


def own(result: HistoryResult) -> dict[str, tuple[int, ...]]:
    return {line.name: line.self for line in result.lines}


def test_each_step_sums_the_profiles_of_its_time(
    shop: Deployment, selection: ProfileSelection
) -> None:
    for minute in (0, 1, 9.99, 10, 45):
        rows.stored(shop, minutes=minute)
    result = run_history(query_context(selection), selection, View(), step=TEN)
    assert [step.start for step in result.steps] == [rows.NOON + i * TEN for i in range(6)]
    assert [step.profiles for step in result.steps] == [3, 1, 0, 0, 1, 0]
    assert [step.total for step in result.steps] == [27_000_000, 9_000_000, 0, 0, 9_000_000, 0]
    assert [step.duration_ns // 10**9 for step in result.steps] == [30, 10, 0, 0, 10, 0]
    assert own(result)["bar"] == (15_000_000, 5_000_000, 0, 0, 5_000_000, 0)
    assert result.step_seconds == 600
    assert result.coverage == run_tree(query_context(selection), selection, View()).coverage


def test_sums_over_all_steps_equal_the_list_of_the_range(
    shop: Deployment, selection: ProfileSelection
) -> None:
    for i in range(20):
        changed: Stacks = {**EXAMPLE, "main;walk;walk": 100 * i, f"other;{'ab'[i % 2]}": 50 * i}
        rows.stored(shop, changed, minutes=3 * i)
    result = run_history(query_context(selection), selection, View(), lines=50)
    expected = {
        row.name: (row.self, row.total)
        for row in run_top(query_context(selection), selection, View()).rows
    }
    found = {line.name: (sum(line.self), sum(line.total)) for line in result.lines}
    assert found == {name: sums for name, sums in expected.items() if sums[0]}
    assert sum(step.total for step in result.steps) == result.coverage.total


def test_lines_are_the_largest_functions_or_the_named_ones(
    shop: Deployment, selection: ProfileSelection
) -> None:
    rows.stored(shop, {f"main;{name}": 7 - i for i, name in enumerate("abcdefg")})
    assert list(own(run_history(query_context(selection), selection, View()))) == [*"abcde"]
    assert list(
        own(run_history(query_context(selection), selection, View(), names=["g", "main", "g"]))
    ) == ["g", "main"]
    nowhere = run_history(query_context(selection), selection, View(), names=["nowhere"]).lines
    assert [(line.name, set(line.self)) for line in nowhere] == [("nowhere", {0})]


@pytest.mark.parametrize(
    ("show", "hide", "expected"),
    [
        (["/^[bcf]$/"], [], ["b", "c", "f"]),
        ([], ["a", "/[cd]/"], ["b", "e", "f", "g"]),
        (["/[abc]/"], ["b"], ["a", "c"]),
    ],
)
def test_functions_can_be_shown_and_hidden(
    shop: Deployment,
    selection: ProfileSelection,
    show: list[str],
    hide: list[str],
    expected: list[str],
) -> None:
    rows.stored(shop, {name: 7 - i for i, name in enumerate("abcdefg")})
    assert (
        list(own(run_history(query_context(selection), selection, View(), show=show, hide=hide)))
        == expected
    )


def test_filters_select_the_stacks_that_count(
    shop: Deployment, selection: ProfileSelection
) -> None:
    rows.stored(shop, minutes=5)
    view = View(filters=(ViewFilter(FilterOption.SHOW, "foo1"),))
    result = run_history(query_context(selection), selection, view, step=TEN)
    assert result.steps[0].total == 4_000_000
    assert own(result) == {"bar": (2_500_000, *[0] * 5), "foo1": (1_500_000, *[0] * 5)}
    assert result.coverage.total == 9_000_000


def test_versions_are_marked(project: Project, selection: ProfileSelection) -> None:
    for version, zone, minute in (("1", "a", 0), ("1", "b", 30), ("2", "a", 20), ("2", "a", 50)):
        rows.stored(rows.deployment(project, version=version, zone=zone), minutes=minute)
    rows.stored(rows.deployment(project, version="3"), minutes=60)
    spans = run_history(query_context(selection), selection, View()).versions
    minutes = [
        (s.version, (s.first - rows.NOON).seconds // 60, (s.last - rows.NOON).seconds // 60)
        for s in spans
    ]
    assert minutes == [("1", 0, 30), ("2", 20, 50)]
    assert [span.profiles for span in spans] == [2, 2]


def test_without_profiles_there_are_steps_and_no_lines(
    shop: Deployment, selection: ProfileSelection
) -> None:
    result = run_history(query_context(selection), selection, View(), step=TEN)
    assert len(result.steps) == 6
    assert (result.lines, result.versions, result.coverage.profiles) == ((), (), 0)


def test_steps_begin_at_round_times(shop: Deployment, selection: ProfileSelection) -> None:
    rows.stored(shop, minutes=1)
    late = replace(selection, start=rows.NOON + timedelta(seconds=30), end=rows.NOON + 3 * TEN)
    result = run_history(query_context(late), late, View(), step=TEN)
    assert [step.start for step in result.steps] == [rows.NOON + i * TEN for i in range(3)]
    month = replace(selection, start=selection.start - timedelta(days=30))
    days = run_history(query_context(month), month, View()).steps
    assert len(days) == 31
    assert all((day.start.hour, day.start.minute) == (0, 0) for day in days)
    assert [day.profiles for day in days] == [0] * 30 + [1]


@given(st.timedeltas(timedelta(seconds=1), timedelta(days=4000)))
def test_chosen_step_is_round_and_gives_at_most_120_steps(span: timedelta) -> None:
    step = choose_step(span)
    assert span / step <= 120
    assert not timedelta(days=1) % step or not step % timedelta(days=1)


def test_range_of_30_days_has_steps_of_a_day() -> None:
    assert choose_step(timedelta(days=30)) == choose_step(timedelta(days=90)) == timedelta(days=1)
    assert choose_step(timedelta(hours=6)) == TEN


def test_invalid_queries_are_rejected_with_the_reason(
    shop: Deployment, selection: ProfileSelection
) -> None:
    rows.stored(shop)
    with pytest.raises(InvalidQuery, match=f"the limit is {MAX_STEPS:,}"):
        run_history(query_context(selection), selection, View(), step=timedelta(seconds=1))
    with pytest.raises(InvalidQuery, match="steps of 1 s or more"):
        run_history(query_context(selection), selection, View(), step=timedelta(milliseconds=5))
    with pytest.raises(InvalidQuery, match="not empty"):
        run_history(
            query_context(replace(selection, end=selection.start)),
            replace(selection, end=selection.start),
            View(),
        )
    with pytest.raises(InvalidQuery, match=r"Invalid regex /a\(/"):
        run_history(query_context(selection), selection, View(), hide=["/a(/"])
    with pytest.raises(DeadlinePassed):
        run_history(query_context(selection, time.monotonic() - 1), selection, View())


def test_a_damaged_profile_is_named(shop: Deployment, selection: ProfileSelection) -> None:
    rows.stored(shop)
    damaged = rows.stored(shop, minutes=7)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.content.tree[:-9])
    result = run_history(query_context(selection), selection, View(), step=TEN)
    assert [missing.start for missing in result.coverage.missing] == [damaged.time]
    assert result.steps[0].profiles == result.coverage.profiles == 1


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(folded(), st.integers(0, 2)), max_size=6))
def test_each_step_equals_the_list_of_its_profiles(parts: Sequence[tuple[Stacks, int]]) -> None:
    merge = TimeSeriesMerge(CPU, 3)
    for stacks, step in parts:
        merge.step = step
        merge.add_tree(tree_of(stacks))
    tree = merge.tree()
    courses = SeriesByFunction(tree)
    found = {course.name: course for course in courses.select(range(len(courses.names)))}
    for step in range(3):
        rows_of = {row.name: row for row in top(tree, step)}
        assert {name: (c.self[step], c.total[step]) for name, c in found.items()} == {
            name: (row.self, row.total) for name, row in rows_of.items()
        }


def test_steps_times_nodes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profiles.engine.stats.time_series.MAX_CELLS", 20)
    merge = TimeSeriesMerge(CPU, 4)
    with pytest.raises(TooLarge, match="max_nodes"):
        merge.add_tree(tree_of({";".join(f"f{i}" for i in range(6)): 1}))


def test_times_of_versions_are_utc(shop: Deployment, selection: ProfileSelection) -> None:
    rows.stored(shop)
    (span,) = run_history(query_context(selection), selection, View()).versions
    assert span.first == datetime(2026, 11, 20, 12, tzinfo=UTC)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(drawn_profiles(), max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_series_are_the_same_for_head_hour_and_day_blocks(
    profiles: list[BlockProfile], one: int, other: int
) -> None:
    """Check one step per third of the profiles: in the head, an hour block and a day block."""
    first, last = sorted((one, other))
    thirds = profiles[:first], profiles[first:last], profiles[last:]
    stored, plain = TimeSeriesMerge(CPU, 3), TimeSeriesMerge(CPU, 3)
    for profile in thirds[0]:
        stored.add_encoded(profile.tree)
    stored.step = 1
    stored.add_hour(open_hour(build_hour(thirds[1])))
    stored.step = 2
    stored.add_day(open_day(build_day([open_hour(build_hour(thirds[2]))])))
    for plain.step, third in enumerate(thirds):
        for profile in third:
            plain.add_tree(decode(profile.tree))
    assert meaning(stored.tree())["own"] == meaning(plain.tree())["own"]


@pytest.mark.parametrize("stage", STAGES)
def test_history_of_samples_has_their_values_in_every_form_of_storage(
    project: Project, stage: str
) -> None:
    labelled_profiles.fill(project)
    compact_to(project, stage)
    of = labelled_profiles.cut(project)
    for allowed in (("/pay",), ("/list", "")):
        selection = replace(of, samples=(("endpoint", allowed),))
        context, step = query_context(selection), timedelta(hours=1)
        result = run_history(context, selection, View(), step=step, lines=50)
        top_rows = run_top(context, selection, View()).rows
        assert {line.name: (sum(line.self), sum(line.total)) for line in result.lines} == {
            row.name: (row.self, row.total) for row in top_rows if row.self
        }
        series = run_series(context, selection, View(), step=step)
        assert result.steps == series.steps
        assert sum(each.total for each in result.steps) == sum(row.self for row in top_rows) > 0
        strip = run_strip(context, selection, step=step)
        series = run_series(context, strip.selection, View(), step=step)
        assert strip.steps == tuple(
            StripStep(each.start, each.profiles, each.total, each.duration_ns)
            for each in series.steps
        )


def test_history_with_a_focus_has_the_stacks_that_reach_the_function(
    shop: Deployment, selection: ProfileSelection
) -> None:
    rows.stored(shop, minutes=5)
    result = run_history(query_context(selection), selection, View(focus="foo1"), step=TEN)
    assert result.steps[0].total == 4_000_000
    assert set(own(result)) == {"bar", "foo1"}
