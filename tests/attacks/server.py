"""Server with two tenants: an attacker, and a neighbour who must not be affected."""

import contextlib
import resource
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.server import RunningServer, running_server

WATCH_SECONDS = 0.05
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Uploader:
    project: str
    key: str  # write scope
    read_key: str = ""

    @property
    def profiles(self) -> str:
        return f"/v2/projects/{self.project}/profiles"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Site:
    """Running server with limited address space, and its two tenants."""

    server: RunningServer
    attacker: Uploader
    neighbour: Uploader

    @property
    def port(self) -> int:
        return urlsplit(self.server.url).port or 0

    @property
    def pid(self) -> int:
        return self.server.process.pid

    def status(self, field: str) -> int:
        """Return a number of the process's /proc status: `Threads`, or kB such as `VmRSS`."""
        lines = (_PROC / str(self.pid) / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))

    def limit_address_space(self, more: int) -> None:
        """Let the process map at most `more` bytes beyond its present size."""
        allowed = self.status("VmSize") * 1024 + more
        resource.prlimit(self.pid, resource.RLIMIT_AS, (allowed, allowed))


@dataclass(slots=True)
class PeakUsage:
    """Peaks of the server while watched, minus the values at the start."""

    memory: int = 0  # resident bytes
    threads: int = 0


@contextlib.contextmanager
def attacked_site(address_space: int = 6 * 2**30, **environment: str) -> Iterator[Site]:
    """Start a server with an empty database.

    `address_space` (bytes) only protects this machine: the tests bound the resident memory.
    """
    with running_server(**environment) as server:
        tenants = [_tenant(server, name) for name in ("attacker", "neighbour")]
        site = Site(server, *tenants)
        site.limit_address_space(address_space)
        yield site


def _tenant(server: RunningServer, name: str) -> Uploader:
    added = server.add_tenant(name.capitalize(), f"{name}@example.org")
    return Uploader(added.project, added.write, added.read)


@contextlib.contextmanager
def watched(site: Site) -> Iterator[PeakUsage]:
    """Measure the peaks of memory and threads inside the block; `Usage` is filled at its end."""
    (_PROC / str(site.pid) / "clear_refs").write_text("5")  # resets the peak VmHWM to VmRSS
    usage, ended = PeakUsage(), threading.Event()
    memory, threads = site.status("VmRSS"), site.status("Threads")

    def watch() -> None:
        while not ended.wait(WATCH_SECONDS):
            usage.threads = max(usage.threads, site.status("Threads") - threads)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield usage
    finally:
        ended.set()
        watching.join()
        usage.memory = (site.status("VmHWM") - memory) * 1024
