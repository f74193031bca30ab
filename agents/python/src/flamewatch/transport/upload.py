"""Upload of one profile, with retries through a short outage."""

from dataclasses import dataclass

from flamewatch.capture.sampler import Wait
from flamewatch.transport.backoff import Uniform
from flamewatch.transport.client import Client
from flamewatch.transport.messages import Assignment, ErrorResponse, InvalidResponse
from flamewatch.transport.wire import Unreachable

ATTEMPTS = 6
RETRY_SECONDS = 600.0  # waiting in total; the name is valid for an hour, but profiles age
FIRST_PAUSE = 2.0  # seconds; doubled after each attempt, unless the server sets the delay

_WORTH_ANOTHER = range(500, 600)
_TOO_SLOW = 408


@dataclass(frozen=True, slots=True)
class Lost:
    """Reason why a profile was dropped."""

    reason: str
    error: ErrorResponse | None = None


def upload(
    client: Client, assignment: Assignment, profile: bytes, wait: Wait, uniform: Uniform
) -> Lost | None:
    """Upload a profile, with retries. Return None when the server has stored it."""
    waited = 0.0
    for attempt in range(ATTEMPTS):
        lost = _once(client, assignment, profile)
        if lost is None or not _worth_another(lost):
            return lost
        pause = _pause(lost, attempt, uniform)
        waited += pause
        if attempt == ATTEMPTS - 1 or waited > RETRY_SECONDS or wait(pause):
            return lost
    return None


def _once(client: Client, assignment: Assignment, profile: bytes) -> Lost | None:
    try:
        error = client.upload(assignment, profile)
    except (Unreachable, InvalidResponse) as failure:
        return Lost(str(failure))
    return Lost(f"{error.status} {error.message}", error) if error else None


def _worth_another(lost: Lost) -> bool:
    """Return whether a retry may succeed: the same bytes get the same permanent error again."""
    error = lost.error
    return error is None or error.status in _WORTH_ANOTHER or error.status == _TOO_SLOW


def _pause(lost: Lost, attempt: int, uniform: Uniform) -> float:
    server_delay = lost.error.retry_after if lost.error else None
    if server_delay is not None:
        return server_delay * uniform(1.0, 1.1)
    return FIRST_PAUSE * 2.0**attempt * uniform(0.5, 1.0)
