"""Registration of agents: new ones are inserted at once, last-seen times are written behind."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from common.batch_loader import BatchLoader
from common.loading_cache import LoadingCache
from common.write_behind import WriteBehindBuffer, in_batches
from projects.models import Agent
from projects.profile_types import ProfileType

MOST_AGENTS = 50_000
_LONGEST = 255  # characters of a hostname or User-Agent


@dataclass(frozen=True, slots=True)
class AgentSeen:
    """Identity and properties of an agent; `identity` is unique within its deployment."""

    identity: str
    hostname: str = ""
    user_agent: str = ""
    types: frozenset[ProfileType] = frozenset()


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
    at: datetime
    key: _AgentKey
    changed: bool


def identity_of(header: str, *, key: int, user_agent: str, peer: str) -> str:
    """Return X-Flamewatch-Agent if it is a UUID, else a hash.

    The hash of API key, User-Agent and peer address identifies agents that do not send the header.
    """
    try:
        return str(uuid.UUID(header))
    except ValueError:
        sender = "\n".join([str(key), user_agent, peer])
        return hashlib.sha256(sender.encode("utf-8", "replace")).hexdigest()[:32]


async def find(deployment: int, agent: AgentSeen) -> int:
    """Return the agent's pk, after inserting its row if it is new."""
    agent = _bounded(agent)
    key = _AgentKey(deployment, agent.identity, agent)
    cached = await _agents.get(key)
    changed = cached.last != agent
    cached.last = agent
    _seen.note(cached.pk, _AgentSighting(timezone.now(), key, changed))
    return cached.pk


def _bounded(agent: AgentSeen) -> AgentSeen:
    return AgentSeen(
        agent.identity, _printable(agent.hostname), _printable(agent.user_agent), agent.types
    )


def _printable(text: str) -> str:
    """Remove characters that a database rejects (NUL) or that a page should not show."""
    return "".join(letter for letter in text[:_LONGEST] if letter.isprintable())


def _load(key: _AgentKey) -> _CachedAgent:
    return _load_many([key])[key]


def _load_many(keys: Sequence[_AgentKey]) -> dict[_AgentKey, _CachedAgent]:
    """Load agents and insert missing ones as one batch, because a whole fleet may start at once.

    Existing agents take one SELECT. New ones take a bulk insert, in one commit, and a second
    SELECT.
    """
    cached_agents = _find_rows(keys)
    new = [key for key in keys if key not in cached_agents]
    if new:
        now = timezone.now()
        rows = (
            Agent(
                deployment_id=key.deployment,
                identity=key.identity,
                first_seen=now,
                last_seen=now,
                **_columns(key.agent),
            )
            for key in new
        )
        # If another process inserts the same agent first, use that row.
        Agent.objects.bulk_create(rows, ignore_conflicts=True)
        cached_agents |= _find_rows(new)
    return cached_agents


def _find_rows(keys: Sequence[_AgentKey]) -> dict[_AgentKey, _CachedAgent]:
    rows = Agent.objects.filter(
        deployment__in={key.deployment for key in keys},
        identity__in={key.identity for key in keys},
    )
    agent_rows = {(row.deployment_id, row.identity): _cached_agent(row) for row in rows}
    pairs = ((key, agent_rows.get((key.deployment, key.identity))) for key in keys)
    return {key: agent for key, agent in pairs if agent}


def _cached_agent(row: Agent) -> _CachedAgent:
    types = frozenset(map(ProfileType, row.types))
    return _CachedAgent(row.pk, AgentSeen(row.identity, row.hostname, row.user_agent, types))


def _columns(agent: AgentSeen) -> dict[str, Any]:
    return {
        "hostname": agent.hostname,
        "user_agent": agent.user_agent,
        "types": sorted(agent.types),
    }


@transaction.atomic
def _write_seen(sightings: dict[int, _AgentSighting]) -> None:
    latest = max(fact.at for fact in sightings.values())
    for pks in in_batches(sightings):
        updated = Agent.objects.filter(pk__in=pks).update(last_seen=latest)
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
    return _AgentSighting(newer.at, newer.key, newer.changed or older.changed)


_batch: BatchLoader[_AgentKey, _CachedAgent] = BatchLoader(_load_many)
_agents: LoadingCache[_AgentKey, _CachedAgent] = LoadingCache(
    _load, size=MOST_AGENTS, fetch=_batch.load
)
_seen: WriteBehindBuffer[int, _AgentSighting] = WriteBehindBuffer(_write_seen, _join)
