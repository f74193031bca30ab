"""Blocking access to the Redis queue, for threads and processes that do not park agents."""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from common.outages import Dependency, count_failure
from projects.profile_types import ProfileType
from scheduler import capture_requests
from scheduler.capture_requests import CaptureRequest, CaptureTarget
from scheduler.long_poll.interface import (
    RECENT_SECONDS,
    AgentActivity,
    QueueCounts,
    QueueUnavailable,
)
from scheduler.long_poll.redis_scripts import PREFIX, TIMEOUT_SECONDS, pack_request, script

_AT_ONCE = 1000  # requests added by one run of the script


class RedisState:
    """Blocking client of the queue's state, for any thread.

    The methods raise QueueUnavailable if Redis does not respond; see LongPollQueue for them.
    """

    def __init__(self, url: str, capture_seconds: float) -> None:
        self._client = Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1),
        )
        self._add = self._client.register_script(script("add"))
        self._capture_seconds = capture_seconds

    def add_requests(self, added: Sequence[CaptureRequest]) -> None:
        with _reported():
            for at in range(0, len(added), _AT_ONCE):
                arguments = self.arguments(added[at : at + _AT_ONCE])
                self._add(keys=[PREFIX], args=arguments)

    def arguments(self, added: Sequence[CaptureRequest]) -> list[str | float]:
        """Return the arguments of the script `add`: JSON and lifetime in seconds of each request.

        The lifetime is that of the request's id.
        """
        now = time.time()
        return [
            part
            for request in added
            for part in (
                pack_request(request, self._capture_seconds),
                max(1.0, request.scheduled + capture_requests.ID_SECONDS - now),
            )
        ]

    def targets(self) -> list[CaptureTarget]:
        with _reported():
            since = time.time() - RECENT_SECONDS
            self._client.zremrangebyscore(f"{PREFIX}offered", "-inf", since)
            recent: Any = self._client.zrange(f"{PREFIX}offered", 0, -1)
            types: dict[tuple[int, int], set[ProfileType]] = defaultdict(set)
            for member in recent:
                project, deployment, kind = member.split(":")
                types[int(project), int(deployment)].add(ProfileType(kind))
            pipeline = self._client.pipeline(transaction=False)
            for _, deployment in types:
                pipeline.hlen(f"{PREFIX}waiting:{deployment}")
            waiting: Any = pipeline.execute()
        return [
            CaptureTarget(project, deployment, frozenset(kinds), parked)
            for ((project, deployment), kinds), parked in zip(types.items(), waiting, strict=True)
        ]

    def count_user_requests(self, deployment: int, kind: ProfileType) -> int:
        with _reported():
            pending: Any = self._client.scard(f"{PREFIX}asked:{deployment}:{kind}")
            return int(pending)

    def activities(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        deployments = sorted({deployment for deployment, _ in agents})
        with _reported():
            pipeline = self._client.pipeline(transaction=False)
            for deployment in deployments:
                pipeline.hvals(f"{PREFIX}waiting:{deployment}")
            for deployment, agent in agents:
                pipeline.pttl(f"{PREFIX}busy:{deployment}:{agent}")
            found: Any = pipeline.execute()
        parked, busy = found[: len(deployments)], found[len(deployments) :]
        waiting = {
            (deployment, agent)
            for deployment, rows in zip(deployments, parked, strict=True)
            for agent in _waiting(rows)
        }
        return [
            AgentActivity(agent in waiting, max(0, left) / 1000)
            for agent, left in zip(agents, busy, strict=True)
        ]

    def counts(self) -> QueueCounts:
        with _reported():
            waiting: Any = self._client.zcount(f"{PREFIX}held", time.time(), "+inf")
            names = [f"{PREFIX}{name}" for name in ("made", "claimed", "lapsed")]
            made, claimed, expired = (int(count or 0) for count in self._client.mget(names))
            return QueueCounts(int(waiting), made, claimed, expired)


def _waiting(rows: Sequence[str]) -> Iterator[str]:
    """Yield the parked agents of a deployment, without those whose web process died."""
    now = time.time()
    for row in map(json.loads, rows):
        if row["till"] >= now:
            yield row["agent"]


@contextmanager
def _reported() -> Iterator[None]:
    """Translate errors of Redis to QueueUnavailable."""
    try:
        yield
    except RedisError as error:
        count_failure(Dependency.REDIS)
        raise QueueUnavailable(
            _("The long-poll queue is not available. Try again later.")
        ) from error
