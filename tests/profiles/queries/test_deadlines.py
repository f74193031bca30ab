"""Deadlines and cancellation of queries, at any stage of their work."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Event
from types import SimpleNamespace

import pytest
from django.utils import timezone
from pytest_django import Settings

from common.thread_pool import ThreadPool
from profiles.compaction.compactor import Compactor
from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import sparse_values
from profiles.engine.calltree.tree import Tree
from profiles.models import Block
from profiles.queries import context, scan_input
from profiles.queries.cache import BlockCache
from profiles.query import (
    DeadlinePassed,
    ExportFormat,
    FilterOption,
    Group,
    ProfileSelection,
    Shape,
    View,
    ViewFilter,
    compare_document,
    dumps,
    run_compare,
    run_export,
    run_focus,
    run_heat_map,
    run_history,
    run_lines,
    run_profiles,
    run_strip,
    run_top,
    run_tree,
    run_tree_and_top,
    tree_json,
)
from profiles.storage import blob_store
from profiles.storage.blobs.files import FileBlobs
from projects.models import Deployment
from tests.profiles import contexts, rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db

Ask = Callable[[ProfileSelection, float | None], object]
FILTERS = (
    ViewFilter(FilterOption.HIDE, "f7"),
    ViewFilter(FilterOption.HIDE_FRAMES, "/^f3$/"),
    ViewFilter(FilterOption.FROM, "main"),
)
QUERIES: dict[str, Ask] = {
    "tree": lambda of, until: run_tree(query_context(of, until), of, View(max_nodes=3)),
    "filtered": lambda of, until: run_tree(query_context(of, until), of, View(filters=FILTERS)),
    "bottom up": lambda of, until: run_tree(
        query_context(of, until), of, View(shape=Shape.BOTTOM_UP)
    ),
    "top": lambda of, until: run_top(query_context(of, until), of, View()),
    "tree and top": lambda of, until: run_tree_and_top(query_context(of, until), of, View()),
    "focus": lambda of, until: run_focus(query_context(of, until), of, View(focus="main")),
    "lines": lambda of, until: run_lines(query_context(of, until), of, View(), "main", "app.py"),
    "comparison": lambda of, until: run_compare(query_context(of, until), of, of, View()),
    "filtered comparison": lambda of, until: run_compare(
        query_context(of, until), of, of, View(filters=FILTERS)
    ),
    "history": lambda of, until: run_history(query_context(of, until), of, View()),
    "pprof": lambda of, until: run_export(query_context(of, until), of, View(), ExportFormat.PPROF),
    "folded": lambda of, until: run_export(
        query_context(of, until), of, View(), ExportFormat.FOLDED
    ),
    "speedscope": lambda of, until: run_export(
        query_context(of, until), of, View(), ExportFormat.SPEEDSCOPE
    ),
}


AHEAD = 1e9  # seconds
MINUTE = 60.0
LISTS: list[Ask] = [
    lambda of, until: run_heat_map(query_context(of, until), of),
    lambda of, until: run_strip(
        query_context(replace(of, versions=("1",)), until), replace(of, versions=("1",))
    ),
    lambda of, until: run_profiles(query_context(of, until), of),
]


class AdvancingClock:
    """Clock that advances by one second at each call.

    It is far ahead of the real clock, which times the reads of files.
    """

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return AHEAD + self.looks


@pytest.fixture(autouse=True)
def nothing_remembered(settings: Settings) -> None:
    settings.RESULT_CACHE_BYTES = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> AdvancingClock:
    made = AdvancingClock()
    monkeypatch.setattr(context, "time", SimpleNamespace(monotonic=made))
    return made


@pytest.fixture(params=["head", "block"])
def stored(
    request: pytest.FixtureRequest, selection: ProfileSelection, shop: Deployment
) -> ProfileSelection:
    for minute in range(10):
        stacks = {f"main;f{number};f{number + 1}": minute + number for number in range(9)}
        rows.stored(shop, stacks, minutes=minute)
    if request.param == "block":
        Compactor(shop.project_id, timezone.now() + timedelta(days=3)).build_level1()
        assert Block.objects.exists()
    return selection


@pytest.mark.parametrize("name", QUERIES)
def test_query_ends_at_the_first_clock_check_after_its_deadline(
    name: str, stored: ProfileSelection, clock: AdvancingClock
) -> None:
    ask = QUERIES[name]
    ask(stored, AHEAD + 1e6)
    whole = clock.looks
    for moment in range(whole):
        clock.looks = 0
        with pytest.raises(DeadlinePassed):
            ask(stored, AHEAD + moment + 0.5)
        assert clock.looks <= moment + 2  # one extra check when a second thread runs


@pytest.mark.parametrize("name", QUERIES)
def test_query_checks_the_clock_after_the_merge(
    name: str, stored: ProfileSelection, clock: AdvancingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged: list[int] = []
    tree = Merge.tree

    def noted(self: Merge) -> Tree:
        found = tree(self)
        merged.append(clock.looks)
        return found

    monkeypatch.setattr(Merge, "tree", noted)
    QUERIES[name](stored, AHEAD + 1e6)
    assert clock.looks > merged[-1]


def test_deadline_is_checked_for_each_chunk_of_a_block(
    selection: ProfileSelection,
    shop: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    clock: AdvancingClock,
) -> None:
    looks = []
    for hour, profiles in enumerate((2, 12)):
        monkeypatch.setattr(sparse_values, "CHUNK_ROWS", 1)
        monkeypatch.setattr(sparse_values, "FULL_CHUNK_VALUES", 1)
        for minute in range(profiles):
            rows.stored(shop, minutes=60 * hour + minute)
        Compactor(shop.project_id, rows.NOON + timedelta(days=3)).build_level1()
        clock.looks = 0
        start = rows.NOON + timedelta(hours=hour, minutes=1)  # avoids the stored sums of all rows
        one = ProfileSelection(
            selection.project, "shop", selection.type, start, start + timedelta(hours=1)
        )
        run_tree(query_context(one, AHEAD + 1e6), one, View(group=Group.LINE))
        looks.append(clock.looks)
    assert looks[1] == looks[0] + 10


class Hanging:
    """Folder whose file system does not answer until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.again, self.requests = Event(), 0
        get = FileBlobs.get

        def hang(of: FileBlobs, key: str, offset: int = 0, length: int | None = None) -> bytes:
            self.requests += 1
            self.again.wait()
            return get(of, key, offset, length)

        monkeypatch.setattr(FileBlobs, "get", hang)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hanging]:
    monkeypatch.setattr(blob_store, "_readers", ThreadPool("file-reader", 2))
    monkeypatch.setattr(scan_input, "block_cache", BlockCache(0))
    monkeypatch.setattr(
        blob_store, "SPARE_SECONDS", MINUTE - 0.1
    )  # the deadline does not pass before the read
    made = Hanging(monkeypatch)
    yield made
    made.again.set()


@pytest.mark.slow
@pytest.mark.parametrize("stored", ["block"], indirect=True)
def test_a_folder_that_hangs_delays_no_query_beyond_its_deadline(
    stored: ProfileSelection, hanging: Hanging
) -> None:
    before = readers()
    for ask in (*QUERIES.values(), *LISTS):
        with pytest.raises(DeadlinePassed, match=r"Reading blob .* timed out"):
            ask(stored, time.monotonic() + MINUTE)
    assert hanging.requests == 2
    assert len(readers() - before) == 2
    hanging.again.set()
    context = query_context(stored, time.monotonic() + 10 * MINUTE)
    assert run_tree(context, stored, View()).coverage.profiles == 10
    assert hanging.requests > 2


def readers() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("file-reader")}


def test_deadline_during_the_encoding_of_the_result_ends_the_query(
    stored: ProfileSelection, clock: AdvancingClock
) -> None:
    in_time = query_context(stored)
    tree = run_tree(in_time, stored, View())
    compared = run_compare(in_time, stored, stored, View())
    with pytest.raises(DeadlinePassed):
        tree_json(query_context(stored, AHEAD + clock.looks + 0.5), tree)
    with pytest.raises(DeadlinePassed):
        dumps(compare_document(query_context(stored, AHEAD + clock.looks + 0.5), compared))


class Left(Event):
    """Cancellation event that is set from its second check on."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = itertools.count()

    def is_set(self) -> bool:
        return next(self.requests) >= 1


@pytest.mark.parametrize("name", QUERIES)
def test_query_ends_after_its_cancellation(
    name: str, stored: ProfileSelection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "Event", Left)
    with pytest.raises(DeadlinePassed):
        QUERIES[name](stored, time.monotonic() + 1e6)
