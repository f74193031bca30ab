"""Upload of one profile, with retries through a short outage."""

from dataclasses import dataclass

from flamewatch.backoff import Uniform
from flamewatch.client import Client
from flamewatch.messages import Assignment, BadAnswer, Refusal
from flamewatch.sampler import Wait
from flamewatch.wire import Unreachable

ATTEMPTS = 6
PATIENCE = 600.0  # seconds of waiting in total; the name is valid for an hour, but profiles age
FIRST_PAUSE = 2.0  # seconds; doubled after each attempt, unless the server sets the delay

_WORTH_ANOTHER = range(500, 600)
_TOO_SLOW = 408


@dataclass(frozen=True, slots=True)
class Lost:
    """Reason why a profile was dropped."""

    reason: str
    refusal: Refusal | None = None


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
        if attempt == ATTEMPTS - 1 or waited > PATIENCE or wait(pause):
            return lost
    return None


def _once(client: Client, assignment: Assignment, profile: bytes) -> Lost | None:
    try:
        refusal = client.upload(assignment, profile)
    except (Unreachable, BadAnswer) as error:
        return Lost(str(error))
    return Lost(f"{refusal.status} {refusal.message}", refusal) if refusal else None


def _worth_another(lost: Lost) -> bool:
    """Return whether a retry may succeed: the same bytes get the same permanent error again."""
    refusal = lost.refusal
    return refusal is None or refusal.status in _WORTH_ANOTHER or refusal.status == _TOO_SLOW


def _pause(lost: Lost, attempt: int, uniform: Uniform) -> float:
    told = lost.refusal.retry_after if lost.refusal else None
    if told is not None:
        return told * uniform(1.0, 1.1)
    return FIRST_PAUSE * 2.0**attempt * uniform(0.5, 1.0)
