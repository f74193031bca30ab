"""Bodies that are small on the wire and become millions of objects when parsed."""

import gzip
from collections.abc import Sequence

import pytest

from tests.attacks.bounds import Bounds, Repeated, Request, measure
from tests.attacks.hostile_profiles import MIB
from tests.attacks.server import Site

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

OBJECTS = b'{"profileType":"CPU","labels":[' + b"{}," * (7 * MIB) + b"{}]}"
BODIES = {
    "millions of objects": gzip.compress(OBJECTS, 9),
    "objects behind a profile": gzip.compress(
        b'{"profileBytes":"AAAA","labels":[' + b"{}," * (7 * MIB) + b"{}]}", 9
    ),
    "a deep array": gzip.compress(b'{"labels":' + b"[" * (16 * MIB), 9),
    "a profile of 16 MiB of base64": gzip.compress(
        b'{"profileBytes":"' + b"A" * (16 * MIB) + b'"}', 9
    ),
}
PLAIN = b'{"profileType":"CPU","labels":[' + b"{}," * (2 * MIB) + b"{}]}"


def requests(site: Site, body: bytes, headers: dict[str, str]) -> Sequence[Request]:
    """Return requests with the body for each endpoint that reads one."""
    profiles = site.attacker.profiles
    capture = f"/api/v1/projects/{site.attacker.project}/capture"
    return [
        Request("POST", f"{profiles}:createOffline", body, headers),
        Request("POST", profiles, body, headers),
        Request("POST", capture, body, headers),
        Request("POST", f"{profiles}:createOffline", body, headers),
    ]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if "behind" in name else ()) for name in BODIES],
)
def test_compressed_bodies_are_not_unpacked_or_parsed_beyond_bounds(site: Site, name: str) -> None:
    body = BODIES[name]
    headers = {"Content-Encoding": "gzip"}
    attack = Repeated(lambda site: requests(site, body, headers), connections=6)
    result = measure(site, attack)
    print(result, dict(attack.statuses), *sorted(attack.messages)[:3])
    result.check(Bounds(memory=128 * MIB))
    assert set(attack.statuses) <= {400, 413}


def test_a_body_of_many_objects_is_rejected_before_it_is_parsed(site: Site) -> None:
    attack = Repeated(lambda site: requests(site, PLAIN, {}), connections=2)
    result = measure(site, attack)
    print(result, dict(attack.statuses), *sorted(attack.messages)[:3])
    result.check(Bounds(memory=128 * MIB))
    assert set(attack.statuses) <= {400, 413}
