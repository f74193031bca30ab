"""Cache: size, expiry, loads that several callers share, and keys without a value."""

import asyncio
from dataclasses import dataclass, field

import pytest

from common import cache as cache_module
from common.cache import Cache, NoValue


class ManualClock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_entry_that_was_used_least_recently_is_evicted() -> None:
    cache: Cache[str, int] = Cache(size=2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    assert len(cache) == 2


def test_an_entry_expires() -> None:
    clock = ManualClock()
    cache: Cache[str, int] = Cache(size=2, seconds=15.0, clock=clock)
    cache.put("a", 1)
    clock.now = 14.9
    assert cache.get("a") == 1
    clock.now = 15.0
    assert cache.get("a") is None


def test_an_expired_entry_can_be_deleted_and_put_again() -> None:
    clock = ManualClock()
    cache: Cache[str, int] = Cache(size=2, seconds=15.0, clock=clock)
    cache.put("a", 1)
    clock.now = 20.0
    cache.delete("a")
    cache.put("a", 2)
    assert cache.get("a") == 2


@pytest.mark.parametrize("seconds", [None, 15.0])
def test_a_cache_of_size_zero_stores_nothing(seconds: float | None) -> None:
    cache: Cache[str, int] = Cache(size=0, seconds=seconds)
    cache.put("a", 1)
    assert cache.get("a") is None


@pytest.mark.parametrize("invalidate", [lambda cache: cache.delete("b"), Cache.clear])
def test_a_value_read_before_a_deletion_is_not_stored(invalidate: object) -> None:
    cache: Cache[str, int] = Cache(size=2)
    generation = cache.generation
    assert callable(invalidate)
    invalidate(cache)
    cache.put("a", 1, generation)
    assert cache.get("a") is None
    cache.put("a", 1, cache.generation)
    assert cache.get("a") == 1


def test_clear_all_clears_every_cache() -> None:
    caches: list[Cache[str, int]] = [
        Cache(size=2),
        Cache(size=2, seconds=15.0),
    ]
    for cache in caches:
        cache.put("a", 1)
    cache_module.clear_all()
    assert [cache.get("a") for cache in caches] == [None, None]


@dataclass
class CountedTable:
    """Loader that counts its calls. Keys without a row have no value."""

    rows: dict[str, int] = field(default_factory=lambda: {"a": 1})
    loads: list[str] = field(default_factory=list)

    def load(self, key: str) -> int:
        self.loads.append(key)
        if key not in self.rows:
            raise NoValue(key)
        return self.rows[key]

    async def fetch(self, key: str) -> int:
        await asyncio.sleep(0)
        return self.load(key)


def get_or_load(cache: Cache[str, int], key: str) -> int | None:
    try:
        return asyncio.run(cache.get_or_load(key))
    except NoValue:
        return None


def test_concurrent_callers_share_one_load() -> None:
    table = CountedTable()
    cache = Cache(fetch=table.fetch, size=2)

    async def load_twice() -> tuple[int, int]:
        return await asyncio.gather(cache.get_or_load("a"), cache.get_or_load("a"))

    assert list(asyncio.run(load_twice())) == [1, 1]
    assert table.loads == ["a"]


def test_a_load_that_began_before_a_deletion_is_not_shared() -> None:
    table = CountedTable()
    cache = Cache(fetch=table.fetch, size=2)

    async def delete_between() -> list[int]:
        first = asyncio.create_task(cache.get_or_load("a"))
        await asyncio.sleep(0)
        cache.delete("a")
        return [await cache.get_or_load("a"), await first]

    assert asyncio.run(delete_between()) == [1, 1]
    assert table.loads == ["a", "a"]


def test_a_blocking_load_is_cached_for_asynchronous_callers() -> None:
    table = CountedTable()
    cache = Cache(table.load, fetch=table.fetch, size=2)
    assert cache.get_or_load_blocking("a") == 1
    assert get_or_load(cache, "a") == 1
    assert table.loads == ["a"]


def test_a_key_without_a_value_is_loaded_once_while_this_is_cached() -> None:
    table, clock = CountedTable(), ManualClock()
    cache = Cache(fetch=table.fetch, size=2, max_missing=2, missing_seconds=15.0, clock=clock)
    assert [get_or_load(cache, "b") for _ in range(2)] == [None, None]
    assert table.loads == ["b"]
    clock.now = 15.0
    table.rows["b"] = 2
    assert get_or_load(cache, "b") == 2


def test_a_key_without_a_value_is_cached_for_blocking_callers() -> None:
    table = CountedTable()
    cache = Cache(table.load, size=2, max_missing=2)
    for _ in range(2):
        with pytest.raises(NoValue):
            cache.get_or_load_blocking("b")
    assert table.loads == ["b"]


def test_by_default_keys_without_a_value_are_loaded_each_time() -> None:
    table = CountedTable()
    cache = Cache(fetch=table.fetch, size=2)
    assert [get_or_load(cache, "b") for _ in range(2)] == [None, None]
    assert table.loads == ["b", "b"]


def test_keys_without_a_value_evict_each_other_but_no_value() -> None:
    table = CountedTable()
    cache = Cache(fetch=table.fetch, size=2, max_missing=3)
    assert get_or_load(cache, "a") == 1
    assert {get_or_load(cache, f"random {number}") for number in range(10)} == {None}
    assert (len(cache), cache.count_missing()) == (1, 3)
    assert cache.get("a") == 1


def test_a_deleted_key_without_a_value_is_loaded_again() -> None:
    table = CountedTable()
    cache = Cache(fetch=table.fetch, size=2, max_missing=2)
    assert get_or_load(cache, "b") is None
    table.rows["b"] = 2
    cache.delete("b")
    assert get_or_load(cache, "b") == 2


def test_a_key_that_gets_its_value_during_a_load_is_not_cached_as_missing() -> None:
    table = CountedTable()
    cache: Cache[str, int] = Cache(size=2, max_missing=2)

    async def fetch(key: str) -> int:
        try:
            return table.load(key)
        finally:
            table.rows[key] = 2
            cache.delete(key)

    cache._fetch = fetch
    assert get_or_load(cache, "b") is None
    assert get_or_load(cache, "b") == 2
