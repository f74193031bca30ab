"""The waiting agents and open slots of one deployment, in one process. No clock of its own."""

from asyncio import Future, TimerHandle
from collections import defaultdict

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest, urgency
from scheduler.long_poll.interface import RECENT_SECONDS, Assignment, BackOff, Waiter

# Agents whose last capture is remembered, by type: four times the places of a deployment.
_REMEMBERED = 128


class ParkedHandshake:
    """One handshake that is held, and the answer that it waits for."""

    __slots__ = ("answer", "waiter")

    def __init__(self, waiter: Waiter, answer: "Future[Assignment | BackOff]") -> None:
        self.waiter = waiter
        self.answer = answer

    def offers(self, kind: ProfileType) -> bool:
        """It can be given such a slot: it was not cancelled a moment ago, say."""
        return kind in self.waiter.types and not self.answer.done()


class DeploymentQueue:
    def __init__(self, project: int) -> None:
        self.project = project
        self.waiting: dict[ParkedHandshake, None] = {}  # in order of arrival
        self.open: dict[
            str, tuple[CaptureRequest, TimerHandle]
        ] = {}  # by slot id, with what lapses it
        self.returns = 0.0  # policy.next_return
        self._offered: dict[ProfileType, float] = {}  # when last
        self._busy: dict[str, float] = {}  # agent: until
        self._captured: dict[ProfileType, dict[str, float]] = defaultdict(dict)  # agent: when last

    def note(self, waiter: Waiter, now: float) -> None:
        for kind in waiter.types:
            self._offered[kind] = now

    def types(self, now: float) -> frozenset[ProfileType]:
        """What is offered now or was of late; a held agent offers it all the while."""
        held = [kind for held in list(self.waiting) for kind in held.waiter.types]
        offered = list(self._offered.items())
        return frozenset(held) | {kind for kind, at in offered if now - at < RECENT_SECONDS}

    def slot_for(self, waiter: Waiter, now: float) -> CaptureRequest | None:
        """The open slot that this agent should have."""
        if self.busy_until(waiter.agent) > now:
            return None
        fitting = [slot for slot, _ in self.open.values() if slot.type in waiter.types]
        return min(fitting, key=urgency, default=None)

    def candidates(self, slot: CaptureRequest, now: float) -> dict[str, ParkedHandshake]:
        """Who could capture it, by agent: where one waits twice, its later handshake."""
        return {
            held.waiter.agent: held
            for held in self.waiting
            if held.offers(slot.type) and self.busy_until(held.waiter.agent) <= now
        }

    def holds(self, agent: str) -> bool:
        return any(held.waiter.agent == agent for held in list(self.waiting))

    def busy_until(self, agent: str) -> float:
        return self._busy.get(agent, 0.0)

    def history(self, kind: ProfileType) -> dict[str, float]:
        return self._captured[kind]

    def assign(self, slot: CaptureRequest, agent: str, now: float, busy_until: float) -> None:
        self._busy = {other: until for other, until in self._busy.items() if until > now}
        self._busy[agent] = busy_until
        captured = self._captured[slot.type]
        captured.pop(agent, None)  # to the end: the order is that of the captures
        captured[agent] = now
        if len(captured) > _REMEMBERED:
            del captured[next(iter(captured))]

    def take_back(self, slot: CaptureRequest, agent: str) -> None:
        self._busy.pop(agent, None)
        self._captured[slot.type].pop(agent, None)

    def is_idle(self, now: float) -> bool:
        """Nothing here is worth remembering."""
        quiet = all(now - at > RECENT_SECONDS for at in self._offered.values())
        return quiet and not self.waiting and not self.open and self.returns <= now
