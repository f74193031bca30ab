"""Redis with a password over TLS, for everything that uses it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import services

REQUEST = (
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    " -subj /CN=redis -addext subjectAltName=IP:127.0.0.1"
)
PROGRAM = """
import asyncio, json
import django
django.setup()
from common import redis_outage
redis_outage.COMMAND_SECONDS = 30.0  # a handshake takes over 0.5 s on a busy machine
from django.conf import settings
from django.core.cache import caches
from common.minute_counter import RedisCounter
from profiler_site.celery import app
from profiles.queries.cache import RedisCache

def broker():
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0)

async def count():
    counter = RedisCounter(settings.REDIS_URL)
    await counter._redis.ping()
    await counter.close()

users = {
    "broker": broker,
    "cache": lambda: caches["default"]._cache.get_client().ping(),
    "counters": lambda: asyncio.run(count()),
    "results": lambda: RedisCache(settings.REDIS_URL, 1000)._redis.ping(),
}
results = {}
for name, use in users.items():
    try:
        use()
        results[name] = "ok"
    except Exception as error:
        results[name] = str(error)
print(json.dumps(results))
"""


@contextlib.contextmanager
def redis_with_tls(folder: Path) -> Iterator[int]:
    """Run Redis with a password and a certificate of its own; yield the port."""
    certificate, key = folder / "redis.pem", folder / "redis.key"
    subprocess.run(
        [services.find("openssl"), *REQUEST.split(), "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    port = services.free_port()
    options = {
        "port": "0",
        "tls-port": str(port),
        "tls-cert-file": str(certificate),
        "tls-key-file": str(key),
        "tls-ca-cert-file": str(certificate),
        "tls-auth-clients": "no",
        "bind": "127.0.0.1",
        "requirepass": "hush",
        "save": "",
        "dir": str(folder),
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    server = services.begin_server(
        [services.find("redis-server"), *arguments], stdout=subprocess.DEVNULL
    )
    try:
        services.wait_for_port(port, server)
        yield port
    finally:
        services.stop_server(server, signal.SIGTERM)


def use(url: str, folder: Path) -> dict[str, str]:
    """Return the result of each user of Redis: "ok" or the error."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        "FLAMEWATCH_DATA_DIR": str(folder / "data"),
        "REDIS_URL": url,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    results: dict[str, str] = json.loads(done.stdout)
    return results


@pytest.mark.server
def test_every_user_of_redis_checks_its_certificate(tmp_path: Path) -> None:
    with redis_with_tls(tmp_path) as port:
        url = f"rediss://:hush@127.0.0.1:{port}/0"
        trusted = use(f"{url}?ssl_ca_certs={tmp_path}/redis.pem", tmp_path)
        unknown = use(url, tmp_path)
    assert set(trusted.values()) == {"ok"}, trusted
    unchecked = {
        name for name, said in unknown.items() if "certificate verify failed" not in said.lower()
    }
    assert unchecked == set(), unknown
