"""Attacks and their bounds on memory, threads and the neighbour's latency."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.attacks.neighbour import Experience, neighbour
from tests.attacks.server import PeakUsage, Site, watched

WARM_UP_SECONDS = 1.5
QUIET_SECONDS = 4.0
ATTACK_SECONDS = 6.0
# Of an attack that has to reach the quota of a minute, in which a new minute may begin.
LONGEST_ATTACK_SECONDS = 30.0
TIMEOUT_SECONDS = 200.0
# Attackers pause between requests, because these attacks are heavy requests, not many of them.
PAUSE_SECONDS = 0.1
# Lower latencies are noise on a machine with two cores that also runs the attack.
LEAST_P95_SECONDS = 0.050
_BEFORE: dict[str, Experience] = {}  # by the server's URL


@dataclass(frozen=True, slots=True)
class Bounds:
    memory: int  # resident bytes, increase over before the attack
    threads: int = 8  # increase over before the attack
    latency: float = 5.0  # the neighbour's p95, as a multiple of its p95 before the attack
    rejected: int = 0  # requests of the neighbour without status 200


@dataclass(slots=True)
class Result:
    before: Experience
    during: Experience
    usage: PeakUsage

    def check(self, bounds: Bounds) -> None:
        """Raise AssertionError with a message for every exceeded bound."""
        assert not self._passed(bounds), "\n".join(self._passed(bounds))

    def _passed(self, bounds: Bounds) -> list[str]:
        rejected = self.during.rejected
        found = []
        if len(rejected) > bounds.rejected:
            found = [f"The neighbour got {said}" for said in rejected]
        if self.usage.memory > bounds.memory:
            found.append(f"{self.usage.memory:,} bytes of memory; bound: {bounds.memory:,}")
        if self.usage.threads > bounds.threads:
            found.append(f"{self.usage.threads} threads more; bound: {bounds.threads}")
        for kind in self.during.seconds:
            before = max(self.before.p95(kind), LEAST_P95_SECONDS)
            ratio = self.during.p95(kind) / before
            if ratio > bounds.latency:
                found.append(f"p95 of {kind} {ratio:.1f} x {before:.3f} s; bound: {bounds.latency}")
        return found

    def __str__(self) -> str:
        lines = [f"{self.usage.memory / 2**20:.1f} MiB, {self.usage.threads} threads more"]
        for kind in self.during.seconds:
            before, during = self.before.p95(kind), self.during.p95(kind)
            lines.append(f"{kind}: p95 {before * 1e3:.1f} ms, then {during * 1e3:.1f} ms")
        return "; ".join([*lines, f"{len(self.during.rejected)} rejected"])


def measure(site: Site, attack: Callable[[Site], None]) -> Result:
    """Measure the neighbour's latency before and during an attack, which blocks until its end.

    All attacks on a server are compared with the time before the first one; those that seem slow
    by that also with the time after them, because the machine may have other work by now.
    """
    if site.server.url not in _BEFORE:
        with neighbour(site):
            time.sleep(WARM_UP_SECONDS)
        _BEFORE[site.server.url] = _quiet_range_state(site)
    before = _BEFORE[site.server.url]
    with watched(site) as usage, neighbour(site) as during:
        attack(site)
    if any(during.p95(kind) > LEAST_P95_SECONDS for kind in during.seconds):
        after = _quiet_range_state(site)
        slower = {
            kind: (after if after.p95(kind) > before.p95(kind) else before).seconds[kind]
            for kind in during.seconds
        }
        before = Experience(slower, before.rejected)
    return Result(before, during, usage)


def _quiet_range_state(site: Site) -> Experience:
    with neighbour(site) as experience:
        time.sleep(QUIET_SECONDS)
    return experience


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RepeatedRequests:
    """Attack by requests in sequence on each of the attacker's connections.

    The connections begin at different requests, at equal distances.
    `allowed` are the statuses that the server may answer; a connection that it closes has none.
    """

    requests: Callable[[Site], Sequence[Request]]
    allowed: frozenset[int]
    connections: int = 1
    pause: float = PAUSE_SECONDS
    seconds: float = ATTACK_SECONDS
    required: int = 0  # status that the server has to answer at least once; 0: none
    statuses: Counter[int] = field(default_factory=Counter)  # by status; 0: no response
    messages: set[str] = field(default_factory=set)

    def __call__(self, site: Site) -> None:
        requests = self.requests(site)
        threads = [
            threading.Thread(
                target=self._send, args=(site, requests, number * len(requests) // self.connections)
            )
            for number in range(self.connections)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def unexpected(self) -> list[str]:
        """Return the statuses that the server must not answer, with what it said."""
        found = [
            f"status {status}: {self.messages}"
            for status in sorted(set(self.statuses) - self.allowed)
        ]
        if not self.statuses:
            return ["no request was answered"]
        if self.required and not self.statuses[self.required]:
            found.append(f"no status {self.required}: {dict(self.statuses)}")
        return found

    def __str__(self) -> str:
        return f"{dict(self.statuses)} {sorted(self.messages)[:3]}"

    def _send(self, site: Site, requests: Sequence[Request], first: int) -> None:
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=TIMEOUT_SECONDS)
        number = first
        while self._continues(time.monotonic() - started):
            request = requests[number % len(requests)]
            number += 1
            try:
                status, said = _exchange(connection, site, request)
            except (OSError, http.client.HTTPException) as error:
                status, said = 0, repr(error)
                connection.close()
            self.statuses[status] += 1
            self.messages.add(said)
            time.sleep(self.pause)
        connection.close()

    def _continues(self, seconds: float) -> bool:
        is_missing = bool(self.required) and not self.statuses[self.required]
        return seconds < (LONGEST_ATTACK_SECONDS if is_missing else self.seconds)


def _exchange(
    connection: http.client.HTTPConnection, site: Site, request: Request
) -> tuple[int, str]:
    headers = site.attacker.headers | request.headers
    connection.request(request.method, request.path, request.body or None, headers)
    response = connection.getresponse()
    said = response.read().decode("utf-8", "replace")
    return response.status, said.partition('"details"')[0][:400]  # details vary
