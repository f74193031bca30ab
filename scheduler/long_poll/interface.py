"""The waiting room: agents that were held, and slots that wait for one of them.

Two adapters (in_process, redis) behind this one interface, with one set of contract tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest, Offer, RequestOrigin

__all__ = [
    "RECENT_SECONDS",
    "AgentActivity",
    "Assignment",
    "BackOff",
    "CaptureRequest",
    "LongPollQueue",
    "Offer",
    "QueueCounts",
    "QueueUnavailable",
    "RequestOrigin",
    "Waiter",
]

# What was offered so long ago still counts: nobody captures and uploads for longer.
RECENT_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Waiter:
    """One handshake that can be held."""

    agent: str  # the agent's identity, unique within its deployment
    project: int
    deployment: int
    types: frozenset[ProfileType]  # what it offers now


@dataclass(frozen=True, slots=True)
class Assignment:
    """Capture this, now."""

    slot: CaptureRequest


@dataclass(frozen=True, slots=True)
class BackOff:
    """Nothing now: come back after so many seconds."""

    retry_after: float


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Since the start of this process (in process) or of the room (Redis)."""

    waiting: int
    claimed: int
    lapsed: int


@dataclass(frozen=True, slots=True)
class AgentActivity:
    """What an agent does at this moment, as far as the room knows."""

    waiting: bool
    capturing_for: float  # seconds that its capture takes still; 0: it captures nothing


class QueueUnavailable(Exception):
    """What the room is kept in does not answer; agents are sent away meanwhile."""


class LongPollQueue(Protocol):
    async def wait(self, waiter: Waiter, hold_seconds: float) -> Assignment | BackOff:
        """Hold an agent until a slot is its own, or send it away; a cancelled wait leaves no
        trace, and a slot it may have claimed goes back."""
        ...

    def add_slots(self, slots: Sequence[CaptureRequest]) -> None:
        """Add slots; from any thread. A slot whose id is known already is not added again.

        This, offers, asked, doing and counts raise RoomUnavailable, but not on the room's event
        loop.
        """
        ...

    def offers(self) -> list[Offer]:
        """What the plan works from; from any thread."""
        ...

    def asked(self, deployment: int, kind: ProfileType) -> int:
        """How many slots that persons asked for are not claimed yet; from any thread."""
        ...

    def doing(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        """Of each (deployment, identity) of a page's agents; from any thread."""
        ...

    def counts(self) -> QueueCounts:
        """From any thread."""
        ...

    async def open(self) -> None:
        """Start waking agents, on this event loop; the first wait does it too."""
        ...

    async def empty(self) -> None:
        """Send everyone away that this process holds, now and from now on (stopping)."""
        ...
