"""Attacks by connections that wait: announced bodies, half heads, and parked handshakes."""

import contextlib
import json
import re
import select
import socket
import time
import uuid
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from common.request_body import WINDOW_SECONDS
from profiler_site.process.http_protocol import HEAD_SECONDS
from tests.attacks.server import Site

ANNOUNCED = 22_369_621  # the limit of an upload's body, in bytes
LATER = 10.0  # seconds of tolerance for a loaded machine
SEND_SECONDS = 30.0
OPEN_SECONDS = 4.0  # of the connections, parked or with a response
BURSTS_SECONDS = 6.0
BURST_PAUSE_SECONDS = 0.3
PARKED_SECONDS = 30.0  # until all that are not parked have a response
_STATUS = re.compile(rb"HTTP/1.1 (\d+)")


@dataclass(slots=True)
class AnnouncedUploads:
    """Uploads that announce the largest body, and send only `sent` bytes of it."""

    count: int
    sent: int
    status: bytes  # of at least one response
    others: tuple[bytes, ...]  # statuses that the other responses may have
    text: bytes  # in at least one response
    said: list[bytes] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, site: Site) -> None:
        path = f"{site.attacker.profiles}:createOffline"
        opened = [announce(site, path) for _ in range(self.count)]
        for each in opened:
            each.settimeout(SEND_SECONDS)
            with contextlib.suppress(OSError):
                each.sendall(b"x" * self.sent)
        began = time.monotonic()
        self.said = [receive_response(each, WINDOW_SECONDS + LATER) for each in opened]
        self.seconds = time.monotonic() - began
        for each in opened:
            each.close()

    def unexpected(self) -> list[str]:
        found = [repr(text[:200]) for text in self.said if _status(text) not in self._statuses()]
        if not any(_status(text) == self.status and self.text in text for text in self.said):
            found.append(f"no response {self.status!r} with {self.text!r}")
        if self.seconds > WINDOW_SECONDS + LATER:
            found.append(f"the responses took {self.seconds:.1f} s")
        return found

    def _statuses(self) -> tuple[bytes, ...]:
        return self.status, *self.others


@dataclass(slots=True)
class HalfHeads:
    """Requests whose head has no end."""

    count: int
    answered: int = 0
    seconds: float = 0.0

    def __call__(self, site: Site) -> None:
        half = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(self.count)]
        for each in half:
            each.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ")
        began = time.monotonic()
        self.answered = sum(receive_response(each, HEAD_SECONDS + LATER) != b"" for each in half)
        self.seconds = time.monotonic() - began
        for each in half:
            each.close()

    def unexpected(self) -> list[str]:
        if self.answered or self.seconds > HEAD_SECONDS + LATER:
            return [f"{self.answered} responses, after {self.seconds:.1f} s"]
        return []


@dataclass(slots=True)
class ParkedHandshakes:
    """More handshakes of one deployment than may be parked."""

    count: int
    parked: int  # that may have no response
    statuses: list[bytes] = field(default_factory=list)

    def __call__(self, site: Site) -> None:
        body = json.dumps({"profileType": ["CPU"], "deployment": {"target": "attacker"}}).encode()
        opened = []
        for number in range(self.count):
            agent = {"X-Flamewatch-Agent": str(uuid.UUID(int=number))}
            connection = announce(site, site.attacker.profiles, len(body), agent)
            connection.sendall(body)
            opened.append(connection)
        answered = _wait_for_responses(opened, self.count - self.parked)
        time.sleep(OPEN_SECONDS)  # the neighbour is served beside parked agents, not one burst
        self.statuses = [_status(each.recv(2**16)) if each in answered else b"" for each in opened]
        for each in opened:
            each.close()

    def unexpected(self) -> list[str]:
        without = self.statuses.count(b"")
        others = {*self.statuses} - {b"", b"200", b"409", b"429"}
        found = [f"statuses {others}"] if others else []
        return [*found, f"{without} parked"] if without > self.parked else found


@dataclass(slots=True)
class HandshakeBursts:
    """Handshakes of known agents on all connections at once, again when they have a response."""

    count: int  # connections
    parked: int  # handshakes that may be parked
    statuses: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, site: Site) -> None:
        body = json.dumps({"profileType": ["CPU"], "deployment": {"target": "attacker"}}).encode()
        agent = {"X-Flamewatch-Agent": str(uuid.UUID(int=1))}
        message = _head(site, site.attacker.profiles, len(body), agent) + body
        opened = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(self.count)]
        idle, until = {*opened}, time.monotonic() + BURSTS_SECONDS
        while time.monotonic() < until:
            for each in idle:
                each.sendall(message)
            idle = _wait_for_responses(opened, self.count - self.parked)
            self.statuses.update(_status(receive_response(each, SEND_SECONDS)) for each in idle)
            time.sleep(BURST_PAUSE_SECONDS)
        for each in opened:
            each.close()

    def unexpected(self) -> list[str]:
        others = {*self.statuses} - {b"200", b"409"}
        found = [f"statuses {others}"] if others else []
        few = self.statuses.total() < 2 * self.count
        return [*found, f"{self.statuses.total()} responses"] if few else found


def _wait_for_responses(opened: Collection[socket.socket], count: int) -> set[socket.socket]:
    """Return the connections with a response: `count` of them, or fewer after PARKED_SECONDS."""
    pending, end = {*opened}, time.monotonic() + PARKED_SECONDS
    while len(opened) - len(pending) < count and time.monotonic() < end:
        pending.difference_update(select.select([*pending], [], [], 1.0)[0])
    return {*opened} - pending


def announce(
    site: Site, path: str, length: int = ANNOUNCED, headers: dict[str, str] | None = None
) -> socket.socket:
    """Open a connection and send the head of a request with a body of `length` bytes."""
    connection = socket.create_connection(("127.0.0.1", site.port))
    connection.sendall(_head(site, path, length, headers or {}))
    return connection


def _head(site: Site, path: str, length: int, headers: dict[str, str]) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}"]
    fields = site.attacker.headers | headers
    head += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*head, "", ""]).encode()


def receive_response(connection: socket.socket, seconds: float) -> bytes:
    """Return what the server sends before it closes the connection or `seconds` have passed."""
    connection.settimeout(seconds)
    text = b""
    with contextlib.suppress(TimeoutError, ConnectionError):
        while piece := connection.recv(2**16):
            text += piece
            if b"\r\n\r\n" in text and text.endswith(b"}"):
                break
    return text


def _status(text: bytes) -> bytes:
    match = _STATUS.match(text)
    return match[1] if match else b""
