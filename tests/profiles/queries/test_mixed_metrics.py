"""Metric aliases: every matching profile is summed, or counted as left out."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest

from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.query import (
    Coverage,
    FilterOption,
    Group,
    InvalidQuery,
    ProfileSelection,
    View,
    ViewFilter,
    run_compare,
    run_focus,
    run_heat_map,
    run_history,
    run_lines,
    run_options,
    run_top,
    run_tree,
)
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.mixed_agents import KINDS, Sent, Sum, having, store, summed, unit_of
from tests.profiles.pprofs import pprof
from tests.profiles.queries.compaction_stages import STAGES, compact_to

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
CPU = Metric("cpu", "nanoseconds")


def whole(project: Project, type: ProfileType = ProfileType.CPU) -> ProfileSelection:
    return ProfileSelection(project.pk, "shop", type, rows.NOON - DAY, rows.NOON + 3 * DAY)


def stacks_of(tree: Tree) -> Sum:
    """Return Σ self by stack."""
    paths: list[str] = []
    for parent, frame in zip(tree.parent.tolist(), tree.frame.tolist(), strict=True):
        name = tree.frames.strings[tree.frames.name[frame]]
        paths.append(f"{paths[parent]};{name}" if parent >= 0 else name)
    return +Counter(dict(zip(paths, tree.self[0].tolist(), strict=True)))


def check(coverage: Coverage, sent: Sequence[Sent], metric: str) -> None:
    """Check that merged and missing profiles are all that match, and the merged total."""
    assert coverage.profiles == having(sent, metric)
    assert coverage.profiles + coverage.left_out == len(sent)
    assert coverage.total == summed(sent, metric).total()
    for missing in coverage.missing:
        assert missing.reason == "no_metric"
        assert f"No metric {metric} (" in missing.explanation


def check_all(project: Project, type: ProfileType, sent: Sequence[Sent], metric: str) -> None:
    selection, view = whole(project, type), View(metric=Metric(metric, unit_of(metric)))
    if not having(sent, metric):
        return
    tree = run_tree(query_context(selection), selection, view)
    check(tree.coverage, sent, metric)
    assert stacks_of(tree.tree) == summed(sent, metric)
    lines = run_tree(
        query_context(selection), selection, View(metric=view.metric, group=Group.LINE)
    )
    check(lines.coverage, sent, metric)
    assert stacks_of(lines.tree) == summed(sent, metric)
    top = run_top(query_context(selection), selection, view)
    check(top.coverage, sent, metric)
    assert sum(row.self for row in top.rows) == top.coverage.total
    check(
        run_focus(
            query_context(selection), selection, View(metric=view.metric, focus="a")
        ).coverage,
        sent,
        metric,
    )
    check(
        run_lines(query_context(selection), selection, view, "a", "app.py").coverage, sent, metric
    )
    history = run_history(query_context(selection), selection, view)
    check(history.coverage, sent, metric)
    assert sum(step.total for step in history.steps) == history.coverage.total
    if metric == KINDS[type][0][0]:
        heat_map = run_heat_map(query_context(selection), selection)
        check(heat_map.coverage, sent, metric)
        assert sum(map(sum, heat_map.counts)) == having(sent, metric)
    check_comparison(project, type, sent, metric)


def check_comparison(
    project: Project, type: ProfileType, sent: Sequence[Sent], metric: str
) -> None:
    a, b = (
        ProfileSelection(
            project.pk, "shop", type, rows.NOON - DAY, rows.NOON + 3 * DAY, zones=(zone,)
        )
        for zone in ("eu", "us")
    )
    sides = [[each for each in sent if each.zone == zone] for zone in ("eu", "us")]
    if not all(having(side, metric) for side in sides):
        return
    named = Metric(metric, unit_of(metric))
    hidden = ViewFilter(FilterOption.HIDE_FRAMES, "nothing")
    for view in (View(metric=named), View(metric=named, filters=(hidden,))):
        result = run_compare(query_context(a), a, b, view)
        for coverage, side in zip(result.coverages, sides, strict=True):
            check(coverage, side, metric)
        for row, side in zip(result.tree.self, sides, strict=True):
            assert int(row.sum()) == summed(side, metric).total()


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 2, 3))]
)
@pytest.mark.parametrize("stage", STAGES)
def test_every_matching_profile_is_used_or_counted_as_missing(
    project: Project, stage: str, seed: int
) -> None:
    chance = random.Random(seed)
    type = chance.choice([*KINDS])
    sent = store(project, type, 60, chance)
    compact_to(project, stage)
    for metric in KINDS[type][0]:
        check_all(project, type, sent, metric)


def test_two_spellings_in_one_service_are_one_metric(project: Project) -> None:
    of = rows.deployment(project)
    rows.stored(of, {"main": 5}, sample_types=[("CPU", "nanoseconds")])
    rows.stored(of, {"main": 7}, minutes=1, sample_types=[("cpu", "nanoseconds")])
    top = run_top(query_context(whole(project)), whole(project), View())
    assert (top.coverage.profiles, top.coverage.missing) == (2, ())
    assert [row.self for row in top.rows] == [12]
    assert run_options(
        query_context(project.pk), "shop", ProfileType.CPU, rows.NOON, rows.NOON + DAY
    ).metrics == (CPU,)


@pytest.mark.parametrize("name", ["CPU", "cpu", "Cpu_Time"])
def test_a_metric_is_found_by_any_of_its_names(project: Project, name: str) -> None:
    rows.stored(rows.deployment(project), {"main": 5})
    for unit in ("", "nanoseconds"):
        assert (
            run_tree(
                query_context(whole(project)), whole(project), View(metric=Metric(name, unit))
            ).metric
            == CPU
        )


def test_a_metric_that_no_profile_has_is_named(project: Project) -> None:
    rows.stored(rows.deployment(project), {"main": 5})
    with pytest.raises(InvalidQuery, match=r"No metric delay in these profiles\. Available: cpu"):
        run_tree(query_context(whole(project)), whole(project), View(metric=Metric("delay", "")))


def test_two_names_of_one_metric_in_a_profile_are_not_counted_twice(project: Project) -> None:
    both = [("itimer", "nanoseconds"), ("cpu", "nanoseconds")]
    raw = pprof({"main": [3, 5]}, both)
    rows.stored_raw(rows.deployment(project), raw)
    top = run_top(query_context(whole(project)), whole(project), View())
    assert [row.self for row in top.rows] == [5]  # of cpu, not of its alias itimer
    assert top.metrics == (CPU, Metric("itimer", "nanoseconds"))
    compact_to(project, "days")
    assert [
        row.self for row in run_top(query_context(whole(project)), whole(project), View()).rows
    ] == [5]


def test_profiles_without_the_metric_are_counted_with_their_own_metrics(project: Project) -> None:
    of = rows.deployment(project)
    rows.stored(of, {"main": 5})
    for minutes in (3, 9):
        rows.stored(of, {"main": 5}, minutes=minutes, sample_types=[("samples", "count")])
    missing = run_tree(query_context(whole(project)), whole(project), View()).coverage.missing
    assert [(each.profiles, each.start, each.end) for each in missing] == [
        (2, rows.NOON + timedelta(minutes=3), rows.NOON + timedelta(minutes=9))
    ]
    assert missing[0].explanation == "No metric cpu (nanoseconds); available: samples (count)."
