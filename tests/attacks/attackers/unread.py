"""Attack by clients that request large results and do not read them."""

import contextlib
import re
import select
import socket
import time
from dataclasses import dataclass

from profiler_site.process.unsent_responses import TENANT_BYTES
from tests.attacks.pages import store
from tests.attacks.server import Site

ANSWERED_SECONDS = 120.0  # until all requests have a response
OPEN_SECONDS = 4.0
LARGE_BYTES = 5 * 2**20  # beyond what the kernel buffers
PROFILES = 3  # large ones, whose stacks take some MB each as text
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(slots=True)
class UnreadResponses:
    """Queries for all stacks of large profiles, one on each of `count` connections."""

    count: int
    size: int = 0  # bytes of the largest response
    complete: int = 0  # responses that can still be read as a whole

    def __call__(self, site: Site) -> None:
        store(site, site.attacker, PROFILES)
        opened = [_query(site, number) for number in range(self.count)]
        pending, end = {*opened}, time.monotonic() + ANSWERED_SECONDS
        while pending and time.monotonic() < end:
            pending.difference_update(select.select([*pending], [], [], 1.0)[0])
        time.sleep(OPEN_SECONDS)  # the neighbour is served beside the unread responses
        for each in opened:
            size, received = _read(each)
            self.size = max(self.size, size)
            self.complete += LARGE_BYTES < size <= received  # shorter ones are errors: 504

    def unexpected(self) -> list[str]:
        # The kernel's buffers hold a part of each response, up to LARGE_BYTES, beside the budget.
        allowed = TENANT_BYTES // max(1, self.size - LARGE_BYTES) + 1
        if not 0 < self.complete <= allowed:
            return [f"{self.complete} responses were kept; at most {allowed} are allowed"]
        return []

    def __str__(self) -> str:
        return f"{self.complete} of {self.count} responses of {self.size:,} bytes are complete"


def _query(site: Site, number: int) -> socket.socket:
    """Send a query whose result no other query shares, and return its connection."""
    tenant, result = site.attacker, f"span=2h&format=folded&weights={number}..{10**15}"
    path = f"/api/v1/projects/{tenant.project}/tree?service=shop&type=CPU&{result}"
    head = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {tenant.read_key}"]
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    connection.connect(("127.0.0.1", site.port))
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    return connection


def _read(connection: socket.socket) -> tuple[int, int]:
    """Return the announced size of the response, and the received bytes up to its end."""
    connection.settimeout(10.0)
    received, size = bytearray(), 0
    with connection, contextlib.suppress(ConnectionError, TimeoutError):
        while not size or len(received) < size:
            piece = connection.recv(2**20)
            if not piece:
                break
            received += piece
            match = _LENGTH.search(received[:4096])
            size = int(match[1]) if match else 0
    return size, len(received)
