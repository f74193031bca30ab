"""Result of `flamewatch.status()`."""

from typing import TypedDict


class Status(TypedDict):
    """State and counters of the agent, in plain types that a health page can show directly."""

    state: str  # off, starting, waiting, capturing, uploading, backing off, stopped, failed
    reason: str  # cause of the states off and failed
    last_error: str  # the last failure, also if it has been resolved
    sampler: str  # native, signal; "" before the start
    types: list[str]  # profile types offered to the server
    server: str
    service: str
    version: str
    zone: str
    agent: str  # UUID of this process's agent
    profiles_sent: int
    profiles_dropped: int  # captured or requested, but not sent
    samples: int  # in all captured profiles
    samples_dropped: int
    dropped_because: dict[str, int]  # reason → samples; the profiles carry the same reasons
    errors: int  # internal failures of the agent
    cpu_seconds: float  # used by the agent's threads
    memory_bytes: int  # tables of the largest capture so far
    next_try_in: float  # seconds; 0 if it is not backing off


def nothing(state: str, reason: str) -> Status:
    """Return the status of a process without an agent."""
    return Status(
        state=state,
        reason=reason,
        last_error="",
        sampler="",
        types=[],
        server="",
        service="",
        version="",
        zone="",
        agent="",
        profiles_sent=0,
        profiles_dropped=0,
        samples=0,
        samples_dropped=0,
        dropped_because={},
        errors=0,
        cpu_seconds=0.0,
        memory_bytes=0,
        next_try_in=0.0,
    )
