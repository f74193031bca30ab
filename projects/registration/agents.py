"""Registration of agents: new ones are inserted at once, last-seen times are written behind.

A deployment may add FLAMEWATCH_NEW_AGENTS_PER_DAY rows a day. Further agents are served without
one: a client that sends another identity with every request must not fill the database.
"""

import hashlib
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Count, F, Q, Value, When
from django.utils import timezone

from common.batch_loader import BatchLoader
from common.cache import Cache, NoValue
from common.write_behind import WriteBehindBuffer, split_batches
from projects.models import Agent, Delivery
from projects.models.agent import MAX_REPORT_GAP
from projects.profile_types import ProfileType
from projects.usage.day_usage import utc_day

MOST_AGENTS = 50_000
MOST_DEPLOYMENTS = 50_000
# Agents without a row: cached for two poll timeouts, so that a handshake runs no SQL query.
MOST_UNSTORED, SECONDS_UNSTORED = 10_000, 120.0
# First word of the User-Agent of files that were imported, before that of their sender.
FILE_IMPORT = "flamewatch-file-import"
_LONGEST = 255  # characters of a hostname or User-Agent


@dataclass(frozen=True, slots=True)
class AgentSeen:
    """Identity and properties of an agent; `identity` is unique within its deployment."""

    identity: str
    hostname: str = ""
    user_agent: str = ""
    types: frozenset[ProfileType] = frozenset()
    delivery: Delivery = Delivery.HANDSHAKE


@dataclass(slots=True)
class _CachedAgent:
    pk: int
    last: AgentSeen  # as in the row, or as the next write will set it


@dataclass(frozen=True, slots=True)
class _AgentKey:
    deployment: int
    identity: str
    agent: AgentSeen = field(compare=False)


@dataclass(frozen=True, slots=True)
class _AgentSighting:
    time: datetime
    key: _AgentKey
    changed: bool


def derive_identity(header: str, *, key: int, user_agent: str, peer: str) -> str:
    """Return X-Flamewatch-Agent if it is a UUID, else a hash.

    The hash of API key, User-Agent and peer address identifies agents that do not send the header.
    """
    try:
        return str(uuid.UUID(header))
    except ValueError:
        sender = "\n".join([str(key), user_agent, peer])
        return hashlib.sha256(sender.encode("utf-8", "replace")).hexdigest()[:32]


async def find(deployment: int, agent: AgentSeen) -> int | None:
    """Return the agent's pk, after inserting its row if it is new.

    A handshake names all types of its agent; those of an upload are added to the ones that it has
    sent before. Return None for an agent without a row, whose deployment may store no more today.
    """
    agent = _shorten_texts(agent)
    key = _AgentKey(deployment, agent.identity, agent)
    try:
        cached = await _agents.get_or_load(key)
    except NoValue:
        return None
    if agent.delivery is not Delivery.HANDSHAKE and not agent.types >= cached.last.types:
        agent = replace(agent, types=agent.types | cached.last.types)
        key = replace(key, agent=agent)
    changed = cached.last != agent
    cached.last = agent
    _seen.note(cached.pk, _AgentSighting(timezone.now(), key, changed))
    return cached.pk


def _shorten_texts(agent: AgentSeen) -> AgentSeen:
    return replace(
        agent, hostname=_printable(agent.hostname), user_agent=_printable(agent.user_agent)
    )


def _printable(text: str) -> str:
    """Remove characters that a database rejects (NUL) or that a page should not show."""
    return "".join(letter for letter in text[:_LONGEST] if letter.isprintable())


async def _fetch(key: _AgentKey) -> _CachedAgent:
    agent = await _batch.load(key)
    if agent is None:
        raise NoValue(key)
    return agent


def _load_many(keys: Sequence[_AgentKey]) -> dict[_AgentKey, _CachedAgent | None]:
    """Load agents and insert missing ones as one batch, because a whole fleet may start at once.

    Existing agents take one SELECT. New ones take one that counts today's, a bulk insert, in one
    commit, and a third SELECT. The value is None for agents that may not be stored today.
    """
    cached_agents = _find_rows(keys)
    new = _storable([key for key in dict.fromkeys(keys) if key not in cached_agents])
    if new:
        now = timezone.now()
        rows = (
            Agent(
                deployment_id=key.deployment,
                identity=key.identity,
                first_seen=now,
                last_seen=now,
                reporting_since=now,
                **_columns(key.agent),
            )
            for key in new
        )
        # If another process inserts the same agent first, use that row.
        Agent.objects.bulk_create(rows, ignore_conflicts=True)
        cached_agents |= _find_rows(new)
    return {key: cached_agents.get(key) for key in keys}


def _storable(new: Sequence[_AgentKey]) -> list[_AgentKey]:
    """Return as many of these new agents as their deployments may store today, the first ones."""
    today, allowed = utc_day(), settings.NEW_AGENTS_PER_DAY
    deployments = {key.deployment for key in new if _full.get(key.deployment) != (today, allowed)}
    stored = _count_new(deployments, today) if deployments else {}
    left = {deployment: allowed - stored.get(deployment, 0) for deployment in deployments}
    storable = []
    for key in new:
        if left.get(key.deployment, 0) > 0:
            left[key.deployment] -= 1
            storable.append(key)
    for deployment, room in left.items():
        if room <= 0:
            _full.put(deployment, (today, allowed))
    return storable


def _count_new(deployments: Collection[int], day: date) -> dict[int, int]:
    """Return how many agents these deployments have stored since the start of the day (UTC)."""
    start = datetime.combine(day, time.min, UTC)
    rows = Agent.objects.filter(deployment__in=deployments, first_seen__gte=start)
    counts = rows.values("deployment").annotate(count=Count("pk"))
    return dict(counts.values_list("deployment", "count"))


def _find_rows(keys: Sequence[_AgentKey]) -> dict[_AgentKey, _CachedAgent]:
    rows = Agent.objects.filter(
        deployment__in={key.deployment for key in keys},
        identity__in={key.identity for key in keys},
    )
    agent_rows = {(row.deployment_id, row.identity): _cache_entry(row) for row in rows}
    pairs = ((key, agent_rows.get((key.deployment, key.identity))) for key in keys)
    return {key: agent for key, agent in pairs if agent}


def _cache_entry(row: Agent) -> _CachedAgent:
    types = frozenset(map(ProfileType, row.types))
    delivery = Delivery(row.delivery)
    seen = AgentSeen(row.identity, row.hostname, row.user_agent, types, delivery)
    return _CachedAgent(row.pk, seen)


def _columns(agent: AgentSeen) -> dict[str, Any]:
    return {
        "hostname": agent.hostname,
        "user_agent": agent.user_agent,
        "types": sorted(agent.types),
        "delivery": agent.delivery,
    }


@transaction.atomic
def _write_seen(sightings: dict[int, _AgentSighting]) -> None:
    latest = max(fact.time for fact in sightings.values())
    gap = Q(reporting_since=None) | Q(last_seen__lt=latest - MAX_REPORT_GAP)
    since = Case(When(gap, then=Value(latest)), default=F("reporting_since"))
    for pks in split_batches(sightings):
        rows = Agent.objects.filter(pk__in=pks)
        updated = rows.update(last_seen=latest, reporting_since=since)
        if updated < len(pks):
            _forget_missing(pks, sightings)
    for pk, fact in sorted(sightings.items()):
        if fact.changed:
            Agent.objects.filter(pk=pk).update(**_columns(fact.key.agent))


def _forget_missing(pks: list[int], sightings: dict[int, _AgentSighting]) -> None:
    """Drop deleted agents from the cache, so that they are inserted again when they return."""
    existing = set(Agent.objects.filter(pk__in=pks).values_list("pk", flat=True))
    for pk in set(pks) - existing:
        _agents.delete(sightings[pk].key)


def _join(older: _AgentSighting, newer: _AgentSighting) -> _AgentSighting:
    return _AgentSighting(newer.time, newer.key, newer.changed or older.changed)


_batch: BatchLoader[_AgentKey, _CachedAgent | None] = BatchLoader(_load_many)
_agents: Cache[_AgentKey, _CachedAgent] = Cache(
    fetch=_fetch, size=MOST_AGENTS, max_missing=MOST_UNSTORED, missing_seconds=SECONDS_UNSTORED
)
# By deployment: the last day on which it stored as many new agents as were allowed.
_full: Cache[int, tuple[date, int]] = Cache(size=MOST_DEPLOYMENTS)
_seen: WriteBehindBuffer[int, _AgentSighting] = WriteBehindBuffer(_write_seen, _join)
