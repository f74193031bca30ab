"""Each test has its own long-poll queue; tests with Redis get an empty database."""

from collections.abc import Iterator

import pytest
import redis

from scheduler.long_poll import queue_of_process


@pytest.fixture(autouse=True)
def _a_room_of_its_own() -> Iterator[None]:
    queue_of_process.cache_clear()
    yield
    queue_of_process.cache_clear()


@pytest.fixture
def redis_url(redis_url: str) -> Iterator[str]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
        yield redis_url
        client.flushdb()
