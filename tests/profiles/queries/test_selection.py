"""Profiles that a selection matches, never those of another project."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.query import (
    InvalidQuery,
    Metric,
    ProfileOrder,
    ProfileSelection,
    View,
    run_profiles,
    run_top,
    run_tree,
)
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


def found(selection: ProfileSelection) -> set[str]:
    return {row.name_id for row in run_profiles(query_context(selection), selection).rows}


def test_the_range_has_its_start_but_not_its_end(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, name_id="before", minutes=-0.001)
    rows.stored(shop, name_id="first", minutes=0)
    rows.stored(shop, name_id="last", minutes=59.999)
    rows.stored(shop, name_id="after", minutes=60)
    assert found(selection) == {"first", "last"}


def test_service_type_zone_and_version_restrict_the_profiles(
    selection: ProfileSelection, project: Project
) -> None:
    for zone in ("eu", "us"):
        for version in ("1", "2"):
            of = rows.deployment(project, zone=zone, version=version)
            rows.stored(of, name_id=zone + version)
    rows.stored(rows.deployment(project, service="other"), name_id="other")
    rows.stored(rows.deployment(project), name_id="wall", type=ProfileType.WALL)
    assert found(selection) == {"eu1", "eu2", "us1", "us2"}
    assert found(replace(selection, zones=("eu",))) == {"eu1", "eu2"}
    assert found(replace(selection, zones=("eu", "us"), versions=("2",))) == {"eu2", "us2"}
    assert found(replace(selection, type=ProfileType.WALL)) == {"wall"}


def test_labels_restrict_the_profiles(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, name_id="a", labels={"instance": "a", "cell.name": "x"})
    rows.stored(shop, name_id="b", labels={"instance": "b"})
    rows.stored(shop, name_id="none")
    assert found(replace(selection, labels=(("instance", ("a", "b")),))) == {"a", "b"}
    both = (("instance", ("a",)), ("cell.name", ("x",)))
    assert found(replace(selection, labels=both)) == {"a"}
    assert found(replace(selection, labels=(("instance__gt", ("0",)),))) == set()


def test_weight_is_the_top_percent_of_profiles(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for weight in range(1, 101):
        rows.stored(shop, {"main": weight}, name_id=str(weight))
    assert found(replace(selection, top_percent=5)) == {"96", "97", "98", "99", "100"}
    assert found(replace(selection, top_percent=1)) == {"100"}
    assert found(replace(selection, top_percent=0.1)) == {"100"}
    result = run_tree(
        query_context(replace(selection, top_percent=50)),
        replace(selection, top_percent=50),
        View(),
    )
    assert (result.coverage.profiles, result.coverage.total) == (50, 1000 * sum(range(51, 101)))


def test_top_percent_breaks_ties_the_same_in_head_and_blocks(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for name in "dbface":
        rows.stored(shop, {"main": 5}, name_id=name, minutes=1)
    rows.stored(shop, {"main": 5}, name_id="newer", minutes=2)
    rows.stored(shop, {"main": 9}, name_id="heavier")
    top = {50: {"heavier", "newer", "f", "e"}, 60: {"heavier", "newer", "f", "e", "d"}}
    assert {percent: found(replace(selection, top_percent=percent)) for percent in top} == top
    Compactor(selection.project, timezone.now() + timedelta(days=1)).build_level1()
    assert {percent: found(replace(selection, top_percent=percent)) for percent in top} == top
    rows.stored(shop, {"main": 5}, name_id="ee", minutes=1)  # arrives late
    with_late = {"heavier", "newer", "f", "ee", "e"}
    assert found(replace(selection, top_percent=55)) == with_late


def test_weights_are_selected_from_the_least_to_the_most(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for weight in range(1, 11):
        rows.stored(shop, {"main": weight}, name_id=str(weight))
    assert found(replace(selection, total_range=(3000, 5000))) == {"3", "4", "5"}
    assert found(replace(selection, total_range=(3000, 5000), top_percent=50)) == {"4", "5"}
    assert found(replace(selection, total_range=(2, 2))) == set()


def test_one_profile_is_found_by_its_name(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, {"main": 1}, name_id="one")
    rows.stored(shop, {"main": 2}, name_id="two")
    assert found(replace(selection, profile="two")) == {"two"}
    assert (
        run_tree(
            query_context(replace(selection, profile="two")),
            replace(selection, profile="two"),
            View(),
        ).coverage.total
        == 2000
    )
    assert found(replace(selection, profile="none")) == set()
    earlier = replace(selection, profile="two", end=selection.start)
    assert found(earlier) == set(), "only inside the range"


def test_another_project_is_never_seen(
    selection: ProfileSelection, shop: Deployment, charlie: User
) -> None:
    theirs = rows.deployment(create_project("Theirs", charlie))
    rows.stored(theirs, name_id="theirs")
    assert found(selection) == set()
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 0
    assert run_top(query_context(selection), selection, View()).rows == ()
    rows.stored(shop, name_id="theirs")  # the same name in another project is another profile
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 1


def test_single_profiles_come_newest_first_a_page_at_a_time(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for minute in range(7):
        rows.stored(shop, name_id=str(minute), minutes=minute // 2)
    first = run_profiles(query_context(selection), selection, size=3)
    assert [row.name_id for row in first.rows] == ["6", "5", "4"]
    assert first.coverage.profiles == 7
    second = run_profiles(query_context(selection), selection, size=3, page=first.next_page or "")
    third = run_profiles(query_context(selection), selection, size=3, page=second.next_page or "")
    assert [row.name_id for row in (*second.rows, *third.rows)] == ["3", "2", "1", "0"]
    assert third.next_page is None
    assert (first.rows[0].zone, first.rows[0].version) == ("eu-1", "1")
    with pytest.raises(InvalidQuery, match="Invalid page"):
        run_profiles(query_context(selection), selection, page="x")


def test_result_has_all_metrics_and_the_selected_one(
    selection: ProfileSelection, shop: Deployment
) -> None:
    kinds = [("samples", "count"), ("cpu", "nanoseconds")]
    rows.stored(shop, {"main": [3, 40], "work": [1, 10]}, sample_types=kinds)
    result = run_tree(query_context(selection), selection, View())
    assert result.metrics == (Metric("cpu", "nanoseconds"), Metric("samples", "count"))
    assert (result.metric, result.coverage.total) == (Metric("cpu", "nanoseconds"), 50)
    counted = run_tree(query_context(selection), selection, View(metric=Metric("samples", "count")))
    assert counted.coverage.total == int(counted.tree.self.sum()) == 4
    with pytest.raises(InvalidQuery, match="No metric apples"):
        run_tree(query_context(selection), selection, View(metric=Metric("apples", "count")))


def test_the_threads_of_go_are_goroutines(selection: ProfileSelection, shop: Deployment) -> None:
    kinds = [("goroutine", "count")]
    rows.stored(shop, {"main": 3}, type=ProfileType.THREADS, sample_types=kinds)
    result = run_tree(
        query_context(replace(selection, type=ProfileType.THREADS)),
        replace(selection, type=ProfileType.THREADS),
        View(),
    )
    assert (result.metric, result.coverage.total) == (Metric("goroutine", "count"), 3)


def test_coverage_has_first_last_and_duration_of_the_profiles(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, minutes=5)
    rows.stored(shop, minutes=9)
    coverage = run_tree(query_context(selection), selection, View()).coverage
    assert coverage.first == rows.NOON + timedelta(minutes=5)
    assert coverage.last == rows.NOON + timedelta(minutes=9)
    assert coverage.duration_ns == 20 * 10**9


def test_single_profiles_come_heaviest_first_a_page_at_a_time(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for minute, weight in enumerate((3, 9, 9, 1, 9)):
        rows.stored(shop, {"main": weight}, name_id=str(minute), minutes=minute)
    found, page = [], ""
    for _ in range(3):
        result = run_profiles(
            query_context(selection), selection, size=2, page=page, order=ProfileOrder.HEAVIEST
        )
        found += [row.name_id for row in result.rows]
        page = result.next_page or ""
    assert found == ["4", "2", "1", "0", "3"]
    assert page == ""
    for bad in ("~~", "1~2026-01-01", "9~2026-01-01T00:00:00+00:00~x"):
        with pytest.raises(InvalidQuery, match="Invalid page"):
            run_profiles(query_context(selection), selection, page=bad, order=ProfileOrder.HEAVIEST)
