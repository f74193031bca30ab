"""Profiles of the shop whose samples have the label `endpoint`."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from projects.models import Deployment
from projects.profile_types import ProfileType
from tests.profiles.pprofs import PprofBuilder
from tests.profiles.rows import new_profile

Frame = tuple[str, str]
EndpointStacks = Mapping[tuple[str, tuple[Frame, ...]], int]  # {(endpoint, stack): microseconds}

MAIN, PAY, LIST = ("main", "main.py"), ("shop.pay", "pay.py"), ("shop.list", "list.py")
RULE = ("shop.Rule.matches", "rules.py")


def stacks(pay: int = 300, listing: int = 200, idle: int = 100) -> EndpointStacks:
    """Return stacks with so many milliseconds in /pay, /list and without an endpoint."""
    return {
        ("/pay", (MAIN, PAY, RULE)): pay * 1000,
        ("/list", (MAIN, LIST)): listing * 1000,
        ("", (MAIN,)): idle * 1000,
    }


def send(
    of: Deployment,
    times: Sequence[datetime],
    of_endpoints: EndpointStacks,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Store one CPU profile of 10 s with these stacks for each of these times."""
    raw = _pprof(of_endpoints)
    decoded = decode_profile(raw, ProfileType.CPU, DecodeLimits())
    rows = [
        new_profile(
            decoded,
            raw,
            of,
            type=ProfileType.CPU,
            time=time,
            labels=dict(labels or {}),
            name_id=f"{of.pk}-{time.isoformat()}-{(labels or {}).get('instance', '')}",
        )
        for time in times
    ]
    assert all(insert(rows))


def _pprof(of_endpoints: EndpointStacks) -> bytes:
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("microseconds"))
    for (endpoint, stack), value in of_endpoints.items():
        frames = [builder.frame(name, file) for name, file in reversed(stack)]
        sample = builder.message.sample.add(location_id=frames, value=[value])
        if endpoint:
            sample.label.add(key=builder.string("endpoint"), str=builder.string(endpoint))
    builder.message.duration_nanos = 10 * 10**9
    return bytes(builder.message.SerializeToString())
