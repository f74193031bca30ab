"""PostgreSQL, Redis and S3 servers for the tests, on free ports and stopped afterwards."""

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
    "openssl": "openssl",
    "node": "nodejs",
    "npm": "npm",
    "xgettext": "gettext",
    "msgcmp": "gettext",
    "msgfmt": "gettext",
    "javac": "default-jdk-headless",
}
# The first one that is present shows the pages. Without windows and menus, the headless shell needs
# less than half of the CPU time; only Debian has a package of it.
BROWSERS = ("chromium-headless-shell", "chromium")

# Programs that only nightly tests need: `python -m tests.services --nightly` installs them too.
NIGHTLY_PACKAGES = {
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "mvn": "maven",
    "go": "golang",
}


# Built by Go, once per user for all checkouts, because it takes minutes.
S3_SERVER = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
_TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flamewatch-tests"


# Retries, because registries and mirrors sometimes fail briefly.
FETCHES, PAUSE_SECONDS, LOCK_SECONDS = 3, 10.0, 300
MOST_SAID = 2000  # characters of a failed command's output


class ServiceMissing(Exception):
    """Program that the tests need and this machine lacks."""


@dataclass(frozen=True, slots=True)
class S3:
    """Bucket with its credentials."""

    url: str  # in the form of BLOB_URL
    key: str = "tests"
    secret: str = "secret-of-tests"

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}


def find(program: str) -> str:
    """Return the path of a program; PostgreSQL's and Go's may be outside the PATH."""
    found = shutil.which(program) or shutil.which(program, path="/usr/local/go/bin")
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    if newest:
        return str(newest[-1])
    if found is None:
        package = (PACKAGES | NIGHTLY_PACKAGES).get(program, program)
        raise ServiceMissing(f"{program} is missing: apt-get install {package}")
    return found


def browser() -> str:
    """Return the path of Chromium's headless shell, or of the whole browser if that is missing."""
    for program in BROWSERS:
        if _present(program):
            return find(program)
    raise ServiceMissing(f"Chromium is missing: apt-get install {' or '.join(BROWSERS)}")


def install_missing(packages: Mapping[str, str] = PACKAGES) -> None:
    """Install missing programs as root; otherwise print the command that does."""
    _install_packages(packages)
    s3_server()


def s3_server() -> str:
    """Return the path of the S3 server, after building it if necessary."""
    folder = _TOOLS / S3_SERVER.rpartition("@")[2]
    if not (folder / "versitygw").exists():
        _build_s3_server(go(), folder)
    return str(folder / "versitygw")


def go() -> str:
    """Return the path of Go, which is often installed in a folder of its own."""
    found = shutil.which("go", path=f"{os.environ['PATH']}:/usr/local/go/bin")
    if found is None:
        raise ServiceMissing("go is missing: https://go.dev/dl")
    return found


def _build_s3_server(go_path: str, folder: Path) -> None:
    """Build in a temporary folder, so that interrupted builds leave no partial program."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as building:
        environment = os.environ | {"GOBIN": building, "CGO_ENABLED": "0"}
        fetch([go_path, "install", S3_SERVER], environment)
        folder.mkdir(exist_ok=True)
        Path(building, "versitygw").replace(folder / "versitygw")


def _install_packages(packages: Mapping[str, str]) -> None:
    missing = {package for program, package in packages.items() if not _present(program)}
    if not any(map(_present, BROWSERS)):
        missing.add(BROWSERS[0])
    if missing:
        _install(sorted(missing))
    elif not _present(BROWSERS[0]) and os.geteuid() == 0:
        _install_headless_shell()


def _install_headless_shell() -> None:
    """Install the headless shell beside the whole browser, which the tests use if that fails."""
    try:
        _install([BROWSERS[0]])
    except ServiceMissing as failure:
        print(f"{failure}\nThe tests of pages use {find(BROWSERS[1])}.", file=sys.stderr)


def _install(packages: Sequence[str]) -> None:
    line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    if os.geteuid() != 0:
        raise ServiceMissing(f"The tests need programs that are missing. As root: {line}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}"]  # another installer may run
    fetch(["apt-get", "update", "-qq", *wait], environment)
    shell, whole = BROWSERS
    if shell in packages and not _is_known_to_apt(shell):
        line = line.replace(shell, whole)
    fetch([*line.split(), "-qq", *wait], environment)


def _is_known_to_apt(package: str) -> bool:
    command = ["apt-cache", "show", package]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def fetch(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> None:
    """Run a command that loads from the network, with retries; print nothing on success."""
    said = ""
    for attempt in range(1, FETCHES + 1):
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
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
    """Yield the URL of an empty PostgreSQL that is not durable, for speed."""
    folder = Path(tempfile.mkdtemp(prefix="flamewatch-services-"))
    folder.chmod(0o755)
    try:
        with postgresql(folder, durable=False) as database:
            yield database
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgresql(folder: Path, *, durable: bool = True, port: int | None = None) -> Iterator[str]:
    """Yield the URL of a server with its data in the folder, created if it is new."""
    data, port = folder / "postgresql", port or free_port()
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
    server = begin_server(
        [find("postgres"), "-D", data, "-p", str(port), *options],
        stderr=log,
        **quiet,
    )
    try:
        wait_for_port(port, server)
        yield f"postgres://flamewatch@127.0.0.1:{port}/postgres"
    finally:
        stop_server(server, signal.SIGINT)
        log.close()


def _unprivileged(folder: Path) -> str | None:
    """Return the user to run PostgreSQL as, which rejects root, after giving it the folder."""
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
    server = begin_server(
        [find("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port, server)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        stop_server(server, signal.SIGTERM)


@contextlib.contextmanager
def s3(folder: Path, port: int | None = None) -> Iterator[S3]:
    """Start an S3 server that checks signatures, with one bucket, created if it is new."""
    port = port or free_port()
    buckets, attributes = folder / "buckets", folder / "attributes"
    (buckets / "flamewatch").mkdir(parents=True, exist_ok=True)
    attributes.mkdir(exist_ok=True)
    made = S3(f"s3://flamewatch?endpoint=http://127.0.0.1:{port}")
    owner = {"ROOT_ACCESS_KEY": made.key, "ROOT_SECRET_KEY": made.secret}
    server = begin_server(
        # The sidecar stores attributes, which not every file system supports.
        [
            *(s3_server(), "--quiet", "--port", f"127.0.0.1:{port}"),
            *("posix", "--sidecar", str(attributes), str(buckets)),
        ],
        env=os.environ | owner,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port, server)
        yield made
    finally:
        stop_server(server, signal.SIGTERM)


def wait_for_port(port: int, server: subprocess.Popen[bytes], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServiceMissing(f"{server.args!r} ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise ServiceMissing(f"{server.args!r} did not listen on port {port} within {seconds} s")


def begin_server(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[bytes]:
    """Start a server that ends with this process, even if this process is killed."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], **options)


def stop_server(server: subprocess.Popen[bytes], how: signal.Signals) -> None:
    server.send_signal(how)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    try:
        install_missing(PACKAGES | NIGHTLY_PACKAGES if "--nightly" in sys.argv else PACKAGES)
    except ServiceMissing as missing:
        sys.exit(str(missing))
