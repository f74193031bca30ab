"""What `flamewatch.status()` says."""

from typing import TypedDict


class Status(TypedDict):
    """Plain values, so that a health page can show them as they are."""

    state: str  # off, starting, waiting, capturing, uploading, backing off, stopped, failed
    reason: str  # why it is off or failed
    last_error: str  # the last failure, also one that has passed
    sampler: str  # native, signal; "" before the start
    types: list[str]  # profile types on offer
    server: str
    service: str
    version: str
    zone: str
    agent: str  # this process's own id
    profiles_sent: int
    profiles_dropped: int  # captured or assigned, and not sent
    samples: int  # in the profiles that were captured
    samples_dropped: int
    dropped_because: dict[str, int]  # reason → samples; the profiles carry the same reasons
    errors: int  # failures in the agent itself
    cpu_seconds: float  # used by the agent's threads
    memory_bytes: int  # tables of the largest capture so far
    next_try_in: float  # seconds; 0 when it isn't backing off


def nothing(state: str, reason: str) -> Status:
    """The status of a process without an agent."""
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
