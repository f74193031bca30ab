"""Cache and counters while Redis is refused, hangs, or comes back."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.test import Client
from pytest_django import Settings

from common import redis_outage
from common.minute_counter import RedisCounter
from common.redis_outage import FallbackRedisCache, RedisPause
from profiler_site import settings as site_settings
from projects.models import Project, User
from tests import services

BACKEND = "common.redis_outage.FallbackRedisCache"


@pytest.fixture(params=["refused", "hangs"])
def dead_redis(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the URL of a port that refuses connections, or accepts them and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if request.param == "hangs":
            listener.listen(100)
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def make_cache(url: str) -> FallbackRedisCache:
    return FallbackRedisCache([url], {"OPTIONS": site_settings.REDIS_CACHE_OPTIONS})


def test_cache_without_redis_stores_values_in_memory(dead_redis: str) -> None:
    cache = make_cache(dead_redis)
    assert cache.add("lock", True, 60)
    assert not cache.add("lock", True, 60)
    cache.set("attempts", [1.0], 60)
    assert cache.get("attempts") == [1.0]
    assert cache.has_key("attempts")
    assert cache.delete("attempts")
    assert cache.get("attempts", "none") == "none"
    cache.set_many({"count": 1, "other": 2}, 60)
    assert cache.incr("count") == 2
    assert cache.get_many(["count", "other"]) == {"count": 2, "other": 2}


def test_counts_continue_when_redis_fails_and_return_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_outage, "PAUSE_SECONDS", 0.0)
    port = services.free_port()
    with services.redis(tmp_path, port) as url:
        cache = make_cache(url)
        cache.set("attempts", [1.0, 2.0], 60)
    assert cache.get("attempts") == [1.0, 2.0]
    cache.set("attempts", [1.0, 2.0, 3.0], 60)
    with services.redis(tmp_path, port) as url:
        cache.set("after", 4, 60)
        assert redis.Redis.from_url(url).get(cache.make_key("after")) == b"4"


def test_threads_share_the_counts_in_memory(dead_redis: str) -> None:
    """Django makes one cache for each thread."""
    first, second = make_cache(dead_redis), make_cache(dead_redis)
    first.set("attempts", [1.0], 60)
    assert second.get("attempts") == [1.0]


def test_pause_ends_after_its_duration() -> None:
    now = 100.0
    pause = RedisPause(clock=lambda: now)
    assert not pause.is_on
    pause.begin()
    assert pause.is_on
    now += redis_outage.PAUSE_SECONDS
    assert not pause.is_on


async def test_hanging_redis_is_asked_once_in_a_pause() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        listener.setblocking(False)
        counter = RedisCounter(f"redis://127.0.0.1:{listener.getsockname()[1]}/0")
        assert [await counter.increment(1, 100, 2) for _ in range(4)] == [True, True, False, False]
        assert counter.count(1, 100) == 2
        await counter.close()
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_pages_and_sign_in_limits_work_without_redis(
    client: Client, alice: User, project: Project, dead_redis: str, settings: Settings
) -> None:
    options = site_settings.REDIS_CACHE_OPTIONS
    settings.CACHES = {
        "default": {"BACKEND": BACKEND, "LOCATION": [dead_redis], "OPTIONS": options}
    }
    right = {"login": alice.email, "password": "a sentence works well"}
    assert client.post("/account/login/", right).headers["Location"] == "/"
    assert client.get(f"/p/{project.project_id}/settings").status_code == 200
    wrong = {"login": alice.email, "password": "another sentence"}
    attacker = Client()
    statuses = [attacker.post("/account/login/", wrong).status_code for _ in range(40)]
    assert statuses[0] == 200
    assert statuses[-1] == 429
