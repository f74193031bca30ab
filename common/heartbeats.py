"""Times at which background work ran last: in Redis, or in the memory of the only process."""

import time
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

import redis
from django.conf import settings
from redis.exceptions import RedisError

from common.redis_outage import redis_options

_PREFIX = "flamewatch:heartbeat:"
_STORED_SECONDS = 30 * 86_400


class Heartbeat(StrEnum):
    """Event whose last time is stored."""

    BEAT = "beat"  # Celery beat sent a task
    WORKER = "worker"  # a Celery worker ended a task
    PLAN = "plan"  # the capture requests of the next period were planned


class HeartbeatsUnavailable(Exception):
    """Redis, which stores the times, does not respond."""


def note(heartbeat: Heartbeat) -> None:
    """Store the current time. Without Redis, do nothing: the job itself has succeeded."""
    now = time.time()
    if not settings.REDIS_URL:
        _in_process[heartbeat] = now
        return
    try:
        _client(settings.REDIS_URL).set(f"{_PREFIX}{heartbeat}", now, ex=_STORED_SECONDS)
    except RedisError:
        return


def read() -> Mapping[Heartbeat, float | None]:
    """Return the Unix times; None for one that never ran. Raise HeartbeatsUnavailable."""
    if not settings.REDIS_URL:
        return {each: _in_process.get(each) for each in Heartbeat}
    try:
        values = _client(settings.REDIS_URL).mget([f"{_PREFIX}{each}" for each in Heartbeat])
    except RedisError as error:
        raise HeartbeatsUnavailable(str(error)) from error
    return {
        each: None if value is None else float(value)
        for each, value in zip(Heartbeat, values, strict=True)
    }


@cache
def _client(url: str) -> "redis.Redis":
    return redis.Redis.from_url(url, **redis_options())


_in_process: dict[Heartbeat, float] = {}
