"""Interface of the long-poll queue, which matches parked agents and pending capture requests.

It has two implementations, in_process.py and redis.py, with one set of contract tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest, CaptureTarget, RequestOrigin

__all__ = [
    "RECENT_SECONDS",
    "UNLIMITED",
    "AgentActivity",
    "Assignment",
    "BackOff",
    "CaptureRequest",
    "CaptureTarget",
    "LongPollQueue",
    "QueueCounts",
    "QueueUnavailable",
    "RequestOrigin",
    "Waiter",
]

# A deployment still offers a type for this long after its last handshake: an agent that captures
# and uploads returns earlier.
RECENT_SECONDS = 180.0
UNLIMITED = 2**31 - 1  # no number of parked handshakes reaches it


@dataclass(frozen=True, slots=True)
class Waiter:
    """Handshake that can be parked."""

    agent: str  # the agent's identity, unique within its deployment
    project: int
    deployment: int
    types: frozenset[ProfileType]  # types that it offers
    project_quota: int = UNLIMITED  # parked handshakes that the project may have


@dataclass(frozen=True, slots=True)
class Assignment:
    """Response with a capture request that the agent has to execute now."""

    request: CaptureRequest


@dataclass(frozen=True, slots=True)
class BackOff:
    """Response without a request: the agent has to return later."""

    retry_after: float  # seconds
    over_quota: bool = False  # the project has as many parked handshakes as it may have


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Counts for metrics.

    All but `waiting` count since the start of the process, in Redis since their keys exist. They
    never decrease: a request whose agent has left at once is claimed and counted again.
    """

    waiting: int  # parked handshakes
    made: int  # capture requests that were added
    claimed: int  # capture requests that agents claimed
    expired: int  # capture requests that expired


@dataclass(frozen=True, slots=True)
class AgentActivity:
    """Current state of an agent in the long-poll queue."""

    waiting: bool  # parked
    capturing_for: float  # estimated seconds until its capture ends; 0 without a capture


class QueueUnavailable(Exception):
    """The storage of the queue does not respond; agents back off meanwhile."""


class LongPollQueue(Protocol):
    """Queue of parked agents and capture requests."""

    async def wait(self, waiter: Waiter, poll_timeout: float) -> Assignment | BackOff:
        """Park an agent until it gets a capture request, or make it back off.

        It backs off after `poll_timeout` seconds, and at once if the queue of its deployment is
        full or its project is over its quota; parked handshakes stay parked. A cancelled wait
        leaves no state: a request that it may have claimed becomes pending again.
        """
        ...

    def add_requests(self, requests: Sequence[CaptureRequest]) -> None:
        """Add capture requests, from any thread. Requests with an added id are ignored.

        Raise QueueUnavailable, except on the queue's event loop, where failures are logged.
        `targets`, `count_user_requests`, `activities` and `counts` raise it too.
        """
        ...

    def targets(self) -> list[CaptureTarget]:
        """Return the deployments with the types that they offer. Callable from any thread."""
        ...

    def count_user_requests(self, deployment: int, kind: ProfileType) -> int:
        """Return how many requests by users are unclaimed. Callable from any thread."""
        ...

    def activities(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        """Return the activity of each agent, given as (deployment, identity), in their order.

        Callable from any thread.
        """
        ...

    def counts(self) -> QueueCounts:
        """Return the counts for metrics. Callable from any thread."""
        ...

    async def open(self) -> None:
        """Start dispatching requests on the running event loop. The first `wait` does it too."""
        ...

    async def close(self) -> None:
        """Make all agents that this process parks back off, now and in future: the server stops."""
        ...
