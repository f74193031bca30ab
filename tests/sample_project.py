"""Project with a day of use, shown in the screenshots."""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.conditions.registry import ConditionKind
from alerts.models import AlertIncident, AlertSilence, AlertState
from findings import states
from findings.models import Finding
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile
from projects import invitations
from projects.audit import NO_CLIENT
from projects.credentials import keys
from projects.models import (
    Agent,
    AgentReport,
    ApiKey,
    Deployment,
    Invitation,
    Member,
    Project,
    Role,
    User,
    Webhook,
    WebhookDelivery,
)
from projects.prices import change_prices
from projects.profile_types import ProfileType
from tests.alerts.stored_values import add_rule
from tests.findings.factory import add_detection, add_finding
from tests.frontend import shop
from tests.paths import STATIC
from tests.profiles.rows import new_profile

_EXAMPLE = STATIC / "flame-graph/example.json"
_STEP, _NO = timedelta(minutes=10), timedelta(0)
_GO, _VERSION = "go-profiler/0.4.2", "0.1.0"
_TOO_LARGE = (
    "413: FLAMEWATCH_MAX_UPLOAD_BYTES allows 16,777,216 bytes; this request has 17,301,504."
)
CPU, WALL, HEAP = ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP
ALLOC, LOCK, THREADS = ProfileType.HEAP_ALLOC, ProfileType.CONTENTION, ProfileType.THREADS


@dataclass(frozen=True, slots=True)
class SampleService:
    name: str
    versions: tuple[str, ...]  # oldest first
    types: tuple[ProfileType, ...]
    cpu_ms: int  # mean of a profile of 10 s
    silent: timedelta = timedelta(seconds=14)  # time since its last profile
    agents: int = 3


SERVICES = (
    SampleService("catalog", ("9.4.1", "9.4.2"), (CPU, WALL, HEAP, THREADS), 1820),
    SampleService("checkout", ("2.30.3", "2.30.4", "2.31.0"), (CPU, WALL, HEAP, THREADS), 2380),
    SampleService("gateway", ("v3.22.1",), (CPU, HEAP, ALLOC, LOCK, THREADS), 1070),
    SampleService("invoice-pdf", ("0.9.4",), (CPU,), 640, timedelta(days=2), 0),
    SampleService("notifications", ("1.2.0",), (CPU, WALL), 88),
    SampleService("payments", ("2026.11.2", "2026.11.3"), (CPU, WALL, LOCK), 412),
    SampleService(
        "recommendations-batch-worker-europe-nightly",
        ("1.18.7",),
        (CPU, HEAP),
        4120,
        timedelta(hours=3),
        1,
    ),
    SampleService("search-indexer", ("4.0.0-rc2",), (CPU, HEAP, ALLOC), 9610),
)


def people(project: Project) -> None:
    """Add three more members."""
    for first, last, role in (
        ("Tomasz", "Okafor", Role.ADMIN),
        ("June", "Park", Role.MEMBER),
        ("Rui", "Sá", Role.VIEWER),
    ):
        email = f"{first.lower()}@acme.example"
        user = User.objects.create(email=email, first_name=first, last_name=last)
        Member.objects.create(project=project, user=user, role=role)


def invite(project: Project, owner: User, now: datetime) -> None:
    """Add an open invitation for an address, one by link, and an expired one."""
    invitations.create(
        project, ["lena.brandt@acme.example", "ops@harbour.example"], Role.MEMBER, actor=owner
    )
    invitations.create(project, [], Role.VIEWER, actor=owner)
    Invitation.objects.filter(email="ops@harbour.example").update(
        issued=now - timedelta(days=16), expires=now - timedelta(days=9)
    )


def api_keys(project: Project, owner: User, now: datetime) -> None:
    """Add keys in use, of which one expires soon and one was rotated, and a revoked one."""
    for name, read, used, days, services in (
        ("production", False, 14, 89, []),
        ("staging", False, 130, 12, ["checkout", "catalog"]),
        ("ci", True, None, None, ["checkout"]),
    ):
        row, _ = keys.create(
            project,
            name,
            read=read,
            services=services,
            expires=None if days is None else now + timedelta(days=days),
            actor=owner,
        )
        if used:
            row.last_used, row.last_used_from = now - timedelta(seconds=used), "10.41.3.12"
            row.save()
        if name == "production":
            new, _ = keys.rotate(row, actor=owner)
            ApiKey.objects.filter(pk=new.pk).update(last_used=now, last_used_from="10.40.0.8")
    old, _ = keys.create(project, "old laptop", actor=owner)
    keys.revoke(old, actor=owner)


def services(project: Project, now: datetime, step: timedelta = _STEP) -> None:
    """Add eight services with CPU profiles of the last day, one every `step`."""
    chance = random.Random(7)
    for service in SERVICES:
        made = _deployments(project, service, now)
        agents = _agents(made[0], service, now)
        insert(list(_profiles(made, service, now, chance, agents, step)))


def _deployments(project: Project, service: SampleService, now: datetime) -> list[Deployment]:
    """Create the deployments of a service; return the newest version first."""
    found = []
    for age, version in enumerate(reversed(service.versions)):
        made = Deployment.objects.create(
            project=project,
            service=service.name,
            zone="europe-west1-b",
            version=version,
            first_seen=now - timedelta(days=age + 1),
            last_seen=now,
            profiled=list(service.types),
        )
        found.append(made)
    return found


def _agents(of: Deployment, service: SampleService, now: datetime) -> list[Agent]:
    """Create agents; one has a high overhead, and those of one service send too large profiles."""
    made = []
    google, large = of.service == "gateway", of.service.startswith("recommendations")
    for number in range(service.agents):
        agent = Agent.objects.create(
            deployment=of,
            identity=f"{service.name}-{number}",
            hostname=f"{service.name[:8]}-7f9c-{number}xk4",
            user_agent=f"gcloud-{_GO}" if google else f"flamewatch-python/{_VERSION}",
            types=list(service.types),
            first_seen=now - timedelta(days=1),
            last_seen=now - timedelta(seconds=9 + 17 * number) - (service.silent if large else _NO),
        )
        lossy = of.service == "search-indexer" and number == 0
        AgentReport.objects.create(
            agent=agent,
            last_profile=now - service.silent - timedelta(minutes=7 * number),
            last_type=service.types[number % len(service.types)],
            cpu_share=None if google else 0.0134 if lossy else 0.0021 - number / 10_000,
            dropped=None if google else 12_480 if lossy else 0,
            samples=83_520,
            rejected=31 if large else 0,
            rejection=_TOO_LARGE if large else "",
            rejected_at=now - service.silent if large else None,
        )
        made.append(agent)
    return made


def _profiles(
    made: Sequence[Deployment],
    service: SampleService,
    now: datetime,
    chance: random.Random,
    agents: Sequence[Agent],
    step: timedelta,
) -> Iterator[NewProfile]:
    """Yield one profile per step of the last day, with more load towards its middle."""
    of_all = _example()
    ages = [service.silent]
    while ages[-1] + step < timedelta(days=1):
        ages.append(ages[-1] + step)
    sample_types = [("cpu", "microseconds")]
    for age in ages:
        day = math.sin(math.pi * min(1.0, age / timedelta(days=1)))
        weight = service.cpu_ms * 1000 * (0.55 + 0.6 * day)
        older = age > timedelta(hours=12) and len(made) > 1
        of = made[1] if older else made[0]
        stacks = {
            stack: round(share * weight * chance.uniform(0.8, 1.2) * change)
            for stack, share in of_all
            if (change := _change(stack, older))
        }
        raw = shop.pprof(stacks, sample_types)
        agent = chance.choice(agents) if agents else None
        yield new_profile(
            decode_profile(raw, CPU, DecodeLimits()),
            raw,
            of,
            agent=agent.pk if agent else None,
            type=CPU,
            time=now - age,
            labels={"endpoint": "/pay"} if chance.random() < 0.7 else {"endpoint": "/search"},
            name_id=f"{of.pk}-{age}",
        )


def _change(stack: tuple[shop.Frame, ...], older: bool) -> float:
    """Return the factor of a stack in a version; the newest changes three functions."""
    names = {name for name, _ in stack}
    if names & {"json.dumps", "JSONEncoder.iterencode"}:
        return 1.0 if older else 0.0
    if "Decimal.quantize" in names:
        return 0.0 if older else 1.0
    return 0.5 if older and "Rule.matches" in names else 1.0


def _example() -> list[tuple[tuple[shop.Frame, ...], float]]:
    """Return the stacks of the example on the sign-up page, each with its share of the total."""
    tree = json.loads(_EXAMPLE.read_text())
    names, files, whole = tree["names"], tree["files"], sum(tree["self"])
    stack: list[shop.Frame] = []
    found = []
    pairs = zip(tree["frames"]["name"], tree["frames"]["file"], strict=True)
    frames = [(names[name], files[file]) for name, file in pairs]
    for frame, depth, own in zip(tree["frame"], tree["depth"], tree["self"], strict=True):
        stack[depth:] = [frames[frame]]
        found.append((tuple(stack), own / whole))
    return found


def findings(project: Project, owner: User, finding_id: str, now: datetime) -> None:
    """Add findings of several states, `finding_id` among them, and analyses of services."""
    rng = random.Random(5)
    end = now.replace(hour=now.hour // 12 * 12, minute=0, second=0, microsecond=0)

    def add(service: str, function: str, before: float, part: float, **changes: object) -> Finding:
        change_time = end - timedelta(hours=36)
        values = [before] * 100 + [before * (1 + part)] * 12
        return add_finding(
            project,
            service=service,
            function=function,
            file=f"{function.rpartition('.')[0].replace('.', '/')}.py",
            before=before,
            after=before * (1 + part),
            change=before * part,
            low=before * part * 0.9,
            high=before * part * 1.1,
            direction="regression" if part > 0 else "improvement",
            found=end,
            change_time=change_time,
            points=[value * rng.uniform(0.97, 1.03) for value in values],
            points_end=end,
            **changes,
        )

    merged = ["shop.pricing.discounts.apply", "shop.pricing.quote"]
    versions = {"version_before": "2.30.4", "version": "2.31.0"}
    name = "shop.pricing.rules.Rule.matches"
    add("checkout", name, 1.1e8, 1.45, finding_id=finding_id, merged=merged, rank=0.9, **versions)
    serializer = "rest_framework.serializers.ListSerializer.to_representation"
    serialization = add("catalog", serializer, 2.05e8, 0.3, version="9.4.2", version_before="9.4.1")
    states.acknowledge(serialization, actor=owner, origin=NO_CLIENT, note="new fields")
    add("payments", "ssl.SSLSocket.do_handshake", 7.8e7, 0.64, version="", rank=0.3)
    add("gateway", "encoding/json.(*decodeState).object", 1.53e8, -0.22, version="v3.22.1")
    webhook = Webhook.objects.create(
        project=project, name="chat", url="https://hooks.example.org/T04/B02", format="slack"
    )
    for number, (kind, status) in enumerate((("finding", 200), ("alert", 503), ("test", 200))):
        WebhookDelivery.objects.create(
            webhook=webhook,
            event=f"{kind}:{number}",
            kind=kind,
            body="{}",
            attempts=1,
            status=status,
            reply="ok" if status == 200 else "no such channel",
            delivered=now if status == 200 else None,
            next_attempt=None if status == 200 else now + timedelta(seconds=80),
        )
    change_prices(project, {"currency": "EUR", "core_hour": 0.034}, actor=owner)
    for service, detectable in (("checkout", 0.069), ("catalog", 0.079), ("notifications", 0.358)):
        add_detection(project, service=service, time=end, detectable=detectable)


def alerts(project: Project, owner: User, rule_id: str, now: datetime) -> None:
    """Add rules of each kind, of which `rule_id` fires, and a silence."""
    rule = add_rule(
        project,
        parameters={"measure": "share", "is_above": True, "threshold": 5, "minutes": 30},
        name="Pricing share of checkout",
        rule_id=rule_id,
        service="checkout",
        function="Rule.matches",
        created_by=owner,
        created=now - timedelta(days=9),
        evaluated=now,
    )
    subject = {"subject": "checkout", "service": "checkout"}
    AlertState.objects.create(rule=rule, **subject, phase="firing", value=14.2)
    AlertIncident.objects.create(
        rule=rule, **subject, started=now - timedelta(minutes=110), last_value=14.2, extreme=14.6
    )
    earlier = now - timedelta(days=5)
    AlertIncident.objects.create(
        rule=rule,
        **subject,
        started=earlier,
        ended=earlier + timedelta(minutes=85),
        last_value=4.8,
        extreme=13.9,
    )
    week = {"measure": "cores", "is_above": True, "percent": 20, "minutes": 60}
    add_rule(
        project,
        ConditionKind.AGAINST_LAST_WEEK,
        week,
        name="Checkout against last week",
        service="checkout",
        function="",
    )
    add_rule(project, ConditionKind.QUOTA, {"quota": "", "percent": 80}, name="Quotas")
    add_rule(
        project, ConditionKind.FINDING, {"percent": 10}, name="New regressions", is_enabled=False
    )
    silent = add_rule(
        project, ConditionKind.STOPPED_REPORTING, {"minutes": 60}, name="Service stopped reporting"
    )
    AlertSilence.objects.create(
        project=project,
        rule=silent,
        created=now,
        until=now + timedelta(days=1),
        created_by=owner,
        reason="Cluster move",
    )
