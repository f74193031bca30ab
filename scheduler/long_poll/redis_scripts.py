"""Lua scripts of the Redis queue; each operation is one script and therefore atomic.

The scripts compute their keys, all under one prefix, so that they need a single Redis or Valkey
server and do not work on a cluster.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from projects.profile_types import ProfileType
from scheduler import capture_requests
from scheduler.capture_requests import CaptureRequest, RequestOrigin
from scheduler.long_poll.interface import Waiter
from scheduler.policy import return_spacing

PREFIX = "flamewatch:long-poll:"
_FOLDER = Path(__file__).with_name("lua")
_HEAD = (_FOLDER / "common.lua").read_text()
_REQUESTS_PER_TICK = 1000
_CONNECTIONS = 32
# Redis counts as unreachable if it does not respond within this time.
TIMEOUT_SECONDS = 5.0


class Candidate(NamedTuple):
    """Parked handshake that can take a request."""

    token: str  # of the handshake
    agent: str
    captured: float | None  # Unix time of the agent's last capture of the type


def script(name: str) -> str:
    """Return the source of a script, with the common functions of common.lua before it."""
    return f"{_HEAD}\n{(_FOLDER / name).with_suffix('.lua').read_text()}"


def pack_request(request: CaptureRequest, capture_seconds: float) -> str:
    """Encode a request as JSON, with its expiry time and busy seconds for the scripts."""
    busy = capture_requests.busy_seconds(request.type, capture_seconds)
    expiry = capture_requests.expiry_time(request)
    return json.dumps(asdict(request) | {"busy": busy, "expires_at": expiry})


def unpack_request(raw: str) -> CaptureRequest:
    """Decode the JSON of `pack_request`."""
    read = json.loads(raw)
    return CaptureRequest(
        read["id"],
        read["project"],
        read["deployment"],
        ProfileType(read["type"]),
        read["scheduled"],
        RequestOrigin(read["origin"]),
    )


def _stop_if_cancelled() -> None:
    """Raise CancelledError if the current task was cancelled.

    redis-py uses asyncio.wait_for, which may swallow a cancellation before Python 3.12.
    """
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


def wake_channel(token: str) -> str:
    """Return the pub/sub channel of the process and connection that issued a token."""
    return f"{PREFIX}wake:{token.partition('.')[0]}"


class Scripts:
    """Asynchronous interface to the scripts, for one event loop.

    All methods raise redis.exceptions.RedisError.
    """

    def __init__(self, url: str, max_parked: int) -> None:
        self._pool = BlockingConnectionPool.from_url(
            url,
            decode_responses=True,
            max_connections=_CONNECTIONS,
            timeout=TIMEOUT_SECONDS,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # One retry on a new connection: a pooled one may be older than a restart of Redis.
            retry=Retry(NoBackoff(), 1),
        )
        self.client = Redis.from_pool(self._pool)
        self._turns = asyncio.Semaphore(_CONNECTIONS)
        self._max_parked = max_parked
        names = ("add", "arrive", "serve", "tick", "candidates", "claim", "time_out", "abandon")
        self._scripts = {name: self.client.register_script(script(name)) for name in names}

        # No retry: the listener has to notice a lost connection, because it misses messages then.
        self.listener = Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=None,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    async def close(self) -> None:
        await self.listener.aclose()
        await self.client.aclose(close_connection_pool=True)

    async def _run(self, name: str, *arguments: str | float) -> Any:
        # Thousands of simultaneous calls wait here, which costs less than waiting in the pool.
        async with self._turns:
            response = await self._scripts[name](keys=[PREFIX], args=arguments)
        _stop_if_cancelled()
        return response

    async def add(self, arguments: Sequence[str | float]) -> None:
        """Add capture requests, given as `RedisState.arguments` returns them."""
        await self._run("add", *arguments)

    async def arrive(
        self, token: str, waiter: Waiter, poll_timeout: float
    ) -> tuple[Literal["request", "full", "over quota", "parked"], str]:
        """Begin a handshake; see arrive.lua for the results."""
        types = json.dumps(sorted(waiter.types))
        arguments = waiter.deployment, token, waiter.agent, types, waiter.project, poll_timeout
        response: Any = await self._run("arrive", *arguments, *self._limits(waiter, poll_timeout))
        return response[0], response[1]

    def _limits(self, waiter: Waiter, poll_timeout: float) -> tuple[float, float, float, float]:
        """Return the limits of parked handshakes of the deployment and of the project.

        Each is followed by the seconds between two agents that return after they backed off.
        """
        quota = waiter.project_quota
        return (
            self._max_parked,
            return_spacing(self._max_parked, poll_timeout),
            quota,
            return_spacing(max(1, quota), poll_timeout),
        )

    async def serve(
        self, token: str, deployment: int, seconds_stored: float
    ) -> tuple[Literal["request", "busy", "none"], str]:
        """Look for a request for a parked agent that was busy; see serve.lua for the results."""
        response: Any = await self._run("serve", deployment, token, seconds_stored)
        return response[0], response[1]

    async def tick(self) -> tuple[float | None, list[CaptureRequest]]:
        """Make requests pending at their scheduled time, and expire old ones.

        Return the seconds until the next such event, or None without any, and the requests that
        became pending.
        """
        until, *opened = await self._run("tick", _REQUESTS_PER_TICK)
        return float(until) if until else None, [unpack_request(raw) for raw in opened]

    async def candidates(self, request: CaptureRequest) -> tuple[float, list[Candidate]]:
        """Return the Unix time of Redis and the parked handshakes that can take a request."""
        now, *rest = await self._run("candidates", request.deployment, request.type)
        triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
        return float(now), [
            Candidate(token, agent, float(captured) if captured else None)
            for token, agent, captured in triples
        ]

    async def claim(
        self, request: CaptureRequest, token: str, seconds_stored: float
    ) -> Literal["claimed", "no request", "no agent"]:
        """Give a request to a parked handshake; see claim.lua for the results.

        The assignment is stored for `seconds_stored` seconds.
        """
        arguments = request.id, request.deployment, token, seconds_stored, wake_channel(token)
        response: Any = await self._run("claim", *arguments)
        return response  # type: ignore[no-any-return]

    async def time_out(
        self, token: str, waiter: Waiter, poll_timeout: float
    ) -> tuple[Literal["request", "full", "ended"], str]:
        """End a handshake at its poll timeout; see time_out.lua for the results."""
        arguments = waiter.project, waiter.deployment, token
        response: Any = await self._run("time_out", *arguments, *self._limits(waiter, poll_timeout))
        return response[0], response[1]

    async def abandon(self, waits: Sequence[tuple[str, Waiter]]) -> None:
        """End handshakes, given as (token, waiter), that no agent waits for any more."""
        flat = [
            part
            for token, waiter in waits
            for part in (str(waiter.project), str(waiter.deployment), token, waiter.agent)
        ]
        for start in range(0, len(flat), 4000):
            await self._run("abandon", *flat[start : start + 4000])
