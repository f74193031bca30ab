"""Every query gives the same result for all forms of storage."""

import dataclasses
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from profiles import listing
from profiles.engine.calltree.preorder_columns import to_columns
from profiles.listing import ListedProfile, ProfileListing
from profiles.models import Block, Resolution
from profiles.query import (
    Group,
    ProfileOrder,
    ProfileRow,
    ProfileSelection,
    View,
    run_heat_map,
    run_options,
    run_profiles,
    run_services,
    run_sparklines,
    run_strip,
    run_top,
    run_tree,
)
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.queries.compaction_stages import COMPACTED, compact_to

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def fill(project: Project) -> None:
    """Store two days of profiles of two zones and versions, with labels; some times are equal."""
    chance = random.Random(5)
    for number in range(90):
        of = rows.deployment(
            project, zone=chance.choice(["eu", "us"]), version=chance.choice(["1", "2"])
        )
        rows.stored(
            of,
            {"main;a": chance.randrange(9), "main;b;c": chance.randrange(9), "main": 1},
            minutes=number * 32 // 3 * 3,
            labels={"instance": chance.choice("xyz")} if number % 5 else {},
            name_id=f"p{number:03}",
        )
    rows.stored(rows.deployment(project, service="other"), minutes=100)
    rows.stored(rows.deployment(project), minutes=200, type=ProfileType.WALL)


def selections(project: Project) -> list[ProfileSelection]:
    whole = ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON - DAY, rows.NOON + timedelta(days=3)
    )
    cut = dataclasses.replace(
        whole,
        start=rows.NOON + timedelta(minutes=37),
        end=rows.NOON + timedelta(hours=13, minutes=11),
    )
    return [
        whole,
        cut,
        dataclasses.replace(whole, zones=("eu",)),
        dataclasses.replace(cut, versions=("2",), zones=("us",)),
        dataclasses.replace(whole, labels=(("instance", ("x", "y")),)),
        dataclasses.replace(whole, top_percent=10),
        dataclasses.replace(cut, top_percent=25, labels=(("instance", ("z",)),)),
        dataclasses.replace(whole, total_range=(5000, 9000)),
        dataclasses.replace(whole, profile="p017"),
        dataclasses.replace(whole, zones=("nowhere",)),
    ]


def tree_of(selection: ProfileSelection, group: Group) -> object:
    result = run_tree(query_context(selection), selection, View(group=group))
    columns = to_columns(result.tree, lines=group is Group.LINE)
    return columns, result.coverage, result.metrics


def everything(project: Project, selection: ProfileSelection) -> dict[str, Any]:
    paged: list[ProfileRow] = []
    page = ""
    for _ in range(30):
        found = run_profiles(
            query_context(selection), selection, size=7, page=page, order=ProfileOrder.HEAVIEST
        )
        paged.extend(found.rows)
        page = found.next_page or ""
        if not page:
            break
    newest = run_profiles(query_context(selection), selection, size=40)
    heat_map = run_heat_map(query_context(selection), selection)
    return {
        "tree": tree_of(selection, Group.FUNCTION),
        "lines": tree_of(selection, Group.LINE),
        "top": run_top(query_context(selection), selection, View()).rows,
        "strip": run_strip(query_context(selection), selection).steps,
        # Without the selection: each test has a project of its own.
        "heat map": (heat_map.coverage, heat_map.starts, heat_map.edges, heat_map.counts),
        "newest": (newest.rows, newest.coverage),
        "heaviest": paged,
    }


_head_results: list[dict[str, Any]] = []


def load_head_results(project: Project) -> list[dict[str, Any]]:
    """Return the results before compaction, which are the same in every stage's test."""
    if not _head_results:
        _head_results.extend(everything(project, each) for each in selections(project))
    return _head_results


@pytest.mark.slow
@pytest.mark.parametrize("stage", COMPACTED)
def test_results_of_compacted_profiles_are_those_of_the_head(project: Project, stage: str) -> None:
    fill(project)
    all_selections = selections(project)
    before = load_head_results(project)
    compact_to(project, stage)
    assert Block.objects.filter(resolution=Resolution.DAY).exists() == (stage in {"days", "late"})
    for selection, expected in zip(all_selections, before, strict=True):
        after = everything(project, selection)
        for name in expected:
            assert after[name] == expected[name], (name, selection)


def test_pages_newest_first_have_every_profile_once(project: Project) -> None:
    fill(project)
    selection = selections(project)[0]
    expected = [
        row.name_id for row in run_profiles(query_context(selection), selection, size=1000).rows
    ]
    compact_to(project, "late")
    found: list[str] = []
    page = ""
    while True:
        response = run_profiles(query_context(selection), selection, size=9, page=page)
        found.extend(row.name_id for row in response.rows)
        page = response.next_page or ""
        if not page:
            break
    assert found == expected
    assert len(set(found)) == 90


@pytest.mark.parametrize("stage", COMPACTED)
def test_menus_and_services_are_the_same_after_compaction(project: Project, stage: str) -> None:
    fill(project)
    ranges = [
        (rows.NOON - DAY, rows.NOON + 3 * DAY),
        (rows.NOON + timedelta(hours=1), rows.NOON + timedelta(hours=14)),
    ]
    queries: list[Callable[[], object]] = [
        call
        for start, end in ranges
        for call in (
            lambda start=start, end=end: run_options(
                query_context(project.pk), "shop", ProfileType.CPU, start, end
            ),
            lambda start=start, end=end: run_services(query_context(project.pk), start, end),
        )
    ]
    before = [ask() for ask in queries]
    compact_to(project, stage)
    assert [ask() for ask in queries] == before


def test_lists_of_all_services_are_the_same_after_compaction(project: Project) -> None:
    fill(project)
    queries = [
        ProfileListing(project.pk),
        ProfileListing(project.pk, zone="us", start=rows.NOON + timedelta(hours=3)),
        ProfileListing(project.pk, type=ProfileType.WALL),
    ]

    def listed(which: ProfileListing) -> list[tuple[str, str, str]]:
        found: list[ListedProfile] = []
        while more := listing.page(
            query_context(project.pk), which, 8, found[-1].mark if found else ""
        ):
            found.extend(more)
        return [(each.profile.name_id, each.profile.service, each.profile.type) for each in found]

    before = [listed(which) for which in queries]
    assert len(before[0]) == len(set(before[0])) == 92
    compact_to(project, "late")
    assert [listed(which) for which in queries] == before


def test_sparklines_are_the_same_by_hour_after_compaction(project: Project) -> None:
    fill(project)
    types = {"shop": ProfileType.CPU, "other": ProfileType.CPU}
    end = rows.NOON + 3 * DAY

    def ask() -> object:
        return run_sparklines(query_context(project.pk), types, rows.NOON - DAY, end, steps=96)

    before = ask()
    for stage in ("hours", "days"):
        compact_to(project, stage)
        assert ask() == before
