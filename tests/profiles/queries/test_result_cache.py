"""Result cache: sums over blocks are cached, and sums that can change are not."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from profiles.compaction.compactor import Compactor
from profiles.models import Blob, Profile
from profiles.queries import cache
from profiles.queries.cache import (
    MemoryCache,
    RedisCache,
    ResultCache,
    cache_page,
    get_cached_page,
    result_cache,
)
from profiles.queries.scan import add_profiles
from profiles.queries.scan_input import HourInput
from profiles.query import (
    Group,
    ProfileSelection,
    View,
    compare_document,
    dumps,
    run_compare,
    run_history,
    run_top,
    run_tree,
    tree_json,
)
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


@pytest.fixture
def merges(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that counts the merges so far."""
    counts = []

    def counted(*args: Any, **options: Any) -> object:
        counts.append(args)
        return add_profiles(*args, **options)

    monkeypatch.setattr("profiles.queries.tree_merge.add_profiles", counted)
    return lambda: len(counts)


@pytest.fixture
def selection(project: Project) -> ProfileSelection:
    """Return a selection of three profiles of a day that ended long ago."""
    for minutes in (0, 10, 70):
        rows.stored(rows.deployment(project), {"main;a": 3, "main": 1}, minutes=minutes)
    return ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON, rows.NOON + timedelta(hours=2)
    )


def rolled_up(project: Project) -> None:
    Compactor(project.pk, timezone.now() + timedelta(days=1)).build_level1()
    assert not Profile.objects.exists()


def test_sums_of_blocks_are_merged_once(
    project: Project, selection: ProfileSelection, merges: Callable[[], int]
) -> None:
    rolled_up(project)
    first = run_tree(query_context(selection), selection, View())
    again = run_tree(query_context(selection), selection, View())
    assert merges() == 1
    assert again.coverage == first.coverage
    assert again.coverage.profiles == 3
    assert (
        sum(row.self for row in run_top(query_context(selection), selection, View()).rows)
        == first.coverage.total
    )
    assert merges() == 1


def test_another_range_or_grouping_is_merged_separately(
    project: Project, selection: ProfileSelection, merges: Callable[[], int]
) -> None:
    rolled_up(project)
    run_tree(query_context(selection), selection, View())
    run_tree(query_context(selection), selection, View(group=Group.LINE))
    first_hour = dataclasses.replace(selection, end=rows.NOON + timedelta(hours=1))
    assert run_tree(query_context(first_hour), first_hour, View()).coverage.profiles == 2
    assert merges() == 3


def test_a_late_profile_is_seen_at_once(project: Project, selection: ProfileSelection) -> None:
    rolled_up(project)
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 3
    rows.stored(rows.deployment(project), {"late": 5}, minutes=15)
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 4
    rolled_up(project)
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 4


def test_rows_and_ranges_that_have_not_ended_are_merged_each_time(
    project: Project, selection: ProfileSelection, merges: Callable[[], int]
) -> None:
    for _ in range(2):
        run_tree(query_context(selection), selection, View())
    rolled_up(project)
    still_open = dataclasses.replace(selection, end=timezone.now() + timedelta(hours=1))
    for _ in range(2):
        run_tree(query_context(still_open), still_open, View())
    assert merges() == 4


def test_a_result_with_gaps_is_not_cached(
    project: Project, selection: ProfileSelection, merges: Callable[[], int]
) -> None:
    rolled_up(project)
    key = Blob.objects.get().key
    Blob.objects.update(key="gone")
    assert run_tree(query_context(selection), selection, View()).coverage.missing
    Blob.objects.update(key=key)
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 3
    assert merges() == 2


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that counts the hour blocks merged so far."""
    parts = []
    read_into = HourInput.read_into

    def counted(self: HourInput, *args: Any) -> None:
        parts.append(self)
        read_into(self, *args)

    monkeypatch.setattr(HourInput, "read_into", counted)
    return lambda: len(parts)


def test_a_history_is_summed_once(
    project: Project, selection: ProfileSelection, reads: Callable[[], int]
) -> None:
    rolled_up(project)
    first = run_history(query_context(selection), selection, View())
    once = reads()
    assert once > 0
    assert run_history(query_context(selection), selection, View()) == first
    assert [
        line.name
        for line in run_history(query_context(selection), selection, View(), names=["main"]).lines
    ] == ["main"]
    assert reads() == once
    whole = run_history(query_context(selection), selection, View(), step=timedelta(hours=2))
    assert (len(whole.steps), whole.coverage.profiles) == (1, 3)
    assert reads() > once


def test_each_side_of_a_comparison_is_summed_once(
    project: Project, selection: ProfileSelection, reads: Callable[[], int]
) -> None:
    rolled_up(project)
    middle = rows.NOON + timedelta(hours=1)
    a = dataclasses.replace(selection, end=middle)
    b = dataclasses.replace(selection, start=middle)
    first = dumps(compare_document(query_context(a), run_compare(query_context(a), a, b, View())))
    assert reads() == 2
    again = dumps(compare_document(query_context(a), run_compare(query_context(a), a, b, View())))
    assert again == first
    back = run_compare(query_context(b), b, a, View())
    assert [coverage.profiles for coverage in back.coverages] == [1, 2]
    assert reads() == 2


def test_history_with_gaps_is_not_cached(project: Project, selection: ProfileSelection) -> None:
    rolled_up(project)
    key = Blob.objects.get().key
    Blob.objects.update(key="gone")
    assert run_history(query_context(selection), selection, View()).coverage.missing
    Blob.objects.update(key=key)
    assert run_history(query_context(selection), selection, View()).coverage.profiles == 3


def test_cache_of_size_zero_merges_for_each_query(
    project: Project, selection: ProfileSelection, merges: Callable[[], int], settings: Settings
) -> None:
    settings.RESULT_CACHE_BYTES = 0
    rolled_up(project)
    for _ in range(2):
        run_tree(query_context(selection), selection, View())
    assert merges() == 2


@pytest.fixture
def in_redis(settings: Settings, redis_url: str) -> ResultCache:
    settings.REDIS_URL = redis_url
    made = result_cache()
    made.clear()
    return made


@pytest.mark.real
def test_processes_share_sums_in_redis(
    project: Project,
    selection: ProfileSelection,
    reads: Callable[[], int],
    in_redis: ResultCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rolled_up(project)
    context, view = query_context(selection), View()
    middle = rows.NOON + timedelta(hours=1)
    sides = (
        dataclasses.replace(selection, end=middle),
        dataclasses.replace(selection, start=middle),
    )

    def results() -> list[object]:
        return [
            tree_json(context, run_tree(context, selection, view)),
            run_top(context, selection, view),
            dumps(compare_document(context, run_compare(context, *sides, view))),
            run_history(context, selection, view),
        ]

    first = results()
    once = reads()
    # Another process has another client.
    monkeypatch.setattr(cache, "_redis_cache", RedisCache)
    assert results() == first
    assert reads() == once
    stats = in_redis.stats()
    assert (stats.misses, stats.errors) == (4, 0)


@pytest.mark.real
def test_pages_are_shared_in_redis(in_redis: ResultCache) -> None:
    cache_page(1, "flame?x", ("result",), 1)
    assert get_cached_page(1, "flame?x") == ("result",)
    assert get_cached_page(2, "flame?x") is None
    assert get_cached_page(1, "flame?y") is None


def test_without_redis_each_query_merges(
    project: Project, selection: ProfileSelection, merges: Callable[[], int], settings: Settings
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    rolled_up(project)
    context = query_context(selection)
    assert run_tree(context, selection, View()).coverage.profiles == 3
    assert run_tree(context, selection, View()).coverage.profiles == 3
    assert merges() == 2
    stats = result_cache().stats()
    assert (stats.hits, stats.misses) == (0, 2)
    assert stats.errors == 1  # the second query did not try again


def test_the_bytes_of_results_are_bounded() -> None:
    results = MemoryCache[str, str](100)
    for name in "abcde":
        results.put(name, name, 30)
    results.put("large", "large", 101)
    assert [results.get(name) for name in ("a", "b", "c", "large")] == [None, None, "c", None]
    stats = results.stats()
    assert (stats.hits, stats.misses, stats.evictions, stats.bytes) == (1, 3, 2, 90)
    assert stats.entries == 3


def test_results_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    results = MemoryCache[str, str](100)
    results.put("a", "a", 1, seconds=0)
    results.put("b", "b", 1, seconds=60)
    assert (results.get("a"), results.get("b")) == (None, "b")
