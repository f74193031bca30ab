"""Sums over time by the values of a label."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

from profiles.engine.stats.label_totals import LabelTotalsReader
from profiles.models import Block, Profile, Resolution
from profiles.queries.reports import series_accumulator
from profiles.query import (
    DeadlinePassed,
    FilterOption,
    Grouping,
    InvalidQuery,
    ProfileSelection,
    SeriesResult,
    View,
    ViewFilter,
    run_series,
    run_top,
    run_tree,
)
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.queries.compaction_stages import STAGES, compact_to
from tests.profiles.queries.labelled_profiles import (
    ENDPOINT,
    INSTANCE,
    KEYS,
    MICROSECOND,
    VERSION,
    ZONE,
    LabelledProfile,
    cut,
    fill,
    whole,
)

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def expected(
    sent: list[LabelledProfile],
    selection: ProfileSelection,
    group_by: Grouping | None,
    step: timedelta,
    counts: Callable[[str, str], bool] = lambda *_: True,
) -> dict[str | None, dict[datetime, int]]:
    """Sum the samples for which counts(stack, endpoint) is true, by value and start of a step."""
    sums: dict[str | None, dict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    midnight = rows.NOON.replace(hour=0)
    for each in sent:
        if not selection.start <= each.time < selection.end:
            continue
        start = midnight + (each.time - midnight) // step * step
        for (stack, endpoint), count in each.stacks.items():
            if counts(stack, endpoint):
                sums[KEYS[group_by](each, endpoint)][start] += count * MICROSECOND
    return {value: dict(of) for value, of in sums.items()}


def found(result: SeriesResult) -> dict[str | None, dict[datetime, int]]:
    return {
        each.value: {
            step.start: total
            for step, total in zip(result.steps, each.totals, strict=True)
            if total
        }
        for each in result.values
    }


SHOW_B = ViewFilter(FilterOption.SHOW, "b")
VIEWS: list[tuple[View, Callable[[str, str], bool]]] = [
    (View(), lambda *_: True),
    (View(filters=(SHOW_B,)), lambda stack, _: "b" in stack),
    (View(focus="a"), lambda stack, _: "a" in stack.split(";")),
]


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_series_equals_the_sum_of_samples_in_every_form_of_storage(
    project: Project, stage: str
) -> None:
    sent = fill(project)
    compact_to(project, stage)
    for selection, (view, counts) in product((whole(project), cut(project)), VIEWS):
        tree = run_tree(query_context(selection), selection, view)
        for group_by in KEYS:
            for step in (HOUR, DAY):
                result = run_series(query_context(selection), selection, view, group_by, step=step)
                assert found(result) == expected(sent, selection, group_by, step, counts), (
                    group_by,
                    view,
                    step,
                )
                assert result.coverage == tree.coverage
                assert sum(each.total for each in result.steps) == tree.tree.self.sum()


@pytest.mark.parametrize("stage", ["half", "days"])
def test_samples_are_selected_by_their_labels(project: Project, stage: str) -> None:
    sent = fill(project)
    selection = replace(whole(project), samples=(("endpoint", ("/pay", "/user")),))
    compact_to(project, stage)
    for group_by in KEYS:
        result = run_series(query_context(selection), selection, View(), group_by, step=DAY)
        of = expected(sent, selection, group_by, DAY, lambda _, value: value in ("/pay", "/user"))
        assert found(result) == of
    none = replace(selection, samples=(("endpoint", ("/nowhere",)),))
    result = run_series(query_context(none), none, View(), step=DAY)
    assert (result.steps[1].total, result.coverage.profiles) == (0, 90)


@dataclass(frozen=True)
class UnsetCase:
    """Selection with empty values, the profiles that it selects, and the samples that count."""

    narrowing: dict[str, Any]
    profiles: Callable[[LabelledProfile], bool] = lambda _: True
    samples: Callable[[str, str], bool] = lambda *_: True  # of a stack and an endpoint


UNSET = [
    UnsetCase({"versions": ("",)}, lambda sent: not sent.version),
    UnsetCase({"versions": ("", "1")}, lambda sent: sent.version != "2"),
    UnsetCase({"labels": (("instance", ("",)),)}, lambda sent: not sent.labels),
    UnsetCase(
        {"labels": (("instance", ("", "x")),)}, lambda sent: sent.labels.get("instance", "x") == "x"
    ),
    UnsetCase({"samples": (("endpoint", ("",)),)}, samples=lambda _, value: not value),
    UnsetCase({"samples": (("endpoint", ("", "/pay")),)}, samples=lambda _, v: v in ("", "/pay")),
    UnsetCase({"samples": (("plan", ("",)),)}),
    UnsetCase({"samples": (("endpoint", ("",)), ("plan", ("x",)))}, samples=lambda *_: False),
]


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_empty_value_selects_profiles_and_samples_without_the_label(
    project: Project, stage: str
) -> None:
    sent = fill(project)
    compact_to(project, stage)
    for case in UNSET:
        selection = replace(whole(project), **case.narrowing)
        selected = [each for each in sent if case.profiles(each)]
        for group_by in (VERSION, INSTANCE, ENDPOINT, None):
            result = run_series(query_context(selection), selection, View(), group_by, step=DAY)
            of = expected(selected, selection, group_by, DAY, case.samples)
            assert {value: sums for value, sums in found(result).items() if sums} == of, case
        tree = run_tree(query_context(selection), selection, View())
        assert tree.tree.self.sum() == sum(sum(sums.values()) for sums in of.values())
        assert tree.coverage.profiles == result.coverage.profiles == len(selected)


def test_without_filters_only_a_sample_label_needs_values(project: Project) -> None:
    fill(project)
    compact_to(project, "days")
    assert Block.objects.filter(resolution=Resolution.DAY).exists()
    selection = whole(project)
    with patch.object(LabelTotalsReader, "read_block", side_effect=AssertionError):
        for group_by in (VERSION, ZONE, INSTANCE, None):
            run_series(query_context(selection), selection, View(), group_by, step=HOUR)
        with pytest.raises(AssertionError):
            run_series(query_context(selection), selection, View(), ENDPOINT, step=HOUR)


def test_groups_of_profiles_have_their_number_and_duration(project: Project) -> None:
    sent = fill(project)
    selection = whole(project)
    result = run_series(query_context(selection), selection, View(), VERSION, step=HOUR)
    for each in result.values:
        count = sum((of.version or None) == each.value for of in sent)
        assert (each.profiles, each.duration_ns) == (count, count * 10**10)
    samples = run_series(query_context(selection), selection, View(), ENDPOINT, step=HOUR)
    assert {(each.profiles, each.duration_ns) for each in samples.values} == {(None, None)}
    assert [step.profiles for step in samples.steps] == [step.profiles for step in result.steps]


def test_values_beyond_the_size_are_summed(project: Project, shop: Deployment) -> None:
    for number in range(12):
        rows.stored(shop, {"main": number + 1}, minutes=number, labels={"instance": f"i{number}"})
    selection = cut(project)
    selection = replace(selection, start=rows.NOON)
    result = run_series(query_context(selection), selection, View(), INSTANCE, step=DAY, size=3)
    assert [each.value for each in result.values] == ["i11", "i10", "i9"]
    other = result.other
    assert other is not None
    assert (other.total, other.profiles, result.other_values) == (45 * MICROSECOND, 9, 9)
    assert result.steps[0].total == 78 * MICROSECOND
    all_of_them = run_series(query_context(selection), selection, View(), INSTANCE, size=12)
    assert (all_of_them.other, all_of_them.other_values) == (None, 0)


def test_deleted_deployments_and_empty_versions_have_no_value(project: Project) -> None:
    fill(project)
    compact_to(project, "hours")
    Deployment.objects.filter(project=project, version="2").delete()
    selection = whole(project)
    result = run_series(query_context(selection), selection, View(), VERSION)
    assert {each.value for each in result.values} == {"1", None}
    assert sum(each.profiles or 0 for each in result.values) == 90


def test_invalid_queries_are_rejected_with_the_reason(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = replace(cut(project), start=rows.NOON)
    for number in range(3):
        rows.stored(shop, minutes=number, labels={"instance": f"{number}"})
    context = query_context(selection)
    with pytest.raises(InvalidQuery, match="Remove `root`"):
        run_series(context, selection, View(root=5), VERSION)
    with pytest.raises(InvalidQuery, match="the limit is 400"):
        run_series(context, selection, View(), VERSION, step=timedelta(seconds=1))
    view = View(filters=(ViewFilter(FilterOption.SHOW, "/a(/"),))
    with pytest.raises(InvalidQuery, match="Invalid regex"):
        run_series(context, selection, view, VERSION)
    with pytest.raises(DeadlinePassed):
        run_series(query_context(selection, time.monotonic() - 1), selection, View(), VERSION)
    monkeypatch.setattr(series_accumulator, "MAX_VALUES", 2)
    with pytest.raises(InvalidQuery, match=r"label.instance has more than 2 values"):
        run_series(context, selection, View(), INSTANCE)


def test_a_damaged_profile_is_named(project: Project, shop: Deployment) -> None:
    selection = replace(cut(project), start=rows.NOON)
    rows.stored(shop)
    damaged = rows.stored(shop, minutes=7)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.content.tree[:-9])
    result = run_series(query_context(selection), selection, View(), ENDPOINT)
    assert [missing.start for missing in result.coverage.missing] == [damaged.time]
    assert result.coverage.profiles == sum(step.profiles for step in result.steps) == 1


def test_a_tree_has_the_selected_samples_only(project: Project) -> None:
    sent = fill(project)
    selection = replace(whole(project), samples=(("endpoint", ("/pay",)),))
    sums: dict[str, int] = defaultdict(int)
    for each in sent:
        for (stack, endpoint), count in each.stacks.items():
            if endpoint == "/pay":
                sums[stack.rpartition(";")[2]] += count * MICROSECOND
    for stage in ("half", "days"):
        compact_to(project, stage)
        top = run_top(query_context(selection), selection, View())
        assert {row.name: row.self for row in top.rows if row.self} == sums
        assert top.coverage.profiles == 90
