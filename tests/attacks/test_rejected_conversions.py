"""Memory that rejected files leave behind, in the server and in its worker processes together."""

import http.client
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.attacks.attackers import foreign_files as files
from tests.attacks.bounds import Request
from tests.attacks.server import Site, attacked_site
from tests.processes import private_bytes
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]
MAX_GROWTH_BYTES = 20 * 10**6
WARM_UP = 10  # requests, in which threads and connections of the database are made
SECONDS = 60.0
STEADY_READINGS, STEADY_BYTES = 12, 10**6  # `until` reads every 0.25 s: three seconds


@pytest.fixture(scope="module")
def strict_site() -> Iterator[Site]:
    """Yield a server whose limits large files exceed soon."""
    with attacked_site(
        FLAMEWATCH_CONVERSION_CPU_SECONDS="1",
        FLAMEWATCH_CONVERSION_MEMORY_BYTES=str(128 * 2**20),
    ) as running:
        yield running


def send(site: Site, requests: Sequence[Request], count: int) -> Counter[int]:
    """Send the requests again and again; return the number of responses by status."""
    statuses: Counter[int] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=SECONDS)
    for number in range(count):
        request = requests[number % len(requests)]
        headers = site.attacker.headers | request.headers
        connection.request(request.method, request.path, request.body, headers)
        response = connection.getresponse()
        response.read()
        statuses[response.status] += 1
    connection.close()
    return statuses


def settled_bytes(site: Site) -> int:
    """Return the memory once it is steady: a worker that takes another one's place has started."""
    readings: deque[int] = deque(maxlen=STEADY_READINGS)

    def is_steady() -> bool:
        readings.append(private_bytes(site.pid))
        is_full = len(readings) == STEADY_READINGS
        return is_full and max(readings) - min(readings) < STEADY_BYTES

    until(is_steady, SECONDS, "steady memory")
    return readings[-1]


@pytest.mark.parametrize(
    ("requests", "status", "count"),
    [
        # Large files take up to a second each, and 3 MB or more: 20 that stay in memory are three
        # times the bound.
        pytest.param(files.imports(files.nested_types), 400, 60, id="nested types"),
        pytest.param(files.imports(files.millions_of_nodes), 413, 20, id="millions of nodes"),
        pytest.param(files.imports(lambda: b'{"nodes":[1]}'), 400, 200, id="another JSON"),
        pytest.param(files.ingested(lambda: b"\x05", "trie"), 400, 200, id="truncated trie"),
        pytest.param(files.otlp_json, 413, 20, id="OTLP in JSON"),
        # Each ends a worker, and has 8.7 MB or takes a second.
        pytest.param(files.imports(files.wide_heap), 413, 12, id="limit of memory"),
        pytest.param(files.imports(files.deep_samples), 413, 10, id="limit of CPU time"),
    ],
)
def test_rejected_files_leave_no_memory_behind(
    requests: Callable[[Site], Sequence[Request]], status: int, count: int, strict_site: Site
) -> None:
    site = strict_site
    sent = requests(site)
    assert set(send(site, sent, WARM_UP)) == {status}
    before = settled_bytes(site)
    assert send(site, sent, count) == {status: count}
    print(f"{private_bytes(site.pid) - before:+,} bytes after {count} rejections")
    # A worker that was replaced by another one is still ending, or the new one starting.
    until(
        lambda: private_bytes(site.pid) <= before + MAX_GROWTH_BYTES,
        SECONDS,
        "the memory that was used before the rejections",
    )
