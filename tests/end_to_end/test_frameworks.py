"""Django, ASGI and Celery under the agent show all six profile types on a real server."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.test_python_agent import installed  # noqa: F401  a fixture
from tests.paths import ROOT
from tests.server import RunningServer, running_server
from tests.services import free_port
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]

HOSTS = "tests.end_to_end.hosts"
SHOP = f"{HOSTS}.shop"
# The function of the shop that a profile of each type must show among its heaviest.
EXPECTED = {
    "CPU": "price",
    "WALL": "reserve",  # requests wait for its lock most of the time
    "HEAP": "remember",
    "HEAP_ALLOC": "render",
    "THREADS": "ship",
    "CONTENTION": "reserve",
}
LOOK_SECONDS = 5.0  # six queries a look; more often than that a key gets 429
PAUSE_SECONDS = 0.02  # of two customers: their requests use half a core or more
AMONG = 6  # of the shop's own functions: frameworks have dozens of frames around a request


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def command(host: str, port: int) -> list[str]:
    python = [sys.executable, "-m"]
    gunicorn = ["gunicorn", "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"]
    return {
        "django": [*python, *gunicorn, "--threads", "4", f"{HOSTS}.django_shop"],
        "asgi": [*python, "uvicorn", "--port", str(port), f"{HOSTS}.asgi_shop:application"],
        "celery": [*python, "celery", "-A", f"{HOSTS}.celery_shop", "worker", "-c", "2"],
    }[host]


@contextlib.contextmanager
def running(
    host: str, port: int, environment: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    run = [sys.executable, "-m", "flamewatch.run", "--service", host, "--"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*run, *command(host, port)],
            env=os.environ | environment | {"BROKER_FOLDER": str(folder)},
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def customers(port: int) -> Iterator[None]:
    """Send requests with short pauses, once the host responds."""
    done = threading.Event()

    def pay() -> None:
        while not done.wait(PAUSE_SECONDS):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/pay/", timeout=60).close()
            except OSError:  # it has not started yet
                done.wait(0.1)

    threads = [threading.Thread(target=pay) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


@contextlib.contextmanager
def work(host: str, port: int, environment: dict[str, str], folder: Path) -> Iterator[None]:
    if host != "celery":
        with customers(port):
            yield
        return
    send = f"from {HOSTS}.celery_shop import pay; [pay.delay() for _ in range(4)]"
    mine = os.environ | environment | {"BROKER_FOLDER": str(folder)}
    subprocess.run([sys.executable, "-c", send], env=mine, cwd=ROOT, check=True, timeout=60)
    yield


def top(server: RunningServer, key: str, service: str, kind: str) -> list[str]:
    """Return the functions of non-zero total, the largest first."""
    query = urllib.parse.urlencode({"service": service, "type": kind})
    request = urllib.request.Request(
        f"{server.url}/api/v1/projects/-/top?{query}", headers={"Authorization": f"Bearer {key}"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        functions = json.load(response)["functions"]
    rows = sorted(zip(functions["total"], functions["name"], strict=True), reverse=True)
    return [name for total, name in rows if total]


def missing(server: RunningServer, key: str, service: str) -> dict[str, list[str]]:
    """Types whose expected function is not among the heaviest, with those that are."""
    tops = {kind: top(server, key, service, kind) for kind in EXPECTED}
    for kind, names in tops.items():
        assert not [name for name in names if name.startswith("flamewatch.")], kind
    assert not [name for name in tops["CONTENTION"] if name.startswith(f"{SHOP}.ship")]
    own = {kind: [name for name in names if name.startswith(HOSTS)] for kind, names in tops.items()}
    return {
        kind: own[kind] or names
        for kind, names in tops.items()
        if f"{SHOP}.{EXPECTED[kind]}" not in own[kind][:AMONG]
    }


@pytest.mark.parametrize("host", ["django", "asgi", "celery"])
def test_a_host_shows_its_work_in_all_six_types(
    server: RunningServer,
    installed: Path,  # noqa: F811
    host: str,
    tmp_path: Path,
) -> None:
    tenant = server.add_tenant(f"Shop {host}", f"{host}@example.org")
    key, port = tenant.read, free_port()
    environment = {
        "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}",
        "FLAMEWATCH_URL": server.url,
        "FLAMEWATCH_KEY": tenant.write,
    }

    def shown() -> bool:
        time.sleep(LOOK_SECONDS)
        return not missing(server, key, host)

    with running(host, port, environment, tmp_path), work(host, port, environment, tmp_path):
        try:
            until(shown, 150, "profile of every type")
        except AssertionError as error:
            log = (tmp_path / "log").read_text(errors="replace")
            pytest.fail(f"{error}: {missing(server, key, host)}\n{log[-3000:]}")
