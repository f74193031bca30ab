"""PostgreSQL, Redis and an S3 server for the tests: real ones on free ports, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES = {
    "postgres": "postgresql",
    "redis-server": "redis-server",
    "chromium": "chromium",
    "node": "nodejs",
    "npm": "npm",
}


# Built by Go, once for all checkouts of a user: it takes minutes.
S3_SERVER = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
_TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flamewatch-tests"


# Registries and mirrors fail for a moment.
FETCHES, PAUSE_SECONDS, LOCK_SECONDS = 3, 10.0, 300
MOST_SAID = 2000  # characters of what a command that failed has said


class ServiceMissing(Exception):
    """A program that the tests need is not on this machine."""


@dataclass(frozen=True, slots=True)
class S3:
    """A bucket, and the credentials that open it."""

    url: str  # as BLOB_URL takes it
    key: str = "tests"
    secret: str = "secret-of-tests"

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}


def find(program: str) -> str:
    """The path of a program; Debian keeps PostgreSQL's off the PATH."""
    found = shutil.which(program)
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    if newest:
        return str(newest[-1])
    if found is None:
        raise ServiceMissing(f"{program} is missing: apt-get install {PACKAGES[program]}")
    return found


def install_missing() -> None:
    """As root, install what is missing; as anyone else, say the line that does."""
    _install_packages()
    s3_server()


def s3_server() -> str:
    """The path of the S3 server, built where it is not yet there."""
    folder = _TOOLS / S3_SERVER.rpartition("@")[2]
    if not (folder / "versitygw").exists():
        go = shutil.which("go", path=f"{os.environ['PATH']}:/usr/local/go/bin")
        if go is None:
            raise ServiceMissing("go is missing, which builds the S3 server: https://go.dev/dl")
        _build_s3_server(go, folder)
    return str(folder / "versitygw")


def _build_s3_server(go: str, folder: Path) -> None:
    """Elsewhere first: a build that is stopped, or one beside it, leaves no half a program."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as building:
        environment = os.environ | {"GOBIN": building, "CGO_ENABLED": "0"}
        _fetch([go, "install", S3_SERVER], environment)
        folder.mkdir(exist_ok=True)
        Path(building, "versitygw").replace(folder / "versitygw")


def _install_packages() -> None:
    missing = [package for program, package in PACKAGES.items() if not _present(program)]
    if not missing:
        return
    line = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0:
        raise ServiceMissing(f"The tests need programs that are missing. As root: {line}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}"]  # others install something too
    _fetch(["apt-get", "update", "-qq", *wait], environment)
    _fetch([*line.split(), "-qq", *wait], environment)


def _fetch(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run what loads from the network, which may fail once, or twice; silent if it succeeds."""
    said = ""
    for attempt in range(1, FETCHES + 1):
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return
        said = f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout[-MOST_SAID:]}"
        if attempt < FETCHES:
            print(f"{said}\nAgain in {PAUSE_SECONDS:.0f} s.", file=sys.stderr, flush=True)
            time.sleep(PAUSE_SECONDS)
    raise ServiceMissing(f"{said}\nTried {FETCHES} times.")


def _present(program: str) -> bool:
    try:
        find(program)
    except ServiceMissing:
        return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Yield the URL of an empty PostgreSQL, as fast as tests may have it: not durable."""
    folder = Path(tempfile.mkdtemp(prefix="flamewatch-services-"))
    folder.chmod(0o755)
    try:
        with postgresql(folder, durable=False) as database:
            yield database
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgresql(folder: Path, *, durable: bool = True) -> Iterator[str]:
    """The URL of a server that keeps its data in the folder: empty, or as it was left."""
    data, port = folder / "postgresql", free_port()
    is_new = not data.exists()
    data.mkdir(exist_ok=True)
    as_user = _unprivileged(data)
    quiet = {"stdout": subprocess.DEVNULL, "user": as_user, "cwd": "/"}
    if is_new:
        subprocess.run(
            [find("initdb"), "-D", data, "-U", "flamewatch", "-A", "trust", "-E", "UTF8", "-N"],
            check=True,
            **quiet,  # type: ignore[call-overload]
        )
    options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
    if not durable:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            options += ["-c", f"{name}=off"]
    log = (folder / "postgresql.log").open("w")
    server = _begin(
        [find("postgres"), "-D", data, "-p", str(port), *options],
        stderr=log,
        **quiet,
    )
    try:
        _wait_for_port(port, server)
        yield f"postgres://flamewatch@127.0.0.1:{port}/postgres"
    finally:
        _stop(server, signal.SIGINT)
        log.close()


def _unprivileged(folder: Path) -> str | None:
    """PostgreSQL refuses to run as root: the user that owns its folder then."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
            return name
    raise ServiceMissing("No user `postgres` or `nobody` to run PostgreSQL as.")


@contextlib.contextmanager
def redis(folder: Path, port: int | None = None) -> Iterator[str]:
    port = port or free_port()
    server = _begin(
        [find("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_for_port(port, server)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        _stop(server, signal.SIGTERM)


@contextlib.contextmanager
def s3(folder: Path) -> Iterator[S3]:
    """A server that checks signatures, with one empty bucket."""
    port = free_port()
    buckets, attributes = folder / "buckets", folder / "attributes"
    (buckets / "flamewatch").mkdir(parents=True)
    attributes.mkdir()
    made = S3(f"s3://flamewatch?endpoint=http://127.0.0.1:{port}")
    owner = {"ROOT_ACCESS_KEY": made.key, "ROOT_SECRET_KEY": made.secret}
    server = _begin(
        # The sidecar: not every file system has attributes of its own.
        [
            *(s3_server(), "--quiet", "--port", f"127.0.0.1:{port}"),
            *("posix", "--sidecar", str(attributes), str(buckets)),
        ],
        env=os.environ | owner,
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_for_port(port, server)
        yield made
    finally:
        _stop(server, signal.SIGTERM)


def _wait_for_port(port: int, server: subprocess.Popen[bytes], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServiceMissing(f"{server.args!r} ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise ServiceMissing(f"{server.args!r} did not listen on port {port} within {seconds} s")


def _begin(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[bytes]:
    """A server that ends when we do, also where we are killed."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], **options)


def _stop(server: subprocess.Popen[bytes], how: signal.Signals) -> None:
    server.send_signal(how)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    try:
        install_missing()
    except ServiceMissing as missing:
        sys.exit(str(missing))
