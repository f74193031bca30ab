"""Requests of attacks: hostile bodies, values, credentials and queries."""

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from projects.credentials import keys
from tests.attacks.attackers.hostile_profiles import MIB, assembled, packed
from tests.attacks.bounds import Request
from tests.attacks.server import Site
from tests.ingest.pprof import SIMPLE

Requests = Callable[[Site], Sequence[Request]]
_OFFLINE = {"profileType": "CPU", "deployment": {"target": "attacker"}, "duration": "10s"}
OBJECTS = b'{"profileType":"CPU","labels":[' + b"{}," * (7 * MIB) + b"{}]}"
PLAIN_OBJECTS = b'{"profileType":"CPU","labels":[' + b"{}," * (2 * MIB) + b"{}]}"
GZIP = {"Content-Encoding": "gzip"}


def offline(profile: Callable[[], bytes]) -> Requests:
    """Return one createOffline request with the profile as gzip."""

    def requests(site: Site) -> Sequence[Request]:
        return [_offline(site, packed(profile()))]

    return requests


def to_each_endpoint(body: Callable[[], bytes], headers: dict[str, str]) -> Requests:
    """Return requests with the body for each endpoint that reads one."""

    def requests(site: Site) -> Sequence[Request]:
        profiles, made = site.attacker.profiles, body()
        capture = f"/api/v1/projects/{site.attacker.project}/capture"
        paths = (f"{profiles}:createOffline", profiles, capture, f"{profiles}:createOffline")
        return [Request("POST", path, made, headers) for path in paths]

    return requests


def bad_rows(site: Site) -> Sequence[Request]:
    """Return requests with a NUL or a lone surrogate in every text that goes into a column."""
    named = [
        gzip.compress(assembled([b"cpu\0"], sample_types=types)) for types in ([(3, 2)], [(1, 3)])
    ]
    texts: list[dict[str, object]] = [
        {"labels": {"instance": "a\0"}},
        {"labels": {"instance": "\ud800"}},
        {"deployment": {"target": "shop\0"}},
        {"deployment": {"target": "s", "labels": {"zone": "\0"}}},
    ]
    capture = json.dumps({"service": "shop\0", "type": "CPU"}).encode()
    return [
        *(_offline(site, body) for body in named),
        *(_offline(site, SIMPLE, **text) for text in texts),
        Request("POST", f"/api/v1/projects/{site.attacker.project}/capture", capture),
        Request("GET", f"{site.attacker.profiles}?service=%00"),
    ]


def extreme_times(site: Site) -> Sequence[Request]:
    """Return requests with times at the ends of what can be written, and deeply nested values."""
    nested = b'{"profileBytes":"AAAA","profileType":%s}' % (b"[" * 1000 + b"]" * 1000)
    return [
        _offline(site, SIMPLE, startTime="0001-01-01T00:00:00+23:59"),
        Request("POST", f"{site.attacker.profiles}:createOffline", nested),
        Request("POST", site.attacker.profiles, nested),
    ]


def new_deployments(site: Site) -> Sequence[Request]:
    """Return more uploads of distinct deployments than the quota of a day allows."""
    return [
        _offline(site, SIMPLE, deployment={"target": f"attacker-{number}"}) for number in range(400)
    ]


def new_label_names(site: Site) -> Sequence[Request]:
    """Return uploads that are no profiles, with as many labels as fit, all of other names."""
    found = []
    for number in range(2000):
        labels = {f"{number:x}-{i:x}": "" for i in range(120)}
        found.append(_offline(site, b"no profile", labels=labels))
    return found


def new_label_values(site: Site) -> Sequence[Request]:
    """Return profiles with a distinct value of a label, more than it may have in a day."""
    return [_offline(site, SIMPLE, labels={"request": f"{number}"}) for number in range(1000)]


def guessed_keys(site: Site) -> Sequence[Request]:
    """Return handshakes with well-formed keys that nobody has."""
    return [
        Request(
            "POST",
            site.attacker.profiles,
            b"{}",
            {"Authorization": f"Bearer {keys.make(f'{number:010d}', 'a' * 32)}"},
        )
        for number in range(5000)
    ]


def hostile_filters(site: Site) -> Sequence[Request]:
    """Return queries with expressions that take exponential time or memory in other engines."""
    expressions = ("(a+)+$", "(a|a)*b", "((((a{30}){30}){30}){30})", "(.*)*" * 50, "a" * 490)
    filters = [f"{option}:/{each}/" for option in ("show", "hide") for each in expressions]
    return [_offline(site, SIMPLE), *(_query(site, f=each) for each in filters)]


def many_queries(site: Site) -> Sequence[Request]:
    """Return distinct queries, many more than a key may send in a minute."""
    return [_query(site, weights=f"{number}..{10**15}") for number in range(5000)]


def oversized(site: Site) -> Sequence[Request]:
    """Return uploads of 32 MiB, beyond the limit of a body."""
    return [Request("POST", f"{site.attacker.profiles}:createOffline", bytes(32 * MIB))]


def _offline(site: Site, profile: bytes, **fields: object) -> Request:
    body = _OFFLINE | {"profileBytes": base64.b64encode(profile).decode()} | fields
    return Request("POST", f"{site.attacker.profiles}:createOffline", json.dumps(body).encode())


def _query(site: Site, **parameters: str) -> Request:
    query = urlencode({"service": "attacker", "type": "CPU", **parameters})
    return Request(
        "GET",
        f"/api/v1/projects/{site.attacker.project}/tree?{query}",
        headers={"Authorization": f"Bearer {site.attacker.read_key}"},
    )
