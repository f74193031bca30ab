"""Long-poll queue backed by Redis, for a server of several web processes.

Each process parks its own handshakes, and receives their capture requests on one pub/sub channel.
While Redis is unreachable all agents back off.
"""

import asyncio
import contextlib
import logging
import random
import secrets
from collections.abc import Coroutine, Sequence
from typing import Any, Literal

from redis.exceptions import RedisError

from common.outages import Dependency, count_failure
from projects.profile_types import ProfileType
from scheduler import policy
from scheduler.capture_requests import EXPIRY_SECONDS, CaptureRequest
from scheduler.long_poll.interface import (
    AgentActivity,
    Assignment,
    BackOff,
    CaptureTarget,
    QueueCounts,
    Waiter,
)
from scheduler.long_poll.redis_scripts import Scripts, unpack_request, wake_channel
from scheduler.long_poll.redis_state import RedisState

logger = logging.getLogger(__name__)

_RECONNECT_SECONDS = 1.0
_CLOSE_SECONDS = 1.0  # maximum time for which an unreachable Redis delays a stop
# Polling interval for capture requests that other processes have added.
_POLL_SECONDS = 0.5


class LocalHandshake:
    """Handshake that this process parks."""

    __slots__ = ("arrival", "poll_timeout", "response", "waiter")

    def __init__(
        self,
        waiter: Waiter,
        poll_timeout: float,
        response: "asyncio.Future[Assignment | BackOff]",
        arrival: "asyncio.Task[tuple[Any, str]]",
    ) -> None:
        self.waiter, self.poll_timeout, self.response, self.arrival = (
            waiter,
            poll_timeout,
            response,
            arrival,
        )

    def resolve(self, response: Assignment | BackOff) -> bool:
        """Set the response; return False if there is one already."""
        if self.response.done():
            return False
        self.response.set_result(response)
        return True


class RedisQueue:
    """Long-poll queue shared by the processes of a server; implements LongPollQueue."""

    def __init__(self, url: str, max_parked: int, capture_seconds: float) -> None:
        """`max_parked` limits the parked handshakes of a deployment, over all processes."""
        self._url, self._max_parked = url, max_parked
        self._state = RedisState(url, capture_seconds)
        self._rng = random.SystemRandom()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._parked: dict[str, LocalHandshake] = {}  # by token
        self._tasks: set[asyncio.Task[None]] = set()
        self._issued = 0
        self._broken = self._failure_logged = self._stopping = False

    # -- agents ---------------------------------------------------------------------------

    async def wait(self, waiter: Waiter, poll_timeout: float) -> Assignment | BackOff:
        await self.open()
        if self._stopping:
            return BackOff(policy.retry_when_stopping(parked=0, rng=self._rng))
        if self._broken:
            return self._back_off_broken(poll_timeout)
        token, parked = self._register(waiter, poll_timeout)
        try:
            return await self._wait_for_response(token, parked)
        except asyncio.CancelledError:
            self._start(self._abandon(token, parked))
            raise
        except RedisError as error:
            self._log_failure(error)
            return self._back_off_broken(poll_timeout)
        finally:
            del self._parked[token]

    def _register(self, waiter: Waiter, poll_timeout: float) -> tuple[str, LocalHandshake]:
        """Register a handshake in this process and start its `arrive` script."""
        self._issued += 1
        token = f"{self._name}.{self._issued}"
        arrival = asyncio.create_task(self._scripts.arrive(token, waiter, poll_timeout))
        response: asyncio.Future[Assignment | BackOff] = asyncio.get_running_loop().create_future()
        # Registered first: the message of a claim may arrive before the result of `arrive`.
        parked = self._parked[token] = LocalHandshake(waiter, poll_timeout, response, arrival)
        return token, parked

    async def _wait_for_response(self, token: str, parked: LocalHandshake) -> Assignment | BackOff:
        """Wait for the response of a handshake until its poll timeout."""
        # Shielded: if a script's call were cancelled, its effect would be unknown.
        outcome, value = await asyncio.shield(parked.arrival)
        if outcome != "parked":
            return self._build_response(outcome, value, parked.poll_timeout)
        if float(value) > 0:  # seconds until the agent is no longer busy
            self._schedule_serve(float(value), token)
        try:
            async with asyncio.timeout(parked.poll_timeout):
                return await parked.response
        except TimeoutError:
            outcome, value = await self._scripts.time_out(token, parked.waiter, parked.poll_timeout)
            return self._build_response(outcome, value, parked.poll_timeout)

    def _build_response(
        self,
        outcome: Literal["request", "full", "over quota", "ended"],
        value: str,
        poll_timeout: float,
    ) -> Assignment | BackOff:
        """Convert the result of a script to a response."""
        if outcome == "request":
            return Assignment(unpack_request(value))
        if outcome in ("full", "over quota"):
            retry_after = policy.retry_after(float(value), poll_timeout, self._rng)
            return BackOff(retry_after, over_quota=outcome == "over quota")
        return BackOff(policy.retry_at_once(poll_timeout, self._rng))

    def _back_off_broken(self, poll_timeout: float) -> BackOff:
        return BackOff(policy.retry_when_broken(poll_timeout, self._rng))

    def _schedule_serve(self, seconds: float, token: str) -> None:
        """Call `_serve` for a parked agent after its capture, which ends in so many seconds."""

        def start() -> None:
            if parked := self._parked.get(token):
                self._start(self._serve(token, parked))

        asyncio.get_running_loop().call_later(seconds, start)

    async def _serve(self, token: str, parked: LocalHandshake) -> None:
        outcome, value = await self._scripts.serve(
            token, parked.waiter.deployment, parked.poll_timeout
        )
        if outcome == "request":
            parked.resolve(Assignment(unpack_request(value)))
        elif outcome == "busy":
            self._schedule_serve(float(value), token)

    async def _abandon(self, token: str, parked: LocalHandshake) -> None:
        """Remove a cancelled handshake, and offer a request that it had claimed to others."""
        await asyncio.wait({parked.arrival})
        await self._scripts.abandon([(token, parked.waiter)])
        self._wake.set()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task that logs errors of Redis."""

        async def run() -> None:
            try:
                await work
            except RedisError as error:
                self._log_failure(error)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- capture requests, and queries from other threads ---------------------------------

    def add_requests(self, requests: Sequence[CaptureRequest]) -> None:
        if requests and self._is_on_its_loop():
            self._start(self._add(requests))
            return
        self._state.add_requests(requests)
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def _is_on_its_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:  # no loop in this thread
            return False

    async def _add(self, requests: Sequence[CaptureRequest]) -> None:
        await self._scripts.add(self._state.arguments(requests))
        self._wake.set()

    def targets(self) -> list[CaptureTarget]:
        return self._state.targets()

    def count_user_requests(self, deployment: int, kind: ProfileType) -> int:
        return self._state.count_user_requests(deployment, kind)

    def activities(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        return self._state.activities(agents)

    def counts(self) -> QueueCounts:
        return self._state.counts()

    # -- start and end --------------------------------------------------------------------

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._scripts = Scripts(self._url, self._max_parked)
            self._wake, self._tried = asyncio.Event(), asyncio.Event()
            self._parked, self._stopping = {}, False
            self._connection = asyncio.create_task(self._stay_connected())
        await self._tried.wait()

    async def _stay_connected(self) -> None:
        """Subscribe and dispatch until cancelled; reconnect after failures."""
        while True:
            # A new name for each connection: the channel of the old name has no subscriber then, so
            # that claims for handshakes of an earlier connection fail.
            self._name = secrets.token_urlsafe(9)
            try:
                await self._serve_connection()
            except* RedisError as errors:
                self._fail(errors.exceptions[0])
            except* Exception as errors:
                # A bug; but a queue without a dispatcher would park agents in vain.
                logger.exception("The long-poll queue failed and is restarting.")
                self._fail(errors.exceptions[0])
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _serve_connection(self) -> None:
        """Receive messages and dispatch requests until the connection fails."""
        async with self._scripts.listener.pubsub() as pubsub:
            await pubsub.subscribe(wake_channel(self._name))
            listening = pubsub.listen()
            await anext(listening)  # the confirmation of the subscription
            self._recover()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen(listening))
                group.create_task(dispatch_requests(self._scripts, self._wake, self._rng))

    async def _listen(self, listening: Any) -> None:
        async for message in listening:
            if message["type"] == "message":
                token, _, raw = message["data"].partition(" ")
                if parked := self._parked.get(token):
                    parked.resolve(Assignment(unpack_request(raw)))

    def _recover(self) -> None:
        """Resume parking after the subscription succeeded."""
        if self._failure_logged:
            logger.warning("The long-poll queue is connected to Redis again.")
        self._broken = self._failure_logged = False
        self._tried.set()

    def _log_failure(self, error: BaseException) -> None:
        """Log a failure of Redis, once until it works again."""
        count_failure(Dependency.REDIS)
        if not self._failure_logged:
            logger.error("The long-poll queue lost Redis; agents back off: %s", error)
        self._failure_logged = True

    def _fail(self, error: BaseException) -> None:
        """Make all agents that this process parks back off until Redis works again."""
        self._log_failure(error)
        self._broken = True
        self._tried.set()
        for parked in self._parked.values():
            parked.resolve(self._back_off_broken(parked.poll_timeout))

    async def close(self) -> None:
        was_stopping, self._stopping = self._stopping, True
        if was_stopping or self._loop is not asyncio.get_running_loop():
            return
        all_parked = list(self._parked.items())
        ended = [
            (token, parked.waiter)
            for token, parked in all_parked
            if parked.resolve(BackOff(policy.retry_when_stopping(len(all_parked), self._rng)))
        ]
        self._start(self._scripts.abandon(ended))
        await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        self._connection.cancel()
        await asyncio.wait({self._connection})
        await self._scripts.close()


async def dispatch_requests(scripts: Scripts, wake: asyncio.Event, rng: policy.Rng) -> None:
    """Dispatch requests until cancelled. Setting the event `wake` ends the current pause."""
    while True:
        wake.clear()
        until, opened = await scripts.tick()
        await asyncio.gather(*(_dispatch(scripts, request, rng) for request in opened))
        seconds = _POLL_SECONDS if until is None else min(until, _POLL_SECONDS)
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await wake.wait()


async def _dispatch(scripts: Scripts, request: CaptureRequest, rng: policy.Rng) -> None:
    """Give a request to one of the parked agents; without any, it stays pending."""
    while True:
        now, candidates = await scripts.candidates(request)
        if not candidates:
            return
        tokens = {candidate.agent: candidate.token for candidate in candidates}
        history = {
            candidate.agent: candidate.captured
            for candidate in candidates
            if candidate.captured is not None
        }
        agent = policy.choose_agent(list(tokens), history, now, rng)
        if await scripts.claim(request, tokens[agent], seconds_stored=EXPIRY_SECONDS) != "no agent":
            return
