"""Pyroscope's clients from their registries send profiles to a real server."""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.pyroscope.clients import CLIENTS
from tests.server import RunningServer, Tenant, running_server
from tests.waiting import until

pytestmark = [pytest.mark.nightly, pytest.mark.server, pytest.mark.timeout(900)]

SECONDS = 300  # at most; a program is stopped when its profiles have arrived
PROFILES = 2  # at least, of each type
# Name of the service, and of the function with most of the CPU time. Node.js writes the file before
# the name and the line after it.
SERVICES = {
    "python": ("shop.python", "hot_function"),
    "python-0-8": ("shop.python", "hot_function"),
    "nodejs": ("shop.nodejs", "hotFunction"),
    "go": ("shop.go", "main.hotFunction"),
    "java": ("shop.java", "Shop.hotFunction"),
}
TYPES = {
    "python": {"CPU", "HEAP", "HEAP_ALLOC"},
    "python-0-8": {"CPU"},
    "nodejs": {"CPU", "WALL", "HEAP"},
    "go": {"CPU", "HEAP", "HEAP_ALLOC", "THREADS", "CONTENTION"},
    "java": {"CPU", "HEAP_ALLOC"},
}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def get(server: RunningServer, tenant: Tenant, path: str, **query: str) -> dict[str, Any]:
    address = f"{server.url}/api/v1/projects/-/{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {tenant.read}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        found: dict[str, Any] = json.load(response)
    return found


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_sends_profiles_and_the_hot_function_is_on_top(
    name: str, server: RunningServer, tmp_path: Path
) -> None:
    tenant = server.add_tenant(name, f"{name}@example.org")
    CLIENTS[name].install(tmp_path)
    service, function = SERVICES[name]
    log = tmp_path / "log"
    program = CLIENTS[name].program(server.url, tenant.write, SECONDS).start(tmp_path, log)

    def counts() -> dict[str, int]:
        time.sleep(3.0)  # the queries of a minute are limited
        return {
            type_: int(get(server, tenant, "top", service=service, type=type_)["profiles"])
            for type_ in TYPES[name]
        }

    try:
        until(lambda: min(counts().values()) >= PROFILES, SECONDS, "profiles of all types")
    finally:
        program.kill()
        program.wait()
    (found,) = get(server, tenant, "services")["services"]
    assert (found["service"], set(found["types"])) == (service, TYPES[name]), log.read_text()
    assert found["versions"] == ["1.4+b"]
    top = get(server, tenant, "top", service=service, type="CPU")
    assert function in top["functions"]["name"][0]
