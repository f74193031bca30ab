"""Short time-outs for Redis, and work without it while it does not respond."""

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from common.outages import Dependency, note_failure

logger = logging.getLogger(__name__)

COMMAND_SECONDS = 0.5  # for one command; pages stay usable while Redis hangs
PAUSE_SECONDS = 5.0  # without Redis after a failure, so that a hanging Redis costs one wait
_MAX_FALLBACK_ENTRIES = 100_000  # of about 0.5 kB


def redis_options(retry: Any = Retry) -> dict[str, Any]:
    """Return the options of a client that fails within COMMAND_SECONDS, without retries."""
    return {
        "socket_timeout": COMMAND_SECONDS,
        "socket_connect_timeout": COMMAND_SECONDS,
        "retry": retry(NoBackoff(), 0),
    }


class RedisPause:
    """Pause after each failure of Redis, in which its clients do not ask it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = float("-inf")

    @property
    def is_on(self) -> bool:
        return self._clock() < self._until

    def begin(self) -> None:
        self._until = self._clock() + PAUSE_SECONDS


@cache
def _pause_for(url: str) -> RedisPause:
    """Return the pause of all caches of this process in one Redis."""
    return RedisPause()


class _FallbackClient(RedisCacheClient):
    """Client of Django's cache that uses the memory of this process while Redis fails.

    Values are also stored in memory while Redis works, so that limits of sign-in attempts continue
    with the counts of this process instead of from zero.
    """

    def __init__(self, servers: Any, **options: Any) -> None:
        super().__init__(servers, **redis_options(), **options)
        # Shared by all threads: Django makes a cache for each of them, and limits of attempts must
        # not multiply with the threads.
        url = ",".join(servers)
        self._pause = _pause_for(url)
        params = {"OPTIONS": {"MAX_ENTRIES": _MAX_FALLBACK_ENTRIES}}
        self._memory = LocMemCache(f"fallback of {url}", params)

    def _call(self, redis: Callable[[], Any], memory: Callable[[], Any]) -> Any:
        if self._pause.is_on:
            return memory()
        try:
            return redis()
        except RedisError as error:
            note_failure(
                Dependency.REDIS,
                logger,
                "Redis failed; each process counts attempts to sign in alone: %s",
                error,
            )
            self._pause.begin()
            return memory()

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        return bool(
            self._call(
                lambda: super(_FallbackClient, self).add(key, value, timeout),
                lambda: self._memory.add(key, value, timeout),
            )
        )

    def get(self, key: Any, default: Any) -> Any:
        return self._call(
            lambda: super(_FallbackClient, self).get(key, default),
            lambda: self._memory.get(key, default),
        )

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        self._memory.set(key, value, timeout)
        self._call(lambda: super(_FallbackClient, self).set(key, value, timeout), lambda: None)

    def touch(self, key: Any, timeout: Any) -> bool:
        touched = self._memory.touch(key, timeout)
        return bool(
            self._call(lambda: super(_FallbackClient, self).touch(key, timeout), lambda: touched)
        )

    def delete(self, key: Any) -> bool:
        deleted = self._memory.delete(key)
        return bool(self._call(lambda: super(_FallbackClient, self).delete(key), lambda: deleted))

    def get_many(self, keys: Any) -> Any:
        names = list(keys)
        return self._call(
            lambda: super(_FallbackClient, self).get_many(names),
            lambda: self._memory.get_many(names),
        )

    def has_key(self, key: Any) -> bool:
        return bool(
            self._call(
                lambda: super(_FallbackClient, self).has_key(key),
                lambda: self._memory.has_key(key),
            )
        )

    def incr(self, key: Any, delta: int) -> int:
        return int(
            self._call(
                lambda: super(_FallbackClient, self).incr(key, delta),
                lambda: self._memory.incr(key, delta),
            )
        )

    def set_many(self, data: Any, timeout: Any) -> None:
        for key, value in data.items():
            self.set(key, value, timeout)

    def delete_many(self, keys: Any) -> None:
        for key in keys:
            self.delete(key)

    def clear(self) -> bool:
        self._memory.clear()
        return bool(self._call(lambda: super(_FallbackClient, self).clear(), lambda: True))


class FallbackRedisCache(RedisCache):
    """Django's cache in Redis, which falls back to the memory of each process."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _FallbackClient
