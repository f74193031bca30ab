"""Profiles of a shop as a Python service sends them: its own code, libraries and native frames."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles.pprofs import PprofBuilder
from tests.profiles.rows import new_profile

Frame = tuple[str, str]
FrameStacks = Mapping[tuple[Frame, ...], int]

_SITE = "/usr/local/lib/python3.11/site-packages"
_STDLIB = "/usr/local/lib/python3.11"
_RUN = ("Thread.run", f"{_STDLIB}/threading.py")
_HANDLE = ("ThreadWorker.handle", f"{_SITE}/gunicorn/workers/gthread.py")
_RESPOND = ("BaseHandler.get_response", f"{_SITE}/django/core/handlers/base.py")
_VIEW = ("CheckoutView.post", "/app/shop/checkout/views.py")
_ORDER_FRAME = ("orders.place", "/app/shop/checkout/orders.py")
QUOTE = ("pricing.quote", "/app/shop/pricing/quote.py")
_APPLY = ("discounts.apply", "/app/shop/pricing/discounts.py")
_MATCHES = ("Rule.matches", "/app/shop/pricing/discounts.py")
_SEARCH = ("rank.score_all", "/app/shop/search/rank.py")
_QUERY = ("QuerySet.get", f"{_SITE}/django/db/models/query.py")
_EXECUTE = ("Cursor.execute", f"{_SITE}/psycopg/cursor.py")
_WAIT = ("psycopg_binary.wait_c+0x1f", "")
_DUMPS = ("json.dumps", f"{_STDLIB}/json/__init__.py")

_REQUEST = (_RUN, _HANDLE, _RESPOND)
_CHECKOUT = (*_REQUEST, _VIEW, _ORDER_FRAME)

STACKS: FrameStacks = {  # microseconds
    (_RUN,): 20_000,
    (_RUN, _HANDLE): 45_000,
    _REQUEST: 130_000,
    (*_REQUEST, _VIEW): 60_000,
    _CHECKOUT: 90_000,
    (*_CHECKOUT, QUOTE): 46_100,
    (*_CHECKOUT, QUOTE, _APPLY): 53_400,
    (*_CHECKOUT, QUOTE, _APPLY, _MATCHES): 367_600,
    (*_CHECKOUT, QUOTE, _QUERY): 120_000,
    (*_CHECKOUT, QUOTE, _QUERY, _EXECUTE): 178_000,
    (*_CHECKOUT, QUOTE, _QUERY, _EXECUTE, _WAIT): 115_000,
    (*_REQUEST, _SEARCH): 241_000,
    (*_REQUEST, _SEARCH, _DUMPS): 144_000,
    (*_REQUEST, _SEARCH, _QUERY, _EXECUTE): 98_000,
}


def deployment(
    project: Project,
    service: str = "checkout",
    zone: str = "europe-west1-b",
    version: str = "2.31.0",
    types: Sequence[ProfileType] = (ProfileType.CPU,),
) -> Deployment:
    now = datetime.fromisoformat("2026-01-01T00:00:00Z")
    made, _ = Deployment.objects.get_or_create(
        project=project,
        service=service,
        zone=zone,
        version=version,
        defaults={"first_seen": now, "last_seen": now, "profiled": [*types]},
    )
    return made


def send(
    of: Deployment,
    times: Sequence[datetime],
    stacks: FrameStacks = STACKS,
    type: ProfileType = ProfileType.CPU,
    sample_types: Sequence[tuple[str, str]] = (("cpu", "microseconds"),),
) -> None:
    """Store one profile of these stacks for each of these times."""
    raw = pprof(stacks, sample_types)
    digested = decode_profile(raw, type, DecodeLimits())
    rows = [
        new_profile(
            digested,
            raw,
            of,
            type=type,
            time=time,
            name_id=f"{of.pk}-{type}-{time.isoformat()}",
        )
        for time in times
    ]
    assert all(insert(rows))


def pprof(stacks: FrameStacks, sample_types: Sequence[tuple[str, str]]) -> bytes:
    builder = PprofBuilder()
    for name, unit in sample_types:
        builder.message.sample_type.add(type=builder.string(name), unit=builder.string(unit))
    for stack, value in stacks.items():
        frames = [builder.frame(name, file) for name, file in reversed(stack)]
        builder.message.sample.add(location_id=frames, value=[value] * len(sample_types))
    builder.message.duration_nanos = 10 * 10**9
    return bytes(builder.message.SerializeToString())


def minutes_before(moment: datetime, count: int) -> list[datetime]:
    """Return one time per minute before `moment`, starting a minute before it."""
    return [moment - timedelta(minutes=i + 1) for i in range(count)]
