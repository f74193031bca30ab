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

from projects.profile_types import ProfileType
from scheduler import policy
from scheduler.capture_requests import EXPIRY_SECONDS, CaptureRequest
from scheduler.long_poll.interface import (
    AgentActivity,
    Assignment,
    BackOff,
    Offer,
    QueueCounts,
    Waiter,
)
from scheduler.long_poll.redis_scripts import Scripts, unpack_request, wake_channel
from scheduler.long_poll.redis_state import RedisState

logger = logging.getLogger(__name__)

_RECONNECT_SECONDS = 1.0
_GOODBYE_SECONDS = 1.0  # maximum time for which an unreachable Redis delays a stop
# Polling interval for capture requests that other processes have added.
_LOOK_SECONDS = 0.5


class LocalHandshake:
    """Handshake that this process parks."""

    __slots__ = ("answer", "arrival", "hold", "waiter")

    def __init__(
        self,
        waiter: Waiter,
        hold: float,
        answer: "asyncio.Future[Assignment | BackOff]",
        arrival: "asyncio.Task[tuple[Any, str]]",
    ) -> None:
        self.waiter, self.hold, self.answer, self.arrival = waiter, hold, answer, arrival

    def resolve(self, answer: Assignment | BackOff) -> bool:
        """Set the response; return False if there is one already."""
        if self.answer.done():
            return False
        self.answer.set_result(answer)
        return True


class RedisQueue:
    """Long-poll queue shared by the processes of a server; implements LongPollQueue."""

    def __init__(self, url: str, places: int, capture_seconds: float) -> None:
        """`places` limits the parked handshakes of a deployment, over all processes."""
        self._url, self._places = url, places
        self._ledger = RedisState(url, capture_seconds)
        self._rng = random.SystemRandom()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._held: dict[str, LocalHandshake] = {}  # by token
        self._tasks: set[asyncio.Task[None]] = set()
        self._issued = 0
        self._broken = self._complained = self._stopping = False

    # -- agents ---------------------------------------------------------------------------

    async def wait(self, waiter: Waiter, hold_seconds: float) -> Assignment | BackOff:
        await self.open()
        if self._stopping:
            return BackOff(policy.retry_when_stopping(0, self._rng))
        if self._broken:
            return self._send_away_broken(hold_seconds)
        token, held = self._take_in(waiter, hold_seconds)
        try:
            return await self._until_answered(token, held)
        except asyncio.CancelledError:
            self._start(self._abandon(token, held))
            raise
        except RedisError as error:
            self._complain(error)
            return self._send_away_broken(hold_seconds)
        finally:
            del self._held[token]

    def _take_in(self, waiter: Waiter, hold: float) -> tuple[str, LocalHandshake]:
        """Register a handshake in this process and start its `arrive` script."""
        self._issued += 1
        token = f"{self._name}.{self._issued}"
        arrival = asyncio.create_task(self._scripts.arrive(token, waiter, hold))
        answer: asyncio.Future[Assignment | BackOff] = asyncio.get_running_loop().create_future()
        # Registered first: the message of a claim may arrive before the result of `arrive`.
        held = self._held[token] = LocalHandshake(waiter, hold, answer, arrival)
        return token, held

    async def _until_answered(self, token: str, held: LocalHandshake) -> Assignment | BackOff:
        """Wait for the response of a handshake until its poll timeout."""
        # Shielded: if a script's call were cancelled, its effect would be unknown.
        answer, value = await asyncio.shield(held.arrival)
        if answer != "held":
            return self._answer(answer, value, held.hold)
        if float(value) > 0:
            self._serve_in(float(value), token)
        try:
            async with asyncio.timeout(held.hold):
                return await held.answer
        except TimeoutError:
            over = self._scripts.hold_over(token, held.waiter.deployment, held.hold)
            return self._answer(*await over, held.hold)

    def _answer(
        self, answer: Literal["slot", "away", "free"], value: str, hold: float
    ) -> Assignment | BackOff:
        """Convert the result of a script to a response."""
        if answer == "slot":
            return Assignment(unpack_request(value))
        if answer == "away":
            return BackOff(policy.retry_after(float(value), hold, self._rng))
        return BackOff(policy.retry_at_once(hold, self._rng))

    def _send_away_broken(self, hold: float) -> BackOff:
        return BackOff(policy.retry_when_broken(hold, self._rng))

    def _serve_in(self, seconds: float, token: str) -> None:
        """Call `_serve` for a parked agent after its capture, which ends in so many seconds."""

        def start() -> None:
            if held := self._held.get(token):
                self._start(self._serve(token, held))

        asyncio.get_running_loop().call_later(seconds, start)

    async def _serve(self, token: str, held: LocalHandshake) -> None:
        answer, value = await self._scripts.serve(token, held.waiter.deployment, held.hold)
        if answer == "slot":
            held.resolve(Assignment(unpack_request(value)))
        elif answer == "busy":
            self._serve_in(float(value), token)

    async def _abandon(self, token: str, held: LocalHandshake) -> None:
        """Remove a cancelled handshake, and offer a request that it had claimed to others."""
        await asyncio.wait({held.arrival})
        await self._scripts.abandon([(token, held.waiter)])
        self._look.set()

    def _start(self, deed: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task that logs errors of Redis."""

        async def logged() -> None:
            try:
                await deed
            except RedisError as error:
                self._complain(error)

        task = asyncio.create_task(logged())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- capture requests, and queries from other threads ---------------------------------

    def add_slots(self, slots: Sequence[CaptureRequest]) -> None:
        if slots and self._is_on_its_loop():
            self._start(self._add(slots))
            return
        self._ledger.add_slots(slots)
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._look.set)

    def _is_on_its_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:  # no loop in this thread
            return False

    async def _add(self, slots: Sequence[CaptureRequest]) -> None:
        await self._scripts.add(self._ledger.arguments(slots))
        self._look.set()

    def offers(self) -> list[Offer]:
        return self._ledger.offers()

    def asked(self, deployment: int, kind: ProfileType) -> int:
        return self._ledger.asked(deployment, kind)

    def doing(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        return self._ledger.doing(agents)

    def counts(self) -> QueueCounts:
        return self._ledger.counts()

    # -- start and end --------------------------------------------------------------------

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._scripts = Scripts(self._url, self._places)
            self._look, self._tried = asyncio.Event(), asyncio.Event()
            self._held, self._stopping = {}, False
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
                self._broke(errors.exceptions[0])
            except* Exception as errors:
                # A bug; but a queue without a dispatcher would park agents in vain.
                logger.exception("The long-poll queue failed and restarts.")
                self._broke(errors.exceptions[0])
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _serve_connection(self) -> None:
        """Receive messages and dispatch requests until the connection fails."""
        async with self._scripts.listener.pubsub() as pubsub:
            await pubsub.subscribe(wake_channel(self._name))
            listening = pubsub.listen()
            await anext(listening)  # the confirmation of the subscription
            self._mended()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen(listening))
                group.create_task(dispatch_requests(self._scripts, self._look, self._rng))

    async def _listen(self, listening: Any) -> None:
        async for message in listening:
            if message["type"] == "message":
                token, _, raw = message["data"].partition(" ")
                if held := self._held.get(token):
                    held.resolve(Assignment(unpack_request(raw)))

    def _mended(self) -> None:
        """Resume parking after the subscription succeeded."""
        if self._complained:
            logger.warning("Redis of the long-poll queue responds again.")
        self._broken = self._complained = False
        self._tried.set()

    def _complain(self, error: BaseException) -> None:
        """Log a failure of Redis, once until it works again."""
        if not self._complained:
            logger.error("Redis of the long-poll queue fails; agents back off: %s", error)
        self._complained = True

    def _broke(self, error: BaseException) -> None:
        """Make all agents that this process parks back off until Redis works again."""
        self._complain(error)
        self._broken = True
        self._tried.set()
        for held in self._held.values():
            held.resolve(self._send_away_broken(held.hold))

    async def empty(self) -> None:
        was_stopping, self._stopping = self._stopping, True
        if was_stopping or self._loop is not asyncio.get_running_loop():
            return
        everyone = list(self._held.items())
        gone = [
            (token, held.waiter)
            for token, held in everyone
            if held.resolve(BackOff(policy.retry_when_stopping(len(everyone), self._rng)))
        ]
        self._start(self._scripts.abandon(gone))
        await asyncio.wait(self._tasks, timeout=_GOODBYE_SECONDS)
        self._connection.cancel()
        await asyncio.wait({self._connection})
        await self._scripts.close()


async def dispatch_requests(scripts: Scripts, look: asyncio.Event, rng: policy.Rng) -> None:
    """Dispatch requests until cancelled. Setting the event `look` ends the current pause."""
    while True:
        look.clear()
        until, opened = await scripts.tick()
        await asyncio.gather(*(_hand_out(scripts, slot, rng) for slot in opened))
        seconds = _LOOK_SECONDS if until is None else min(until, _LOOK_SECONDS)
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await look.wait()


async def _hand_out(scripts: Scripts, slot: CaptureRequest, rng: policy.Rng) -> None:
    """Give a request to one of the parked agents; without any, it stays pending."""
    while True:
        now, candidates = await scripts.candidates(slot)
        if not candidates:
            return
        tokens = {candidate.agent: candidate.token for candidate in candidates}
        history = {who.agent: who.captured for who in candidates if who.captured is not None}
        agent = policy.choose_agent(list(tokens), history, now, rng)
        if await scripts.claim(slot, tokens[agent], keep=EXPIRY_SECONDS) != "no agent":
            return
