"""PostgreSQL, Redis and the S3 store stop under a running server, and return.

A web process, a Celery worker and beat run as on several machines.
"""

import base64
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import orjson
import pytest

from tests import services
from tests.end_to_end.browser_forms import browser, post, signed_in
from tests.ingest.pprof import profile
from tests.server import RunningServer, Tenant, server_in
from tests.services import free_port
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]
SECONDS = 60
TOKEN = "a token of the operator"
UPLOADS = 30  # during an outage
# Lines that the log may get in an outage: one for each of some kinds, not one for each request.
MAX_LINES = 15
PAGES = (
    "/",
    "/projects/new",
    "/account/password/change/",
    "/help/concepts",
    *(
        f"/p/{{project}}/{page}"
        for page in (
            *("services", "agents", "agents?show=deployments", "saved", "setup", "settings"),
            *("flame?service=shop&type=CPU", "flame/tree?service=shop&type=CPU"),
            *("compare?service=shop&type=CPU", "history?service=shop&type=CPU"),
            *("breakdown?service=shop&type=CPU", "profiles?service=shop&type=CPU"),
            *("notes?service=shop", "notes/new?service=shop", "embed?service=shop&type=CPU"),
        )
    ),
)


@dataclass
class StoppableService:
    """StoppableService that can be stopped and started again at the same address."""

    start_context: Callable[[], AbstractContextManager[object]]
    _running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> object:
        return self._running.enter_context(self.start_context())

    def stop(self) -> None:
        self._running.close()


@dataclass
class RunningInstallation:
    server: RunningServer
    tenant: Tenant
    database: StoppableService
    redis: StoppableService
    store: StoppableService
    uploads: int = 0

    def request(self, method: str, path: str, body: object = None) -> httpx.Response:
        content = None if body is None else orjson.dumps(body)
        headers = {"Authorization": f"Bearer {self.tenant.write}"}
        return httpx.request(
            method, f"{self.server.url}{path}", content=content, headers=headers, timeout=60
        )

    def upload(self) -> httpx.Response:
        self.uploads += 1  # makes each upload a different profile
        body = base64.b64encode(profile({("main", "work"): (self.uploads, 10**7)})).decode()
        message = {"profileType": "CPU", "deployment": {"target": "shop"}, "duration": "10s"}
        path = f"/v2/projects/{self.tenant.project}/profiles:createOffline"
        return self.request("POST", path, message | {"profileBytes": body})

    def handshake(self) -> httpx.Response:
        message = {
            "deployment": {"projectId": self.tenant.project, "target": "shop"},
            "profileType": ["WALL"],
        }
        return self.request("POST", f"/v2/projects/{self.tenant.project}/profiles", message)

    def statuses(self, client: httpx.Client) -> dict[str, int]:
        """Return the status of each page; 200 for all that work."""
        paths = [path.format(project=self.tenant.project) for path in PAGES]
        return {path: client.get(path).status_code for path in paths}

    def ready(self) -> int:
        return httpx.get(f"{self.server.url}/ready", timeout=60).status_code

    def states(self) -> dict[str, str]:
        """Return the state of each service as /ready?verbose has it."""
        text = httpx.get(f"{self.server.url}/ready?verbose", timeout=60).text
        lines = text.partition("\n\n")[2].splitlines()
        return {line[9:20].strip(): line[:8].strip() for line in lines}

    def await_state(self, name: str, state: str) -> None:
        until(lambda: self.states().get(name) == state, SECONDS, f"{name} that is {state}")

    def metrics(self) -> str:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return httpx.get(f"{self.server.url}/metrics", headers=headers, timeout=60).text

    @contextlib.contextmanager
    def bounded_log(self) -> Iterator[None]:
        """Require few lines without a traceback in the log of the web process meanwhile."""
        before = len(self.server.log.read_text())
        yield
        added = self.server.log.read_text()[before:]
        assert "Traceback" not in added, added
        assert len(added.splitlines()) <= MAX_LINES, added


@contextlib.contextmanager
def celery(environment: dict[str, str], folder: Path, *arguments: str) -> Iterator[None]:
    with (folder / f"{arguments[0]}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "profiler_site", *arguments],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that other users may enter, because PostgreSQL runs as one."""
    with tempfile.TemporaryDirectory(prefix="flamewatch-outages-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def installation(folder: Path) -> Iterator[RunningInstallation]:
    ports = [free_port() for _ in range(3)]
    database = StoppableService(lambda: services.postgresql(folder, port=ports[0]))
    redis = StoppableService(lambda: services.redis(folder, ports[1]))
    store = StoppableService(lambda: services.s3(folder, ports[2]))
    with ExitStack() as running:
        started = [each.start() for each in (database, redis, store)]
        for each in (database, redis, store):
            running.callback(each.stop)
        bucket = started[2]
        assert isinstance(bucket, services.S3)
        environment = {
            "DATABASE_URL": f"{started[0]}",
            "REDIS_URL": f"{started[1]}",
            "BLOB_URL": bucket.url,
            **bucket.environment(),
            "FLAMEWATCH_METRICS_TOKEN": TOKEN,
            "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "1",
        }
        server = running.enter_context(server_in(folder, checkout=None, **environment))
        for arguments in (
            ("worker", "--pool", "prefork", "--concurrency", "1"),
            ("beat", "--schedule", f"{folder}/beat"),
        ):
            running.enter_context(celery(server.environment, folder, *arguments))
        yield RunningInstallation(server, server.add_tenant(), database, redis, store)


def test_server_survives_an_outage_of_each_service(installation: RunningInstallation) -> None:
    """All in one test, because the services and processes take long to start."""
    with signed_in(installation.server) as client:
        _everything_works(installation, client)
        _redis_is_away(installation, client)
        _everything_works(installation, client)
        _database_is_away(installation, client)
        _everything_works(installation, client)
        _store_is_away(installation, client)
        _everything_works(installation, client)
        _processes_are_counted_together(installation)


def _everything_works(installation: RunningInstallation, client: httpx.Client) -> None:
    until(lambda: installation.upload().status_code == 200, SECONDS, "stored upload")
    until(lambda: installation.ready() == 200, SECONDS, "ready server")
    for name in ("database", "redis", "blob store", "disk", "beat", "worker"):
        installation.await_state(name, "ok")
    statuses = installation.statuses(client)
    assert set(statuses.values()) == {200}, statuses
    until(_parks(installation), SECONDS, "parked handshake")


def _parks(installation: RunningInstallation) -> Callable[[], bool]:
    return lambda: "Nothing to capture" in installation.handshake().text


def _redis_is_away(installation: RunningInstallation, client: httpx.Client) -> None:
    with installation.bounded_log():
        installation.redis.stop()
        installation.await_state("redis", "failed")
        assert installation.states()["beat"] == "warning"
        assert installation.ready() == 200
        statuses = installation.statuses(client)
        assert set(statuses.values()) == {200}, statuses
        with signed_in(installation.server) as other:
            assert other.get("/account/password/change/").status_code == 200
        assert {installation.upload().status_code for _ in range(UPLOADS)} == {200}
        response = installation.handshake()
        assert response.status_code == 409
        assert "retryDelay" in response.text
        with browser(installation.server, "192.0.2.7") as attacker:
            form = {"login": "alice@example.org", "password": "another sentence"}
            tries = [post(attacker, "/account/login/", **form) for _ in range(40)]
        assert "Too many failed login attempts" in tries[12].text
        assert tries[-1].status_code == 429
    assert 'dependency="redis"' in installation.metrics()
    installation.redis.start()


def _database_is_away(installation: RunningInstallation, client: httpx.Client) -> None:
    with installation.bounded_log():
        installation.database.stop()
        until(lambda: installation.ready() == 503, SECONDS, "server that is not ready")
        installation.await_state("database", "failed")
        paths = [path.format(project=installation.tenant.project) for path in PAGES]
        responses = {path: client.get(path, headers={"Accept": "text/html"}) for path in paths}
        for path, response in responses.items():
            if path != "/help/concepts":
                assert response.status_code == 503, path
                if not path.endswith("/tree?service=shop&type=CPU"):
                    assert "The database is not available" in response.text, path
        assert {installation.upload().status_code for _ in range(UPLOADS)} == {503}
        assert "retryDelay" in installation.upload().text
        errors = re.search(
            r'dependency_errors_total{dependency="database",process="web-0"} ([0-9.]+)',
            installation.metrics(),
        )
        assert errors
        assert float(errors[1]) >= UPLOADS
    installation.database.start()


def _store_is_away(installation: RunningInstallation, client: httpx.Client) -> None:
    with installation.bounded_log():
        installation.store.stop()
        installation.await_state("blob store", "failed")
        assert installation.ready() == 200
        statuses = installation.statuses(client)
        assert set(statuses.values()) == {200}, statuses
        assert {installation.upload().status_code for _ in range(UPLOADS)} == {200}
    installation.store.start()


def _processes_are_counted_together(installation: RunningInstallation) -> None:
    until(lambda: 'process="worker-0"' in installation.metrics(), SECONDS, "worker's metrics")
    text = installation.metrics()
    assert (
        'flamewatch_uploads_total{process="web-0",protocol="cloud_profiler",status="503"}' in text
    )
    assert "flamewatch_beat_last_run_timestamp_seconds " in text
    assert os.listdir(installation.server.data_dir / "metrics")
