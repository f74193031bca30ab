"""Django's cache in Redis holds JSON, never pickles."""

import pickle
from typing import Any

import pytest
from django.core.cache.backends.redis import RedisCache

from profiler_site.configuration.cache_serializer import VERSION, JsonSerializer

VALUES = [{"_auth_user_id": "1", "é": [1, None, True]}, [1795000000.5, 2.0], True, 7, "text", None]


@pytest.fixture
def redis_cache(redis_url: str) -> RedisCache:
    options = {"VERSION": VERSION, "OPTIONS": {"serializer": JsonSerializer}}
    return RedisCache(redis_url, options)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_of_sessions_and_rate_limits_are_read_back(
    value: Any, redis_cache: RedisCache
) -> None:
    redis_cache.set("key", value)
    assert redis_cache.get("key", "absent") == value


def test_integers_can_be_incremented(redis_cache: RedisCache) -> None:
    redis_cache.set("count", 7)
    assert redis_cache.incr("count") == 8


def test_a_pickle_is_not_read() -> None:
    with pytest.raises(ValueError):
        JsonSerializer().loads(pickle.dumps({"a": 1}))
