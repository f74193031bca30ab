"""Values of Django's caches in Redis, and the size of the one in memory."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from django.test import Client
from pytest_django import Settings

from profiler_site import settings as site_settings
from projects.models import Project, User

RAN: list[str] = []


class Hostile:
    """Object whose pickle runs code when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return RAN.append, ("ran",)


@pytest.fixture
def cache(redis_url: str) -> RedisCache:
    return RedisCache([redis_url], {"OPTIONS": site_settings.REDIS_CACHE_OPTIONS})


@pytest.mark.parametrize("value", [7, True, [1.5, 2.5], {"_auth_user_id": "1"}, "text"])
def test_cached_values_are_read_back_unchanged(cache: RedisCache, value: object) -> None:
    cache.set("key", value, 60)
    assert cache.get("key") == value
    assert cache.get("missing", "none") == "none"


def test_integers_can_be_incremented(cache: RedisCache) -> None:
    cache.set("key", 7, 60)
    assert cache.incr("key") == 8
    assert cache.get("key") == 8


def test_pickled_value_in_redis_is_rejected_without_running_code(
    cache: RedisCache, redis_url: str
) -> None:
    writer = redis.Redis.from_url(redis_url)
    writer.set(cache.make_key("key"), pickle.dumps(Hostile()))
    with pytest.raises(ValueError):
        cache.get("key")
    assert RAN == []


def test_the_settings_use_json_in_redis(tmp_path: Path) -> None:
    program = (
        "import json; from django.conf import settings;"
        "print(json.dumps([settings.CACHES, settings.CELERY_ACCEPT_CONTENT]))"
    )
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "REDIS_URL": "redis://:a,b;c@127.0.0.1:1/0",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    configured, accepted = json.loads(done.stdout)
    assert accepted == ["json"]
    assert {name: each["OPTIONS"] for name, each in configured.items()} == {
        "default": site_settings.REDIS_CACHE_OPTIONS,
    }
    # One server, whatever its password is: Django splits a text at commas and semicolons.
    assert all(each["LOCATION"] == [environment["REDIS_URL"]] for each in configured.values())


def test_a_flood_of_attempts_evicts_no_counter() -> None:
    caches["default"].set("attempts", [1.0], 300)
    for number in range(20_000):
        caches["default"].set(f"attempts-{number}", [1.0], 300)
    assert caches["default"].get("attempts") == [1.0]


def test_people_sign_in_with_counters_of_attempts_in_redis(
    client: Client, alice: User, project: Project, redis_url: str, settings: Settings
) -> None:
    in_redis = {
        "BACKEND": "common.redis_outage.FallbackRedisCache",
        "LOCATION": [redis_url],
        "OPTIONS": site_settings.REDIS_CACHE_OPTIONS,
    }
    settings.CACHES = {"default": in_redis | {"KEY_PREFIX": "default"}}
    wrong = {"login": alice.email, "password": "another sentence"}
    assert client.post("/account/login/", wrong).status_code == 200
    right = wrong | {"password": "a sentence works well"}
    assert client.post("/account/login/", right).headers["Location"] == "/"
    changed = client.post("/p/acme-shop/settings", {"name": "Acme", "rate": "0.5"}, follow=True)
    assert "Settings saved" in changed.content.decode()
    stored = redis.Redis.from_url(redis_url)
    assert list(stored.scan_iter("default:1:allauth:rl:*"))
