"""Contract of both minute counters."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from common import minute_counter
from common.minute_counter import InProcessCounter, MinuteCounter, RedisCounter, counter


@pytest.fixture(params=["in process", "redis"])
async def minutes(request: pytest.FixtureRequest) -> AsyncIterator[MinuteCounter]:
    if request.param == "in process":
        yield InProcessCounter()
        return
    shared = RedisCounter(request.getfixturevalue("redis_url"))
    await shared._redis.flushdb()
    yield shared
    await shared.close()


async def test_increments_over_the_limit_are_rejected(minutes: MinuteCounter) -> None:
    taken = [await minutes.increment(1, 100, 3) for _ in range(5)]
    assert taken == [True, True, True, False, False]
    assert minutes.count(1, 100) == 3


async def test_projects_and_minutes_are_counted_separately(minutes: MinuteCounter) -> None:
    assert await minutes.increment(1, 100, 1)
    assert await minutes.increment(2, 100, 1)
    assert await minutes.increment(1, 101, 1)
    assert not await minutes.increment(1, 101, 1)


async def test_a_decrement_makes_room_for_an_increment(minutes: MinuteCounter) -> None:
    await minutes.increment(1, 100, 1)
    await minutes.decrement(1, 100)
    assert minutes.count(1, 100) == 0
    assert await minutes.increment(1, 100, 1)


async def test_decrements_after_the_minute_do_not_count_below_zero(
    minutes: MinuteCounter,
) -> None:
    await minutes.increment(1, 100, 1)
    await minutes.increment(1, 101, 1)
    await minutes.decrement(1, 100)
    await minutes.decrement(1, 100)
    assert minutes.count(1, 100) == 0
    assert minutes.count(1, 101) == 1


async def test_many_keys_are_forgotten_after_their_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minute_counter, "MAX_IN_PROCESS", 10)
    minutes = InProcessCounter()
    for key in range(50):
        assert await minutes.increment(key, 100, 1)
    assert not await minutes.increment(0, 100, 1)
    assert await minutes.increment(50, 101, 1)
    assert len(minutes._counts) == 1


async def test_concurrent_increments_do_not_exceed_the_limit(minutes: MinuteCounter) -> None:
    taken = await asyncio.gather(*(minutes.increment(1, 100, 7) for _ in range(50)))
    assert sum(taken) == 7


async def test_two_processes_share_one_count_in_redis(redis_url: str) -> None:
    one, other = RedisCounter(redis_url), RedisCounter(redis_url)
    await one._redis.flushdb()
    assert await one.increment(1, 100, 2)
    assert await other.increment(1, 100, 2)
    assert not await one.increment(1, 100, 2)
    await one.close()
    await other.close()


async def test_without_redis_each_process_counts_for_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    alone = RedisCounter("redis://127.0.0.1:1/0")
    with caplog.at_level(logging.WARNING):
        assert [await alone.increment(1, 100, 1) for _ in range(2)] == [True, False]
    assert "each process counts the profiles per minute alone" in caplog.text
    assert alone.count(1, 100) == 1
    await alone.close()


def test_counter_of_the_process_is_a_singleton() -> None:
    assert counter() is counter()
