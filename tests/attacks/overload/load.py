"""Process that overloads a server: `python -m tests.attacks.overload.load`.

It reads an OfferedLoad as JSON from stdin, and prints a LoadResult.
"""

import asyncio
import base64
import json
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import uvloop

from tests.attacks.neighbour import sample_at

# The lowest priority: the clients of a real overload are on other machines. Their CPU time here
# must not delay the server, nor the requests of the quiet project, which another process measures.
_NICENESS = 19
_TICK_SECONDS = 0.02
_PERIOD_NS = 17_000  # between the times of two profiles, which make them distinct


@dataclass(frozen=True, slots=True)
class OfferedLoad:
    url: str
    seconds: float
    profiles: str = ""  # path of uploads
    headers: dict[str, str] = field(default_factory=dict)  # of uploads
    uploads_per_second: float = 0.0  # 0: each connection sends when it has a response
    connections: int = 0  # that upload, at most
    file: str = ""  # pprof to upload; "": a small profile
    first: int = 0  # number of the first upload, which decides on its time
    page: str = ""  # path of a page's query, with a parameter for the number of the request
    cookies: dict[str, str] = field(default_factory=dict)  # of pages
    queries: int = 0  # at a time


@dataclass(slots=True)
class LoadResult:
    offered: int = 0  # uploads that were due
    uploads: Counter[int] = field(default_factory=Counter)  # by status; 0: no response
    queries: Counter[int] = field(default_factory=Counter)


class _Generator:
    def __init__(self, load: OfferedLoad) -> None:
        self._load, self._result = load, LoadResult()
        self._body = base64.b64encode(Path(load.file).read_bytes()).decode() if load.file else ""
        self._now = time.time_ns()
        self._end = time.monotonic() + load.seconds

    async def run(self) -> LoadResult:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        load = self._load
        async with httpx.AsyncClient(
            base_url=load.url, timeout=120, limits=limits, cookies=load.cookies
        ) as client:
            visitors = [self._visit(client, number) for number in range(load.queries)]
            await asyncio.gather(self._upload_all(client), *visitors)
        return self._result

    async def _upload_all(self, client: httpx.AsyncClient) -> None:
        """Send uploads at their rate, as long as there are free connections."""
        began, pending = time.monotonic(), set[asyncio.Task[None]]()
        while (now := time.monotonic()) < self._end and self._load.connections:
            free = self._load.connections - len(pending)
            rate = self._load.uploads_per_second
            due = round((now - began) * rate) - self._result.offered if rate else free
            for number in range(due):
                if number < free:
                    pending.add(asyncio.create_task(self._upload(client, self._result.offered)))
                self._result.offered += 1
            await asyncio.sleep(_TICK_SECONDS)
            pending = {task for task in pending if not task.done()}
        await asyncio.gather(*pending)

    async def _upload(self, client: httpx.AsyncClient, number: int) -> None:
        at = self._now - _PERIOD_NS * (self._load.first + number)
        message = {
            "profileType": "WALL",
            "deployment": {"target": "shop"},
            "duration": "10s",
            "profileBytes": self._body or sample_at(at),
        }
        if self._body:
            time_of_profile = datetime.fromtimestamp(at / 1e9, UTC)
            message |= {"profileType": "CPU", "startTime": time_of_profile.isoformat()}
        path, headers = f"{self._load.profiles}:createOffline", self._load.headers
        try:
            response = await client.post(path, content=json.dumps(message), headers=headers)
        except httpx.TransportError:
            self._result.uploads[0] += 1
        else:
            self._result.uploads[response.status_code] += 1

    async def _visit(self, client: httpx.AsyncClient, visitor: int) -> None:
        number = visitor
        while time.monotonic() < self._end:
            number += self._load.queries
            try:
                response = await client.get(self._load.page.format(number=number))
            except httpx.TransportError:
                self._result.queries[0] += 1
            else:
                self._result.queries[response.status_code] += 1
                if response.status_code != 200:
                    await asyncio.sleep(_TICK_SECONDS)


def main() -> None:
    os.nice(_NICENESS)
    load = OfferedLoad(**json.load(sys.stdin))
    result = uvloop.run(_Generator(load).run())
    print(json.dumps({name: getattr(result, name) for name in ("offered", "uploads", "queries")}))


if __name__ == "__main__":
    main()
