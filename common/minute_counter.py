"""Counters per minute for rate limits, in this process or in Redis for all processes.

They count the profiles and the API queries of each project.
"""

import logging
from functools import cache
from typing import Protocol

import redis
from django.conf import settings
from redis import asyncio as redis_asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.exceptions import RedisError

from common.outages import Dependency, count_failure, note_failure
from common.redis_outage import RedisPause, redis_options

logger = logging.getLogger(__name__)

# KEYS[1]: the counter; ARGV[1]: the limit. Returns 1 and increments below the limit, else 0.
_INCREMENT = """
local n = tonumber(redis.call('GET', KEYS[1]) or '0')
if n >= tonumber(ARGV[1]) then return 0 end
redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], 120)
return 1
"""
_DECREMENT = (
    "if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end"
)
# Above this number the counts of past minutes are deleted, never those of the current one.
MAX_IN_PROCESS = 10_000


class MinuteCounter(Protocol):
    """Counters by `of`, the primary key of a row, and `minute`, which is Unix time / 60.

    Each minute starts at zero.
    """

    async def increment(self, key: int, minute: int, allowed: int) -> bool:
        """Increment the count and return True if it is below `allowed`, else return False."""
        ...

    async def decrement(self, key: int, minute: int) -> None:
        """Decrement the count after an `increment` whose profile or query failed."""
        ...

    def count(self, key: int, minute: int) -> int:
        """Return the count, for display. It may block."""
        ...


class InProcessCounter:
    """Counters of this process; implements MinuteCounter."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}  # of: (minute, count)
        self._minute = 0  # the latest

    async def increment(self, key: int, minute: int, allowed: int) -> bool:
        count = self.count(key, minute)
        if count >= allowed:
            return False
        if minute > self._minute and len(self._counts) >= MAX_IN_PROCESS:
            self._counts = {key: entry for key, entry in self._counts.items() if entry[0] >= minute}
        self._minute = max(minute, self._minute)
        self._counts[key] = (minute, count + 1)
        return True

    async def decrement(self, key: int, minute: int) -> None:
        count = self.count(key, minute)
        if count:  # 0 if the counter belongs to another minute by now
            self._counts[key] = (minute, count - 1)

    def count(self, key: int, minute: int) -> int:
        then, count = self._counts.get(key, (minute, 0))
        return count if then == minute else 0


class RedisCounter:
    """Counters in Redis, shared by all processes; implements MinuteCounter.

    While Redis is unreachable each process counts for itself: quotas must not block all profiles.
    """

    def __init__(self, url: str, name: str = "profiles") -> None:
        self._name = name
        self._redis = redis_asyncio.Redis.from_url(url, **redis_options(AsyncRetry))
        self._blocking = redis.Redis.from_url(url, **redis_options())
        self._pause = RedisPause()
        self._increment = self._redis.register_script(_INCREMENT)
        self._decrement = self._redis.register_script(_DECREMENT)
        self._fallback = InProcessCounter()

    async def increment(self, key: int, minute: int, allowed: int) -> bool:
        if self._pause.is_on:
            return await self._fallback.increment(key, minute, allowed)
        try:
            return bool(await self._increment(keys=[self._key(key, minute)], args=[allowed]))
        except RedisError as error:
            self._pause.begin()
            note_failure(
                Dependency.REDIS,
                logger,
                "Redis failed; each process counts the %s per minute alone: %s",
                self._name,
                error,
            )
            return await self._fallback.increment(key, minute, allowed)

    async def decrement(self, key: int, minute: int) -> None:
        if self._pause.is_on:
            await self._fallback.decrement(key, minute)
            return
        try:
            await self._decrement(keys=[self._key(key, minute)])
        except RedisError as error:
            self._pause.begin()
            note_failure(
                Dependency.REDIS,
                logger,
                "Redis failed; a failed one stays in the count of %s per minute: %s",
                self._name,
                error,
            )

    def count(self, key: int, minute: int) -> int:
        if self._pause.is_on:
            return self._fallback.count(key, minute)
        try:
            return int(self._blocking.get(self._key(key, minute)) or 0)
        except RedisError:
            count_failure(Dependency.REDIS)
            self._pause.begin()
            return self._fallback.count(key, minute)

    async def close(self) -> None:
        await self._redis.aclose()
        self._blocking.close()

    def _key(self, key: int, minute: int) -> str:
        return f"flamewatch:{self._name}:{key}:{minute}"


def counter(name: str = "profiles") -> MinuteCounter:
    """Return the counter named `what` of this process, in Redis if settings.REDIS_URL is set."""
    return _counter(settings.REDIS_URL, name)


@cache
def _counter(url: str, name: str) -> MinuteCounter:
    return RedisCounter(url, name) if url else InProcessCounter()


def clear_all() -> None:
    """Drop all counters, for tests that reuse primary keys."""
    _counter.cache_clear()
