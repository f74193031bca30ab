"""Real server for tests: `flamewatch up` in its own process and data folder."""

import atexit
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.services import free_port

# Short periods, so that tests take seconds instead of minutes.
QUICK = {
    "FLAMEWATCH_PLAN_PERIOD_SECONDS": "3",
    "FLAMEWATCH_CAPTURE_SECONDS": "1",
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "5",
    "FLAMEWATCH_QUERY_WORKERS": "2",  # on any number of cores
    "FLAMEWATCH_GRPC_PORT": "0",  # servers run at the same time; tests of gRPC choose a free port
}
PASSWORD = "a sentence works well"
PORTS_TRIED = 3
LOG_LINES = 40  # shown with a test that fails
COMMAND = [sys.executable, "-m", "profiler_site.cli.main"]
_CREATE_TOKEN = """
from projects.credentials import access_tokens
from projects.models import TokenScope, User
print(access_tokens.create(User.objects.get(), "ci", tuple(TokenScope), 30)[1])
"""


class _PortTaken(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Tenant:
    """Project with the keys of its agents and of its readers."""

    project: str
    write: str
    read: str


@dataclass(frozen=True, slots=True)
class RunningServer:
    url: str
    data_dir: Path
    environment: dict[str, str]
    process: subprocess.Popen[str]
    log: Path

    def cli(self, *arguments: str, stdin: str = "") -> dict[str, object]:
        """Run a `flamewatch` command on this server's data, and return its JSON output."""
        done = subprocess.run(
            [*COMMAND, *arguments, "--json"],
            env=self.environment,
            input=stdin,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        output: dict[str, object] = json.loads(done.stdout)
        return output

    def add_project(self, name: str = "Acme Shop", email: str = "alice@example.org") -> str:
        """Create a project of a new user (with PASSWORD); return the project id."""
        self.cli("user", "create", email, "--password-stdin", stdin=PASSWORD + "\n")
        return str(self.cli("project", "create", name, "--owner", email)["project"])

    def add_tenant(
        self, name: str = "Acme Shop", email: str = "alice@example.org", **quotas: int
    ) -> Tenant:
        """Create a project of a new user (with PASSWORD), with quotas and a key for each scope."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.tenants", name, email, json.dumps(quotas)],
            env=self.environment,
            input=PASSWORD,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return Tenant(**json.loads(done.stdout))

    def add_key(self, project: str, scope: str = "write") -> str:
        return str(self.cli("key", "create", project, "--scope", scope)["key"])

    def add_token(self) -> str:
        """Create a personal access token of the only user, with all scopes; return its text."""
        return self.run_code(_CREATE_TOKEN)

    def run_code(self, code: str) -> str:
        """Run Python code with Django on this server's data, in a process; return its output."""
        done = subprocess.run(
            [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"],
            env=self.environment | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"},
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def interrupt(self, seconds: float = 60) -> int:
        """Send SIGINT, and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(seconds)


@contextlib.contextmanager
def running_server(*arguments: str, **environment: str) -> Iterator[RunningServer]:
    """Run `flamewatch up` on a free port without any data; kill it at the end.

    Its data folder has the tables and the static files already, which take longer than the rest
    of the start.
    """
    with tempfile.TemporaryDirectory(prefix="flamewatch-test-") as folder:
        ignored = shutil.ignore_patterns("disk-reserve")  # many MB; made when missing
        shutil.copytree(prepared_data(), f"{folder}/data", ignore=ignored)
        with server_in(Path(folder), *arguments, checkout=None, **environment) as server:
            yield server


@cache
def prepared_data() -> Path:
    """Return a data folder that no server has used, shared by all workers of a run."""
    shared = os.environ.get("FLAMEWATCH_TEST_CACHE")
    folder = Path(shared or tempfile.mkdtemp(prefix="flamewatch-prepared-"))
    if not shared:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    prepared = folder / "data"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            with server_in(folder / "first") as server:
                server.interrupt()
            (folder / "first" / "data").rename(prepared)
    return prepared


@contextlib.contextmanager
def server_in(
    folder: Path, *arguments: str, checkout: Path | None = None, **environment: str
) -> Iterator[RunningServer]:
    """Run the server in an existing folder, which stays; its data are in `data`.

    `checkout` has the code of the server if it is not the current folder.
    """
    server = _start_somewhere(folder, arguments, environment, checkout)
    try:
        yield server
    except BaseException as error:
        lines = server.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        error.add_note("\n".join(["The server's log ends with:", *lines]))
        raise
    finally:
        server.process.kill()
        server.process.wait()


def _start_somewhere(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], checkout: Path | None
) -> RunningServer:
    """Start the server, with another port if a program took the free one before the server did."""
    for _ in range(PORTS_TRIED - 1):
        with contextlib.suppress(_PortTaken):
            return _start(free_port(), folder, arguments, environment, checkout)
    return _start(free_port(), folder, arguments, environment, checkout)


def _start(
    port: int,
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    checkout: Path | None,
) -> RunningServer:
    folder.mkdir(exist_ok=True)
    log = folder / "server.log"
    ours = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    url = f"http://127.0.0.1:{port}"
    settings = {**ours, **QUICK, **environment}
    settings |= {"FLAMEWATCH_DATA_DIR": f"{folder}/data", "FLAMEWATCH_URL": url}
    command = [*COMMAND, "up", "--port", str(port), *arguments]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=settings,
            cwd=checkout,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    server = RunningServer(url, folder / "data", settings, process, log)
    try:
        _wait_until_it_serves(server)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return server


def _wait_until_it_serves(server: RunningServer, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if urllib.request.urlopen(f"{server.url}/ok", timeout=5).status == 200:
                return
        if server.process.poll() is not None:
            break
        time.sleep(0.05)
    said = server.log.read_text()
    if "is already in use" in said:
        raise _PortTaken(said)
    raise RuntimeError(f"The server did not come up:\n{said}")
