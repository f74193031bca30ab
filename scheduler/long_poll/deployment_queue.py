"""Parked handshakes and pending capture requests of one deployment, for the in-process queue.

It has no clock: callers pass `now`, Unix time in seconds.
"""

from asyncio import Future, TimerHandle
from collections import defaultdict

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest, urgency
from scheduler.long_poll.interface import RECENT_SECONDS, Assignment, BackOff, Waiter

# Agents per type whose last capture is recorded: four times the default number of parked agents.
_MAX_HISTORY = 128


class ParkedHandshake:
    """Parked handshake and the future of its response."""

    __slots__ = ("response", "waiter")

    def __init__(self, waiter: Waiter, response: "Future[Assignment | BackOff]") -> None:
        self.waiter = waiter
        self.response = response

    def accepts(self, kind: ProfileType) -> bool:
        """Return True if the handshake offers the type and still waits for a response."""
        return kind in self.waiter.types and not self.response.done()


class DeploymentQueue:
    """Parked handshakes, pending requests and capture history of one deployment."""

    def __init__(self, project: int) -> None:
        self.project = project
        self.waiting: dict[ParkedHandshake, None] = {}  # in order of arrival
        self.pending: dict[
            str, tuple[CaptureRequest, TimerHandle]
        ] = {}  # pending requests by id, with the timers that expire them
        self.returns = 0.0  # policy.next_return
        self._offered: dict[ProfileType, float] = {}  # time of the last offer
        self._busy: dict[str, float] = {}  # end of the capture, by agent
        # Time of the last capture, by type and agent; in order of these times.
        self._captured: dict[ProfileType, dict[str, float]] = defaultdict(dict)

    def record_offers(self, waiter: Waiter, now: float) -> None:
        """Record the types that an agent offers."""
        for kind in waiter.types:
            self._offered[kind] = now

    def types(self, now: float) -> frozenset[ProfileType]:
        """Return the types of parked agents and those offered in the last RECENT_SECONDS."""
        parked = [kind for parked in list(self.waiting) for kind in parked.waiter.types]
        offered = list(self._offered.items())
        return frozenset(parked) | {kind for kind, time in offered if now - time < RECENT_SECONDS}

    def find_request(self, waiter: Waiter, now: float) -> CaptureRequest | None:
        """Return the most urgent pending request that an agent can take.

        Return None if there is none or the agent is busy.
        """
        if self.busy_until(waiter.agent) > now:
            return None
        matching = [request for request, _ in self.pending.values() if request.type in waiter.types]
        return min(matching, key=urgency, default=None)

    def candidates(self, request: CaptureRequest, now: float) -> dict[str, ParkedHandshake]:
        """Return the parked handshakes, by agent, that can take a request.

        Of an agent with two handshakes, return the later one.
        """
        return {
            parked.waiter.agent: parked
            for parked in self.waiting
            if parked.accepts(request.type) and self.busy_until(parked.waiter.agent) <= now
        }

    def has_parked(self, agent: str) -> bool:
        """Return True if a handshake of the agent is parked."""
        return any(parked.waiter.agent == agent for parked in list(self.waiting))

    def busy_until(self, agent: str) -> float:
        """Return the time at which the agent's capture ends; 0 without one."""
        return self._busy.get(agent, 0.0)

    def history(self, kind: ProfileType) -> dict[str, float]:
        """Return the time of the last capture of a type, by agent."""
        return self._captured[kind]

    def assign(self, request: CaptureRequest, agent: str, now: float, busy_until: float) -> None:
        """Record that an agent captures a request and is busy until then."""
        self._busy = {other: until for other, until in self._busy.items() if until > now}
        self._busy[agent] = busy_until
        captured = self._captured[request.type]
        captured.pop(agent, None)  # reinserted at the end, to keep the order of captures
        captured[agent] = now
        if len(captured) > _MAX_HISTORY:
            del captured[next(iter(captured))]

    def unassign(self, request: CaptureRequest, agent: str) -> None:
        """Undo `assign`; the agent's earlier capture of the type is forgotten too."""
        self._busy.pop(agent, None)
        self._captured[request.type].pop(agent, None)

    def is_idle(self, now: float) -> bool:
        """Return True if this object has no state that is still needed."""
        quiet = all(now - time > RECENT_SECONDS for time in self._offered.values())
        return quiet and not self.waiting and not self.pending and self.returns <= now
