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
from common.write_behind import WriteBehindBuffer, in_parts
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
class _KnownAgent:
    pk: int
    last: AgentSeen  # as in the row, or as the next write will set it


@dataclass(frozen=True, slots=True)
class _AgentPosition:
    deployment: int
    identity: str
    agent: AgentSeen = field(compare=False)


@dataclass(frozen=True, slots=True)
class _AgentSighting:
    at: datetime
    place: _AgentPosition
    changed: bool


def identity_of(header: str, *, key: int, user_agent: str, peer: str) -> str:
    """Return X-Flamewatch-Agent if it is a UUID, else a hash.

    The hash of API key, User-Agent and peer address identifies agents that do not send the header.
    """
    try:
        return str(uuid.UUID(header))
    except ValueError:
        told_by = "\n".join([str(key), user_agent, peer])
        return hashlib.sha256(told_by.encode("utf-8", "replace")).hexdigest()[:32]


async def find(deployment: int, agent: AgentSeen) -> int:
    """Return the agent's pk, after inserting its row if it is new."""
    agent = _bounded(agent)
    place = _AgentPosition(deployment, agent.identity, agent)
    known = await _agents.get(place)
    changed = known.last != agent
    known.last = agent
    _seen.note(known.pk, _AgentSighting(timezone.now(), place, changed))
    return known.pk


def _bounded(agent: AgentSeen) -> AgentSeen:
    return AgentSeen(
        agent.identity, _printable(agent.hostname), _printable(agent.user_agent), agent.types
    )


def _printable(text: str) -> str:
    """Remove characters that a database rejects (NUL) or that a page should not show."""
    return "".join(letter for letter in text[:_LONGEST] if letter.isprintable())


def _load(place: _AgentPosition) -> _KnownAgent:
    return _load_many([place])[place]


def _load_many(places: Sequence[_AgentPosition]) -> dict[_AgentPosition, _KnownAgent]:
    """Load agents and insert missing ones as one batch, because a whole fleet may start at once.

    Existing agents take one SELECT. New ones take a bulk insert, in one commit, and a second
    SELECT.
    """
    found = _find_rows(places)
    new = [place for place in places if place not in found]
    if new:
        now = timezone.now()
        rows = (
            Agent(
                deployment_id=place.deployment,
                identity=place.identity,
                first_seen=now,
                last_seen=now,
                **_columns(place.agent),
            )
            for place in new
        )
        # If another process inserts the same agent first, use that row.
        Agent.objects.bulk_create(rows, ignore_conflicts=True)
        found |= _find_rows(new)
    return found


def _find_rows(places: Sequence[_AgentPosition]) -> dict[_AgentPosition, _KnownAgent]:
    rows = Agent.objects.filter(
        deployment__in={place.deployment for place in places},
        identity__in={place.identity for place in places},
    )
    known = {(row.deployment_id, row.identity): _known(row) for row in rows}
    pairs = ((place, known.get((place.deployment, place.identity))) for place in places)
    return {place: agent for place, agent in pairs if agent}


def _known(row: Agent) -> _KnownAgent:
    types = frozenset(map(ProfileType, row.types))
    return _KnownAgent(row.pk, AgentSeen(row.identity, row.hostname, row.user_agent, types))


def _columns(agent: AgentSeen) -> dict[str, Any]:
    return {
        "hostname": agent.hostname,
        "user_agent": agent.user_agent,
        "types": sorted(agent.types),
    }


@transaction.atomic
def _write_seen(seen: dict[int, _AgentSighting]) -> None:
    latest = max(fact.at for fact in seen.values())
    for pks in in_parts(seen):
        found = Agent.objects.filter(pk__in=pks).update(last_seen=latest)
        if found < len(pks):
            _forget_missing(pks, seen)
    for pk, fact in sorted(seen.items()):
        if fact.changed:
            Agent.objects.filter(pk=pk).update(**_columns(fact.place.agent))


def _forget_missing(pks: list[int], seen: dict[int, _AgentSighting]) -> None:
    """Drop deleted agents from the cache, so that they are inserted again when they return."""
    there = set(Agent.objects.filter(pk__in=pks).values_list("pk", flat=True))
    for pk in set(pks) - there:
        _agents.delete(seen[pk].place)


def _join(older: _AgentSighting, newer: _AgentSighting) -> _AgentSighting:
    return _AgentSighting(newer.at, newer.place, newer.changed or older.changed)


_together: BatchLoader[_AgentPosition, _KnownAgent] = BatchLoader(_load_many)
_agents: LoadingCache[_AgentPosition, _KnownAgent] = LoadingCache(
    _load, size=MOST_AGENTS, fetch=_together.load
)
_seen: WriteBehindBuffer[int, _AgentSighting] = WriteBehindBuffer(_write_seen, _join)
