"""Block cache: same results, one read per block, and bounded memory."""

import dataclasses
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone
from pytest_django import Settings

from profiles.compaction.compactor import Compactor
from profiles.engine.blocks import HourBlock, build_hour, open_hour
from profiles.engine.blocks.sections import container
from profiles.models import Profile
from profiles.queries import scan_input
from profiles.queries.cache import BlockCache
from profiles.query import (
    Group,
    ProfileSelection,
    View,
    compare_document,
    dumps,
    run_compare,
    run_history,
    run_profiles,
    run_tree,
    tree_json,
)
from profiles.storage.blob_store import BlockLocation
from profiles.storage.blobs.files import FileBlobs
from profiles.storage.column_files import ColumnFiles
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.random_trees import tree_of
from tests.profiles.pprofs import EXAMPLE


@pytest.fixture(autouse=True)
def nothing_remembered(settings: Settings) -> None:
    settings.RESULT_CACHE_BYTES = 0


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> BlockCache:
    made = BlockCache(2**24)
    monkeypatch.setattr(scan_input, "block_cache", made)
    return made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that counts the reads of blob bytes so far."""
    seen: list[str] = []
    get = FileBlobs.get

    def counted(self: FileBlobs, key: str, offset: int = 0, length: int | None = None) -> bytes:
        seen.append(key)
        return get(self, key, offset, length)

    monkeypatch.setattr(FileBlobs, "get", counted)
    return lambda: len(seen)


@pytest.fixture
def selection(project: Project) -> ProfileSelection:
    """Return a selection of a day and part of the next, all in blocks."""
    for minutes in range(0, 30 * 60, 45):
        stacks = {"main;a": minutes + 1, f"main;{minutes % 4}": 2}
        rows.stored(rows.deployment(project), stacks, minutes=minutes)
    later = timezone.now() + timedelta(days=3)
    Compactor(project.pk, later).build_level1()
    sum_days(project.pk, later)
    assert not Profile.objects.exists()
    start, end = rows.NOON + timedelta(minutes=5), rows.NOON + timedelta(hours=29)
    return ProfileSelection(project.pk, "shop", ProfileType.CPU, start, end)


def all_results(selection: ProfileSelection) -> list[object]:
    middle = rows.NOON + timedelta(hours=15)
    first, second = (
        dataclasses.replace(selection, end=middle),
        dataclasses.replace(selection, start=middle),
    )
    return [
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View())),
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, View(group=Group.LINE)),
        ),
        tree_json(
            query_context(dataclasses.replace(selection, top_percent=10)),
            run_tree(
                query_context(dataclasses.replace(selection, top_percent=10)),
                dataclasses.replace(selection, top_percent=10),
                View(),
            ),
        ),
        dumps(
            compare_document(
                query_context(first), run_compare(query_context(first), first, second, View())
            )
        ),
        run_history(query_context(selection), selection, View()),
        run_profiles(query_context(selection), selection),
    ]


@pytest.mark.django_db
def test_results_are_the_same_from_cached_blocks(
    selection: ProfileSelection, cache: BlockCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = all_results(selection), all_results(selection)
    assert len(cache) > 1
    monkeypatch.setattr(scan_input, "block_cache", BlockCache(0))
    assert first == second == all_results(selection)


@pytest.mark.django_db
def test_a_cached_block_is_not_read_again(
    selection: ProfileSelection, cache: BlockCache, reads: Callable[[], int]
) -> None:
    run_tree(query_context(selection), selection, View())
    before = reads()
    run_tree(query_context(selection), selection, View())
    assert before > 0
    assert reads() == before


@pytest.mark.django_db
def test_a_cached_block_is_not_fetched_again_from_a_remote_store(
    selection: ProfileSelection,
    cache: BlockCache,
    reads: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FileBlobs, "is_remote", True)
    first = tree_json(
        query_context(selection), run_tree(query_context(selection), selection, View())
    )
    before = reads()
    assert before == len(cache) > 1  # each block as a whole
    assert (
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View()))
        == first
    )
    # A block is fetched as a whole, so that sections that were not read yet are in memory too.
    assert (
        run_tree(query_context(selection), selection, View(group=Group.LINE)).coverage.missing == ()
    )
    assert reads() == before


@pytest.mark.django_db
def test_block_evicted_before_its_use_is_fetched(
    selection: ProfileSelection, cache: BlockCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileBlobs, "is_remote", True)
    first = tree_json(
        query_context(selection), run_tree(query_context(selection), selection, View())
    )
    monkeypatch.setattr(cache, "get", lambda _location: None)
    assert (
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View()))
        == first
    )


@dataclasses.dataclass(frozen=True)
class Processes:
    """Block caches of processes that share a folder, used in turn by this one."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def start(self, most: int = 2**24) -> BlockCache:
        """Let a new process, with nothing in its own memory, run the queries from now on."""
        cache = BlockCache(most, ColumnFiles(self.folder, 2**28, "1"))
        self.monkeypatch.setattr(scan_input, "block_cache", cache)
        return cache


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Processes:
    return Processes(tmp_path / "columns", monkeypatch)


def wait_for_files(cache: BlockCache) -> None:
    assert cache.files is not None
    cache.files.wait()


@pytest.mark.django_db
@pytest.mark.parametrize("is_remote", [False, True], ids=["local", "remote"])
def test_a_new_process_has_the_same_results_without_reading_blocks(
    selection: ProfileSelection,
    processes: Processes,
    reads: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    is_remote: bool,
) -> None:
    monkeypatch.setattr(FileBlobs, "is_remote", is_remote)
    monkeypatch.setattr(scan_input, "block_cache", BlockCache(0))
    expected = all_results(selection)
    first = processes.start()
    assert all_results(selection) == expected
    wait_for_files(first)
    before = reads()
    second = processes.start()
    monkeypatch.setattr(container, "decompress", None)
    assert all_results(selection) == expected
    assert reads() == before
    assert second.files is not None
    counts = second.files.counts()
    assert (counts.misses, counts.errors) == (0, 0)
    assert counts.hits > 0


@pytest.mark.django_db
def test_shared_columns_do_not_count_as_memory_of_the_process(
    selection: ProfileSelection, processes: Processes
) -> None:
    alone = BlockCache(2**24)
    processes.monkeypatch.setattr(scan_input, "block_cache", alone)
    run_tree(query_context(selection), selection, View())
    first = processes.start()
    run_tree(query_context(selection), selection, View())
    wait_for_files(first)
    assert len(first) == 0  # the next query maps the files
    run_tree(query_context(selection), selection, View())
    assert len(first) == len(alone) > 0
    assert first.stats().bytes < alone.stats().bytes


@pytest.mark.django_db
def test_files_that_are_deleted_meanwhile_change_no_result(
    selection: ProfileSelection, processes: Processes
) -> None:
    first = processes.start()
    expected = all_results(selection)
    wait_for_files(first)
    assert all_results(selection) == expected
    shutil.rmtree(processes.folder)
    assert all_results(selection) == expected  # from the mapped files
    third = processes.start()
    assert all_results(selection) == expected
    wait_for_files(third)
    assert third.files is not None
    assert third.files.counts().entries > 0


@pytest.mark.django_db
def test_blocks_stay_in_memory_if_no_file_can_be_written(
    selection: ProfileSelection, processes: Processes, reads: Callable[[], int]
) -> None:
    processes.folder.write_text("not a folder")
    first = processes.start()
    run_tree(query_context(selection), selection, View())
    wait_for_files(first)
    before = reads()
    run_tree(query_context(selection), selection, View())
    assert reads() == before
    assert first.files is not None
    assert first.files.counts().errors > 0


@pytest.mark.django_db
def test_cache_of_size_zero_reads_blocks_for_each_query(
    selection: ProfileSelection, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_input, "block_cache", BlockCache(0))
    run_tree(query_context(selection), selection, View())
    before = reads()
    run_tree(query_context(selection), selection, View())
    assert reads() == 2 * before


def block(stacks: int = 3) -> HourBlock:
    trees = [tree_of({**EXAMPLE, f"main;{i}": 1}) for i in range(stacks)]
    return open_hour(build_hour([profile_of(tree) for tree in trees]))


def location(number: int) -> BlockLocation:
    return BlockLocation(f"blob-{number}", 0, 100)


def test_least_recently_used_block_is_evicted() -> None:
    blocks = [block() for _ in range(3)]
    one = blocks[0].size + 100
    cache = BlockCache(2 * one + 50)
    for number in (0, 1):
        cache.put_block(location(number), blocks[number])
    assert cache.get(location(0)) is blocks[0]
    cache.put_block(location(2), blocks[2])
    assert [cache.get(location(number)) is not None for number in range(3)] == [True, False, True]


def test_decoded_sections_of_a_cached_block_count_when_it_is_put_again() -> None:
    first, second, read = block(), block(), block()
    assert len(read.lines.parent) > 0
    # Both fit as long as none of their sections is decoded; each key counts as 100 bytes.
    cache = BlockCache(first.size + (second.size + read.size) // 2 + 200)
    cache.put_block(location(0), first)
    cache.put_block(location(1), second)
    assert len(cache) == 2
    assert len(second.lines.parent) > 0
    cache.put_block(location(1), second)
    assert cache.get(location(0)) is None
    assert cache.get(location(1)) is second


def test_a_block_larger_than_the_cache_is_not_cached() -> None:
    cache = BlockCache(10)
    cache.put_block(location(0), block())
    assert len(cache) == 0


def test_size_of_a_block_includes_its_columns() -> None:
    one = block(20)
    before = one.size
    values, used = one.get_used_sums([0], None, by_function=True)
    profiles, functions, tree = one.profiles, one.functions, one.tree
    columns = [
        *(values, used.node, used.parent, used.frame, used.frames),
        *(getattr(profiles, each.name) for each in dataclasses.fields(profiles)),
        *(getattr(functions, each.name) for each in dataclasses.fields(functions)),
        *(getattr(tree, each.name) for each in dataclasses.fields(tree)),
    ]
    size = sum(column.nbytes for column in columns if isinstance(column, np.ndarray))
    assert one.size - before >= size


def test_cached_sums_are_those_of_the_same_request() -> None:
    one = block()
    every = one.get_used_sums([0], None, by_function=True)
    lines = one.get_used_sums([0], None, by_function=False)
    some = one.get_used_sums([0], np.array([True, False, False]), by_function=True)
    again = one.get_used_sums([0], None, by_function=True)
    assert again.values.tolist() == every.values.tolist()
    assert len(lines.values[0]) >= len(every.values[0])
    assert int(some.values.sum()) < int(every.values.sum())
