"""Long-poll queue in memory, for a server of one process.

State changes only on the event loop. Other threads read snapshots (`list` of a dict is atomic under
the GIL) or hand their changes to the loop.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Sequence

from projects.profile_types import ProfileType
from scheduler import capture_requests, policy
from scheduler.capture_requests import CaptureRequest, RequestOrigin
from scheduler.long_poll.deployment_queue import DeploymentQueue, ParkedHandshake
from scheduler.long_poll.interface import (
    AgentActivity,
    Assignment,
    BackOff,
    Offer,
    QueueCounts,
    Waiter,
)

_SWEEP_SECONDS = 60.0


class InProcessQueue:
    """Long-poll queue of a single process; implements LongPollQueue."""

    def __init__(
        self,
        places: int,
        capture_seconds: float,
        *,
        clock: Callable[[], float] = time.time,
        rng: policy.Rng | None = None,
    ) -> None:
        """`places` limits the parked handshakes of a deployment.

        `capture_seconds` is the duration of a capture; `clock` returns Unix time in seconds.
        """
        self._places, self._capture_seconds = places, capture_seconds
        self._clock, self._rng = clock, rng or random.SystemRandom()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[CaptureRequest] = []  # requests added before `open`
        self._lock = threading.Lock()  # guards _loop and _early
        self._desks: dict[int, DeploymentQueue] = {}
        self._known: dict[str, float] = {}  # request ids, with the time to forget them
        self._swept = 0.0
        self._claimed = self._lapsed = 0
        self._stopping = False

    # -- agents ---------------------------------------------------------------------------

    async def wait(self, waiter: Waiter, hold_seconds: float) -> Assignment | BackOff:
        await self.open()
        if self._stopping:
            return BackOff(policy.retry_when_stopping(0, self._rng))
        now = self._clock()
        desk = self._desk(waiter.deployment, waiter.project)
        desk.note(waiter, now)
        if slot := desk.slot_for(waiter, now):
            return self._claim(desk, slot, waiter.agent)
        if len(desk.waiting) >= self._places:
            return self._send_away(desk, hold_seconds)
        return await self._hold(desk, waiter, hold_seconds)

    async def _hold(
        self, desk: DeploymentQueue, waiter: Waiter, hold_seconds: float
    ) -> Assignment | BackOff:
        """Park a handshake until it gets a response."""
        loop = asyncio.get_running_loop()
        held = ParkedHandshake(waiter, loop.create_future())
        desk.waiting[held] = None
        over = loop.call_later(hold_seconds, self._expire, desk, held, hold_seconds)
        if desk.busy_until(waiter.agent) > self._clock():
            self._serve(desk, held)
        try:
            return await held.answer
        except asyncio.CancelledError:
            self._leave(desk, held)
            raise
        finally:
            over.cancel()
            desk.waiting.pop(held, None)

    def _leave(self, desk: DeploymentQueue, held: ParkedHandshake) -> None:
        """Remove a cancelled handshake, and offer a request that it had just claimed to others."""
        desk.waiting.pop(held, None)
        if held.answer.cancelled() or not held.answer.done():
            return
        answer = held.answer.result()
        if isinstance(answer, Assignment):
            self._claimed -= 1
            desk.take_back(answer.slot, held.waiter.agent)
            self._open_slot(answer.slot)

    def _expire(self, desk: DeploymentQueue, held: ParkedHandshake, hold_seconds: float) -> None:
        """End a handshake at its poll timeout."""
        if len(desk.waiting) >= self._places:
            self._answer(desk, held, self._send_away(desk, hold_seconds))
        else:
            away = BackOff(policy.retry_at_once(hold_seconds, self._rng))
            self._answer(desk, held, away)

    def _send_away(self, desk: DeploymentQueue, hold_seconds: float) -> BackOff:
        """Return a back-off for an agent that finds the queue of its deployment full."""
        now = self._clock()
        desk.returns = policy.next_return(desk.returns, now, self._places, hold_seconds)
        return BackOff(policy.retry_after(desk.returns - now, hold_seconds, self._rng))

    def _serve(self, desk: DeploymentQueue, held: ParkedHandshake) -> None:
        """Give a parked agent the most urgent request, once the agent is no longer busy.

        An agent may return before the estimated end of its capture.
        """
        if held.answer.done():
            return
        left = desk.busy_until(held.waiter.agent) - self._clock()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._serve, desk, held)
        elif slot := desk.slot_for(held.waiter, self._clock()):
            self._answer(desk, held, self._claim(desk, slot, held.waiter.agent))

    @staticmethod
    def _answer(desk: DeploymentQueue, held: ParkedHandshake, answer: Assignment | BackOff) -> None:
        """Complete a parked handshake, unless it is completed or cancelled already."""
        desk.waiting.pop(held, None)
        if not held.answer.done():
            held.answer.set_result(answer)

    def _claim(self, desk: DeploymentQueue, slot: CaptureRequest, agent: str) -> Assignment:
        """Assign a request to an agent, which is busy from now on."""
        if found := desk.open.pop(slot.id, None):
            found[1].cancel()
        now = self._clock()
        busy = capture_requests.busy_seconds(slot.type, self._capture_seconds)
        desk.assign(slot, agent, now, now + busy)
        self._claimed += 1
        return Assignment(slot)

    # -- capture requests -----------------------------------------------------------------

    def add_slots(self, slots: Sequence[CaptureRequest]) -> None:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._early.extend(slots)
            else:
                self._loop.call_soon_threadsafe(self._add, list(slots))

    def _add(self, added: Sequence[CaptureRequest]) -> None:
        now = self._clock()
        self._sweep(now)
        loop = asyncio.get_running_loop()
        for slot in added:
            if slot.id not in self._known:
                self._known[slot.id] = slot.moment + capture_requests.KNOWN_SECONDS
                loop.call_later(max(0.0, slot.moment - now), self._open_slot, slot)

    def _open_slot(self, slot: CaptureRequest) -> None:
        """Give a request to a parked agent at its scheduled time, or make it pending."""
        now = self._clock()
        desk = self._desk(slot.deployment, slot.project)
        candidates = desk.candidates(slot, now)
        if candidates:
            history = desk.history(slot.type)
            agent = policy.choose_agent(list(candidates), history, now, self._rng)
            self._answer(desk, candidates[agent], self._claim(desk, slot, agent))
        else:
            left = max(0.0, capture_requests.expires_at(slot) - now)
            lapse = asyncio.get_running_loop().call_later(left, self._lapse, desk, slot)
            desk.open[slot.id] = slot, lapse

    def _lapse(self, desk: DeploymentQueue, slot: CaptureRequest) -> None:
        """Expire a pending request."""
        del desk.open[slot.id]
        self._lapsed += 1

    def _desk(self, deployment: int, project: int) -> DeploymentQueue:
        """Return the queue of a deployment; create it if necessary."""
        desk = self._desks.get(deployment)
        if desk is None:
            desk = self._desks[deployment] = DeploymentQueue(project)
        return desk

    def _sweep(self, now: float) -> None:
        """Forget old request ids and idle deployments, at most once a minute."""
        if now - self._swept < _SWEEP_SECONDS:
            return
        self._swept = now
        self._known = {slot: until for slot, until in self._known.items() if until > now}
        self._desks = {key: desk for key, desk in self._desks.items() if not desk.is_idle(now)}

    # -- queries from other threads -------------------------------------------------------

    def offers(self) -> list[Offer]:
        now = self._clock()
        found = [
            Offer(desk.project, deployment, desk.types(now), len(desk.waiting))
            for deployment, desk in list(self._desks.items())
        ]
        return [offer for offer in found if offer.types]

    def asked(self, deployment: int, kind: ProfileType) -> int:
        desk = self._desks.get(deployment)
        waiting = list(desk.open.values()) if desk else []
        return sum(slot.type is kind and slot.origin is RequestOrigin.PERSON for slot, _ in waiting)

    def doing(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        now = self._clock()
        return [self._doing(deployment, agent, now) for deployment, agent in agents]

    def _doing(self, deployment: int, agent: str, now: float) -> AgentActivity:
        desk = self._desks.get(deployment)
        if desk is None:
            return AgentActivity(waiting=False, capturing_for=0.0)
        return AgentActivity(desk.holds(agent), max(0.0, desk.busy_until(agent) - now))

    def counts(self) -> QueueCounts:
        waiting = sum(len(desk.waiting) for desk in list(self._desks.values()))
        return QueueCounts(waiting, self._claimed, self._lapsed)

    # -- start and end --------------------------------------------------------------------

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        with self._lock:
            self._loop = loop
            early, self._early = self._early, []
        # Handshakes parked on an earlier event loop ended with it.
        self._desks, self._known, self._stopping = {}, {}, False
        self._add(early)

    async def empty(self) -> None:
        self._stopping = True
        everyone = [(desk, held) for desk in self._desks.values() for held in desk.waiting]
        for desk, held in everyone:
            away = BackOff(policy.retry_when_stopping(len(everyone), self._rng))
            self._answer(desk, held, away)
