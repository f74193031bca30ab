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

_MAX_ADDED = 1000  # requests added by one run of the script


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
        with _translate_errors():
            for start in range(0, len(added), _MAX_ADDED):
                arguments = self.arguments(added[start : start + _MAX_ADDED])
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
        with _translate_errors():
            since = time.time() - RECENT_SECONDS
            self._client.zremrangebyscore(f"{PREFIX}handshake_times", "-inf", since)
            recent: Any = self._client.zrange(f"{PREFIX}handshake_times", 0, -1)
            types: dict[tuple[int, int], set[ProfileType]] = defaultdict(set)
            for member in recent:
                project, deployment, kind = member.split(":")
                types[int(project), int(deployment)].add(ProfileType(kind))
            pipeline = self._client.pipeline(transaction=False)
            for _, deployment in types:
                pipeline.hlen(f"{PREFIX}handshakes:{deployment}")
            waiting: Any = pipeline.execute()
        return [
            CaptureTarget(project, deployment, frozenset(kinds), parked)
            for ((project, deployment), kinds), parked in zip(types.items(), waiting, strict=True)
        ]

    def count_user_requests(self, deployment: int, kind: ProfileType) -> int:
        with _translate_errors():
            pending: Any = self._client.scard(f"{PREFIX}user_requests:{deployment}:{kind}")
            return int(pending)

    def activities(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        deployments = sorted({deployment for deployment, _ in agents})
        with _translate_errors():
            pipeline = self._client.pipeline(transaction=False)
            for deployment in deployments:
                pipeline.hvals(f"{PREFIX}handshakes:{deployment}")
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
        with _translate_errors():
            waiting: Any = self._client.zcount(f"{PREFIX}parked", time.time(), "+inf")
            names = [f"{PREFIX}count:{name}" for name in ("added", "claimed", "expired")]
            added, claimed, expired = (int(count or 0) for count in self._client.mget(names))
            return QueueCounts(int(waiting), added, claimed, expired)


def _waiting(rows: Sequence[str]) -> Iterator[str]:
    """Yield the parked agents of a deployment, without those whose web process died."""
    now = time.time()
    for row in map(json.loads, rows):
        if row["poll_ends"] >= now:
            yield row["agent"]


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate errors of Redis to QueueUnavailable."""
    try:
        yield
    except RedisError as error:
        count_failure(Dependency.REDIS)
        raise QueueUnavailable(
            _("The long-poll queue is not available. Try again later.")
        ) from error
