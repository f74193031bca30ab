"""Measure memory and threads of 5,000 parked agents, and how fast a shutdown releases them.

Run `python -m benchmarks parked_agents`. Agents connect to the real server over loopback sockets;
SIGINT releases them.
"""

import asyncio
import signal
import sys
import time
from collections import Counter
from urllib.parse import urlsplit

import uvloop

from benchmarks.ingest.uploads import handshake
from benchmarks.tools.load import resident_bytes, response, threads
from benchmarks.tools.prepared import prepare
from benchmarks.tools.table import Figure, show
from profiler_site.process.file_limit import raise_file_limit
from tests.server import RunningServer, running_server

AGENTS, AT_ONCE = 5000, 50
LONG = {"FLAMEWATCH_POLL_TIMEOUT_SECONDS": "3600", "FLAMEWATCH_PLAN_PERIOD_SECONDS": "3600"}


class Agents:
    def __init__(self, server: RunningServer, hellos: list[bytes]) -> None:
        self._port = urlsplit(server.url).port or 0
        self._hellos = hellos
        self._readers: list[asyncio.StreamReader] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def arrive(self) -> None:
        """Connect and send all handshakes, several at once, without waiting for responses."""
        left = iter(self._hellos)

        async def some() -> None:
            for hello in left:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.write(hello)
                await writer.drain()
                self._readers.append(reader)
                self._writers.append(writer)

        await asyncio.gather(*(some() for _ in range(AT_ONCE)))

    async def statuses(self) -> Counter[int]:
        found = await asyncio.gather(*(response(reader) for reader in self._readers))
        return Counter(status for status, _ in found)


async def measure(server: RunningServer, agents: Agents) -> list[Figure]:
    pid = server.process.pid
    before = resident_bytes(pid)
    started = time.perf_counter()
    await agents.arrive()
    await _fix_sides(pid)
    arrived = time.perf_counter() - started
    each = (resident_bytes(pid) - before) / AGENTS
    taken = threads(pid)
    started = time.perf_counter()
    server.process.send_signal(signal.SIGINT)
    statuses = await agents.statuses()
    released = time.perf_counter() - started
    if statuses != {409: AGENTS}:
        raise RuntimeError(f"The responses were {dict(statuses)}, not 409.")
    return [
        Figure(f"{AGENTS:,} agents arrive", arrived, "s"),
        Figure("memory of a parked agent", each / 1000, "kB", 60),
        Figure("threads of the process", taken, "", 30),
        Figure("all are released", released, "s", 3),
    ]


async def _fix_sides(pid: int) -> None:
    """Wait until memory stops growing, which means that the server has read all requests."""
    last = -1
    while last != (last := resident_bytes(pid)):  # noqa: ASYNC110  there is no event
        await asyncio.sleep(2)


def main() -> int:
    raise_file_limit()
    with running_server(**LONG) as server:
        project = server.add_project()
        key = server.add_key(project)
        agents = prepare(server, project, agents=AGENTS).agents
        hellos = [handshake(project, key, service, agent) for service, agent in agents]
        figures = uvloop.run(measure(server, Agents(server, hellos)))
        started = time.perf_counter()
        server.process.wait(60)
        figures.append(Figure("and the server ends", time.perf_counter() - started, "s", 2))
    return 0 if show("Parked agents", figures) else 1


if __name__ == "__main__":
    sys.exit(main())
