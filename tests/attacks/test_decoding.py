"""Uploads that are small on the wire but could be large or slow to decode."""

import base64
import json
from collections.abc import Callable, Sequence

import pytest

from tests.attacks import hostile_profiles as hostile
from tests.attacks.bounds import Bounds, Repeated, Request, measure
from tests.attacks.hostile_profiles import MIB, packed
from tests.attacks.server import Site

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

# Covers the raw bytes of several uploads at once, and the memory limit of one decode.
MEMORY = 256 * MIB


def offline(profile: bytes) -> Callable[[Site], Sequence[Request]]:
    """Return one createOffline request with the profile as gzip."""
    message = {
        "profileType": "CPU",
        "deployment": {"target": "attacker"},
        "duration": "10s",
        "profileBytes": base64.b64encode(packed(profile)).decode(),
    }
    body = json.dumps(message).encode()
    return lambda site: [Request("POST", f"{site.attacker.profiles}:createOffline", body)]


@pytest.mark.parametrize(
    ("make", "bounds"),
    [
        pytest.param(
            lambda: hostile.one_name_of_many_locations(8 * MIB, 200),
            Bounds(memory=MEMORY),
            id="a file name of 8 MiB and 200 locations",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            lambda: hostile.one_name_of_many_locations(32 * MIB, 2000),
            Bounds(memory=MEMORY),
            id="a file name of 32 MiB and 2,000 locations",
        ),
        pytest.param(
            lambda: hostile.nodes_of_inlined_lines(9000, 1000),
            Bounds(memory=MEMORY),
            id="a location of 9,000 inlined lines in 1,000 stacks",
        ),
        pytest.param(
            lambda: hostile.one_label_value_of_many_labels(4096, 100_000),
            Bounds(memory=MEMORY),
            id="a label value of 4 KiB in 100,000 labels",
        ),
        pytest.param(
            lambda: bytes(120 * MIB),
            Bounds(memory=MEMORY),
            id="120 MiB of zeros",
        ),
    ],
)
def test_an_upload_takes_a_bounded_multiple_of_its_bytes(
    site: Site, make: Callable[[], bytes], bounds: Bounds
) -> None:
    attack = Repeated(offline(make()), connections=2)
    result = measure(site, attack)
    print(result, dict(attack.statuses), *sorted(attack.messages)[:3])
    result.check(bounds)
    assert 0 not in attack.statuses
