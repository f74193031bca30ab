"""Repeated values that a database rejects, which must fail only their own request."""

import base64
import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.attacks.bounds import Bounds, Repeated, Request, measure
from tests.attacks.hostile_profiles import MIB, assembled
from tests.attacks.server import Site, attacked_site
from tests.ingest.pprof import SIMPLE
from tests.services import postgresql

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def site_on_postgresql() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="flamewatch-attack-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs under its own user
        with postgresql(Path(folder)) as url, attacked_site(DATABASE_URL=url) as running:
            yield running


def bad_rows(site: Site) -> Sequence[Request]:
    """Return requests with a NUL or a lone surrogate in every text that goes into a column."""
    path = f"{site.attacker.profiles}:createOffline"
    named = [
        gzip.compress(assembled([b"cpu\0"], sample_types=types)) for types in ([(3, 2)], [(1, 3)])
    ]
    good = {"profileType": "CPU", "deployment": {"target": "attacker"}, "duration": "10s"}
    simple = base64.b64encode(SIMPLE).decode()
    messages = [
        *(good | {"profileBytes": base64.b64encode(body).decode()} for body in named),
        good | {"profileBytes": simple, "labels": {"instance": "a\0"}},
        good | {"profileBytes": simple, "labels": {"instance": "\ud800"}},
        good | {"profileBytes": simple, "deployment": {"target": "shop\0"}},
        good | {"profileBytes": simple, "deployment": {"target": "s", "labels": {"zone": "\0"}}},
    ]
    capture = {"service": "shop\0", "type": "CPU"}
    profiles = f"{site.attacker.profiles}?service=%00"
    return [
        *(Request("POST", path, json.dumps(message).encode()) for message in messages),
        Request(
            "POST",
            f"/api/v1/projects/{site.attacker.project}/capture",
            json.dumps(capture).encode(),
        ),
        Request("GET", profiles),
    ]


def test_values_that_the_database_rejects_fail_alone(site_on_postgresql: Site) -> None:
    attack = Repeated(bad_rows, connections=8)
    result = measure(site_on_postgresql, attack)
    print(result, dict(attack.statuses), *sorted(attack.messages)[:3])
    result.check(Bounds(memory=64 * MIB))
    assert set(attack.statuses) <= {400, 403}  # 403: a key with write scope may not list
