"""What the Redis room does to Redis: each deed one script, so each is done wholly or not at all.

The scripts make up their keys, all under one prefix: one Redis (or Valkey) server, no cluster.
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

PREFIX = "flamewatch:room:"
_FOLDER = Path(__file__).with_name("lua")
_HEAD = (_FOLDER / "room.lua").read_text()
_SLOTS_A_TICK = 1000
_CONNECTIONS = 32
# How long a Redis that does not answer may take; then it counts as gone.
TIMEOUT_SECONDS = 5.0


class Candidate(NamedTuple):
    token: str  # of the handshake
    agent: str
    captured: float | None  # when it last captured the type, Unix time


def script(name: str) -> str:
    return f"{_HEAD}\n{(_FOLDER / name).with_suffix('.lua').read_text()}"


def pack_request(slot: CaptureRequest, capture_seconds: float) -> str:
    """JSON of a slot, with what the scripts must know beyond it."""
    busy = capture_requests.busy_seconds(slot.type, capture_seconds)
    return json.dumps(asdict(slot) | {"lapses": capture_requests.expires_at(slot), "busy": busy})


def unpack_request(raw: str) -> CaptureRequest:
    read = json.loads(raw)
    return CaptureRequest(
        read["id"],
        read["project"],
        read["deployment"],
        ProfileType(read["type"]),
        read["moment"],
        RequestOrigin(read["origin"]),
    )


def _stop_if_cancelled() -> None:
    """redis-py awaits with wait_for, which may keep a cancellation to itself before Python 3.12."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


def wake_channel(token: str) -> str:
    """The channel of the process (and of its connection) that made this token."""
    return f"{PREFIX}wake:{token.partition('.')[0]}"


class Scripts:
    """The scripts that an event loop runs. Errors are redis.exceptions.RedisError."""

    def __init__(self, url: str, places: int) -> None:
        self._pool = BlockingConnectionPool.from_url(
            url,
            decode_responses=True,
            max_connections=_CONNECTIONS,
            timeout=TIMEOUT_SECONDS,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # Once more, on a new connection: the pooled one may be of before a restart.
            retry=Retry(NoBackoff(), 1),
        )
        self.client = Redis.from_pool(self._pool)
        self._turns = asyncio.Semaphore(_CONNECTIONS)
        self._places = places
        names = ("add", "arrive", "serve", "tick", "candidates", "claim", "hold_over", "abandon")
        self._scripts = {name: self.client.register_script(script(name)) for name in names}

        # Without a second try: whoever listens must know what it may have missed.
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
        # Thousands that arrive at once wait here, which costs less than in the pool.
        async with self._turns:
            answer = await self._scripts[name](keys=[PREFIX], args=arguments)
        _stop_if_cancelled()
        return answer

    async def add(self, arguments: Sequence[str | float]) -> None:
        await self._run("add", *arguments)

    async def arrive(
        self, token: str, waiter: Waiter, hold: float
    ) -> tuple[Literal["slot", "away", "held"], str]:
        types, spacing = json.dumps(sorted(waiter.types)), return_spacing(self._places, hold)
        who = waiter.deployment, token, waiter.agent, types, waiter.project
        answer: Any = await self._run("arrive", *who, hold, self._places, spacing)
        return answer[0], answer[1]

    async def serve(
        self, token: str, deployment: int, keep: float
    ) -> tuple[Literal["slot", "busy", "none"], str]:
        answer: Any = await self._run("serve", deployment, token, keep)
        return answer[0], answer[1]

    async def tick(self) -> tuple[float | None, list[CaptureRequest]]:
        """Seconds to the next event, if there is one, and the slots that were opened."""
        until, *opened = await self._run("tick", _SLOTS_A_TICK)
        return float(until) if until else None, [unpack_request(raw) for raw in opened]

    async def candidates(self, slot: CaptureRequest) -> tuple[float, list[Candidate]]:
        """Redis's clock, and those who could capture it."""
        now, *rest = await self._run("candidates", slot.deployment, slot.type)
        triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
        return float(now), [
            Candidate(token, agent, float(captured) if captured else None)
            for token, agent, captured in triples
        ]

    async def claim(
        self, slot: CaptureRequest, token: str, keep: float
    ) -> Literal["claimed", "no slot", "no agent"]:
        arguments = slot.id, slot.deployment, token, keep, wake_channel(token)
        answer: Any = await self._run("claim", *arguments)
        return answer  # type: ignore[no-any-return]

    async def hold_over(
        self, token: str, deployment: int, hold: float
    ) -> tuple[Literal["slot", "away", "free"], str]:
        spacing = return_spacing(self._places, hold)
        answer: Any = await self._run("hold_over", deployment, token, self._places, spacing)
        return answer[0], answer[1]

    async def abandon(self, waits: Sequence[tuple[str, Waiter]]) -> None:
        """Of (token, waiter)."""
        flat = [part for token, who in waits for part in (str(who.deployment), token, who.agent)]
        for at in range(0, len(flat), 3000):
            await self._run("abandon", *flat[at : at + 3000])
