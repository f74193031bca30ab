"""BoundedCache: size, expiry, and values that were read before a deletion."""

import pytest

from common import bounded_cache
from common.bounded_cache import BoundedCache


class ManualClock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_entry_that_was_used_least_recently_is_evicted() -> None:
    cache: BoundedCache[str, int] = BoundedCache(size=2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    assert len(cache) == 2


def test_an_entry_expires() -> None:
    clock = ManualClock()
    cache: BoundedCache[str, int] = BoundedCache(size=2, seconds=15.0, clock=clock)
    cache.put("a", 1)
    clock.now = 14.9
    assert cache.get("a") == 1
    clock.now = 15.0
    assert cache.get("a") is None


def test_an_expired_entry_can_be_deleted_and_put_again() -> None:
    clock = ManualClock()
    cache: BoundedCache[str, int] = BoundedCache(size=2, seconds=15.0, clock=clock)
    cache.put("a", 1)
    clock.now = 20.0
    cache.delete("a")
    cache.put("a", 2)
    assert cache.get("a") == 2


@pytest.mark.parametrize("seconds", [None, 15.0])
def test_a_cache_of_size_zero_stores_nothing(seconds: float | None) -> None:
    cache: BoundedCache[str, int] = BoundedCache(size=0, seconds=seconds)
    cache.put("a", 1)
    assert cache.get("a") is None


@pytest.mark.parametrize("invalidate", [lambda cache: cache.delete("b"), BoundedCache.clear])
def test_a_value_read_before_a_deletion_is_not_stored(invalidate: object) -> None:
    cache: BoundedCache[str, int] = BoundedCache(size=2)
    generation = cache.generation
    assert callable(invalidate)
    invalidate(cache)
    cache.put("a", 1, generation)
    assert cache.get("a") is None
    cache.put("a", 1, cache.generation)
    assert cache.get("a") == 1


def test_clear_all_clears_every_cache() -> None:
    caches: list[BoundedCache[str, int]] = [
        BoundedCache(size=2),
        BoundedCache(size=2, seconds=15.0),
    ]
    for cache in caches:
        cache.put("a", 1)
    bounded_cache.clear_all()
    assert [cache.get("a") for cache in caches] == [None, None]
