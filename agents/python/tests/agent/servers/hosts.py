"""Real servers that host the agent: starting, load, checks and stopping."""

import base64
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import families
from fake_server import FakeServer, Seen
from pprof_reader import ReadProfile, read
from programs import SOURCE, environ

PAUSE_SECONDS = 0.05  # between requests that burn 0.02 s each
TIMEOUT = 60.0  # seconds; two busy cores start a server slowly
RUN = (sys.executable, "-m", "flamewatch.run", "--")
TESTS = str(Path(__file__).parent)


@dataclass
class Host:
    process: subprocess.Popen[bytes]
    folder: Path
    log: Path
    failures: list[str] = field(default_factory=list)

    @property
    def socket(self) -> str:
        return str(self.folder / "s")

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def output_with_stacks(self) -> str:
        """Abort the processes, so that Python's fault handler adds the stacks of all threads."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGABRT)
            time.sleep(1)
        return self.output


@contextlib.contextmanager
def hosted(url: str, *command: str, run: bool = True) -> Iterator[Host]:
    """Run `command` and check that it exits cleanly.

    It runs under flamewatch-run unless `run` is false. "{socket}" in it is replaced by a socket's
    path.
    """
    with tempfile.TemporaryDirectory(prefix="fw-") as name:  # a socket's path has to be short
        folder = Path(name)
        filled = [part.replace("{socket}", str(folder / "s")) for part in command]
        paths = {"PYTHONPATH": f"{SOURCE}:{TESTS}", "BROKER_FOLDER": name}
        paths["PYTHONFAULTHANDLER"] = "1"  # for `output_with_stacks`
        with (folder / "log").open("wb") as log:
            process = families.begin(
                [*(RUN if run else ()), *filled],
                env=environ(url, **paths),
                cwd=folder,
                stdout=log,
                stderr=log,
            )
        host = Host(process, folder, folder / "log")
        try:
            yield host
            end(host)
        finally:
            families.end(process)  # also its workers, if any are left


def end(host: Host) -> None:
    if host.process.poll() is None:
        host.process.send_signal(signal.SIGTERM)
    code = host.process.wait(TIMEOUT)
    assert code in (0, -signal.SIGTERM), host.output
    assert "Traceback" not in host.output, host.output
    assert "flamewatch:" not in host.output, host.output


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket, so that parallel tests need no free port."""

    def __init__(self, path: str) -> None:
        super().__init__("shop", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def fetch(host: Host, path: str = "/orders/7") -> bytes:
    connection = _Connection(host.socket)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    assert response.status == 200, body
    return body


def wait_until_it_responds(host: Host) -> None:
    deadline = time.monotonic() + TIMEOUT
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            fetch(host)
            return
        assert host.process.poll() is None, host.output
        assert time.monotonic() < deadline, host.output_with_stacks()
        time.sleep(0.05)


@contextlib.contextmanager
def busy(host: Host, askers: int = 3) -> Iterator[None]:
    """Send requests with short pauses, so that a core is left, and check that each succeeds."""
    wait_until_it_responds(host)
    done = threading.Event()

    def ask_on() -> None:
        while not done.wait(PAUSE_SECONDS):
            try:
                fetch(host)
            except Exception as error:
                host.failures.append(repr(error))

    threads = [threading.Thread(target=ask_on) for _ in range(askers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert host.failures == []


@contextlib.contextmanager
def tasks(host: Host) -> Iterator[None]:
    """Send Celery tasks continuously, so that its workers are never idle."""
    done = threading.Event()
    send = [sys.executable, "-c", "import host_celery as h; [h.ship.delay() for _ in range(50)]"]
    paths = {"PYTHONPATH": f"{SOURCE}:{TESTS}", "BROKER_FOLDER": str(host.folder)}

    def send_on() -> None:
        queue = host.folder / "queue"
        while not done.wait(0.05):
            if len(list(queue.glob("*"))) < 50:
                subprocess.run(send, env=os.environ | paths, check=True, timeout=TIMEOUT)

    thread = threading.Thread(target=send_on)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def wait_until(condition: Callable[[], bool], host: Host) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert host.process.poll() is None, host.output
        assert time.monotonic() < deadline, host.output_with_stacks()
        time.sleep(0.05)


def profiles_with(seen: list[Seen], function: str) -> dict[str, ReadProfile]:
    """Map agents to their first profile that contains the function."""
    found: dict[str, ReadProfile] = {}
    for one in seen:
        if one.method == "PATCH" and one.agent not in found:
            profile = read(base64.b64decode(one.json["profileBytes"]))
            if function in profile.functions_seen():
                found[one.agent] = profile
    return found


def all_labels_of(server: FakeServer, function: str) -> set[tuple[tuple[str, object], ...]]:
    """Return the label sets of the function in all received profiles."""
    uploads = [read(base64.b64decode(one.json["profileBytes"])) for one in server.requests("PATCH")]
    return {labels for profile in uploads for labels in labels_of(profile, function)}


def wait_for_profiles(
    server: FakeServer, function: str, agents: int = 1, host: Host | None = None
) -> list[ReadProfile]:
    """Wait until `agents` processes have each sent a profile with the function."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        with server.changed:
            seen = list(server.seen)
        found = profiles_with(seen, function)
        if len(found) >= agents:
            return list(found.values())
        what = f"{len(found)} of {agents} agents sent {function}"
        assert time.monotonic() < deadline, f"{what}: {host.output_with_stacks() if host else ''}"
        time.sleep(0.1)


def labels_of(profile: ReadProfile, function: str) -> set[tuple[tuple[str, object], ...]]:
    return {
        tuple(sample.labels.items())
        for sample in profile.samples
        if function in {frame.function for frame in sample.frames}
    }
