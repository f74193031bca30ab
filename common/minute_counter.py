"""What is counted by the minute: in this process, or in Redis for all processes.

Profiles by project, queries by key.
"""

import logging
from functools import cache
from typing import Any, Protocol

import redis
from django.conf import settings
from redis import asyncio as redis_asyncio
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# KEYS[1]: the counter; ARGV[1]: what is allowed. 1 where there was room, which is taken.
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
    """`minute` is Unix time / 60; each count starts anew with it. `of` is a row's key."""

    async def take(self, of: int, minute: int, allowed: int) -> bool:
        """Count one, if there is room for it."""
        ...

    async def give_back(self, of: int, minute: int) -> None:
        """One that was taken came to nothing."""
        ...

    def count(self, of: int, minute: int) -> int:
        """For pages; may block."""
        ...


class InProcess:
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
        if count:  # else its minute is over, and the counter another one's
            self._counts[of] = (minute, count - 1)

    def count(self, of: int, minute: int) -> int:
        then, count = self._counts.get(of, (minute, 0))
        return count if then == minute else 0


class InRedis:
    """Where Redis is away each process counts for itself: a quota must not stop profiles."""

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
    """This process's counter of these things, by settings.REDIS_URL."""
    return _counter(settings.REDIS_URL, what)


@cache
def _counter(url: str, what: str) -> MinuteCounter:
    return InRedis(url, what) if url else InProcess()


def clear_all() -> None:
    """Count anew: for tests, whose projects come and go."""
    _counter.cache_clear()
