"""Counters per minute for rate limits, in this process or in Redis for all processes.

They count the profiles of each project and the queries of each API key.
"""

import logging
from functools import cache
from typing import Any, Protocol

import redis
from django.conf import settings
from redis import asyncio as redis_asyncio
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# KEYS[1]: the counter; ARGV[1]: the limit. Returns 1 and increments below the limit, else 0.
_TAKE = """
local n = tonumber(redis.call('GET', KEYS[1]) or '0')
if n >= tonumber(ARGV[1]) then return 0 end
redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], 120)
return 1
"""
_GIVE_BACK = (
    "if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end"
)
_SECONDS_TO_ANSWER = 2.0


class MinuteCounter(Protocol):
    """Counters by `of`, the primary key of a row, and `minute`, which is Unix time / 60.

    Each minute starts at zero.
    """

    async def take(self, of: int, minute: int, allowed: int) -> bool:
        """Increment the count and return True if it is below `allowed`, else return False."""
        ...

    async def give_back(self, of: int, minute: int) -> None:
        """Decrement the count after a `take` whose profile or query failed."""
        ...

    def count(self, of: int, minute: int) -> int:
        """Return the count, for display. It may block."""
        ...


class InProcess:
    """Counters of this process; implements MinuteCounter."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}  # of: (minute, count)

    async def take(self, of: int, minute: int, allowed: int) -> bool:
        count = self.count(of, minute)
        if count >= allowed:
            return False
        self._counts[of] = (minute, count + 1)
        return True

    async def give_back(self, of: int, minute: int) -> None:
        count = self.count(of, minute)
        if count:  # 0 if the counter belongs to another minute by now
            self._counts[of] = (minute, count - 1)

    def count(self, of: int, minute: int) -> int:
        then, count = self._counts.get(of, (minute, 0))
        return count if then == minute else 0


class InRedis:
    """Counters in Redis, shared by all processes; implements MinuteCounter.

    While Redis is unreachable each process counts for itself: quotas must not block all profiles.
    """

    def __init__(self, url: str, what: str = "profiles") -> None:
        self._what = what
        waits: Any = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _SECONDS_TO_ANSWER)
        self._redis = redis_asyncio.Redis.from_url(url, **waits)
        self._blocking = redis.Redis.from_url(url, **waits)
        self._take = self._redis.register_script(_TAKE)
        self._give_back = self._redis.register_script(_GIVE_BACK)
        self._alone = InProcess()

    async def take(self, of: int, minute: int, allowed: int) -> bool:
        try:
            return bool(await self._take(keys=[self._key(of, minute)], args=[allowed]))
        except RedisError as error:
            logger.warning(
                "The %s a minute are counted by each process alone: %s", self._what, error
            )
            return await self._alone.take(of, minute, allowed)

    async def give_back(self, of: int, minute: int) -> None:
        try:
            await self._give_back(keys=[self._key(of, minute)])
        except RedisError as error:
            logger.warning("One of the %s that failed stays counted: %s", self._what, error)

    def count(self, of: int, minute: int) -> int:
        try:
            return int(self._blocking.get(self._key(of, minute)) or 0)
        except RedisError:
            return self._alone.count(of, minute)

    async def close(self) -> None:
        await self._redis.aclose()
        self._blocking.close()

    def _key(self, of: int, minute: int) -> str:
        return f"flamewatch:{self._what}:{of}:{minute}"


def counter(what: str = "profiles") -> MinuteCounter:
    """Return the counter named `what` of this process, in Redis if settings.REDIS_URL is set."""
    return _counter(settings.REDIS_URL, what)


@cache
def _counter(url: str, what: str) -> MinuteCounter:
    return InRedis(url, what) if url else InProcess()


def clear_all() -> None:
    """Drop all counters, for tests that reuse primary keys."""
    _counter.cache_clear()
