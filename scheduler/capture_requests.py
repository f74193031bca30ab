"""Capture requests: their ids, time limits and order of urgency."""

from dataclasses import dataclass
from enum import StrEnum

from projects.profile_types import INSTANTANEOUS, ProfileType

EXPIRY_SECONDS = 60.0  # from the scheduled time of a capture request until it expires
# From the scheduled time of a capture request until its id is forgotten. Until then, requests that
# are added with the same id are ignored.
ID_SECONDS = 300.0
# Time for encoding and uploading a profile, as a fraction of the capture duration.
_MARGIN = 0.1


class RequestOrigin(StrEnum):
    """Reason for which a capture request was created."""

    PLAN = "plan"  # the capture rate of the project
    FIRST = "first"  # first profile of a deployment and type
    PERSON = "person"  # "capture now" by a user


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Scheduled request for one profile.

    One agent claims it, or it expires EXPIRY_SECONDS after its scheduled time.
    """

    id: str
    project: int
    deployment: int  # Deployment.pk
    type: ProfileType
    scheduled: float  # scheduled time: Unix time in seconds
    origin: RequestOrigin = RequestOrigin.PLAN


@dataclass(frozen=True, slots=True)
class CaptureTarget:
    """Profile types that the parked and recently seen agents of a deployment can capture."""

    project: int
    deployment: int  # Deployment.pk
    types: frozenset[ProfileType]
    agents: int  # parked agents


def plan_id(deployment: int, kind: ProfileType, period_start: float, number: int) -> str:
    """Return the id of a planned request: the same each time that the period is planned."""
    return f"plan-{deployment}-{kind}-{period_start:.3f}-{number}"


def first_id(deployment: int, kind: ProfileType) -> str:
    """Return the id of the request for the first profile of a deployment and type."""
    return f"first-{deployment}-{kind}"


def after_quota_id(deployment: int, kind: ProfileType, now: float) -> str:
    """Return the id of the request for a profile after a quota: the same within ID_SECONDS."""
    return f"quota-{deployment}-{kind}-{now // ID_SECONDS:.0f}"


def person_id(deployment: int, kind: ProfileType, nonce: str) -> str:
    """Return the id of a request by a user; the nonce makes it unique."""
    return f"person-{deployment}-{kind}-{nonce}"


def expiry_time(request: CaptureRequest) -> float:
    """Return the Unix time in seconds at which a request expires."""
    return request.scheduled + EXPIRY_SECONDS


def urgency(request: CaptureRequest) -> tuple[bool, float]:
    """Return a sort key, the most urgent first: requests by users, then by scheduled time."""
    return request.origin is not RequestOrigin.PERSON, request.scheduled


def busy_seconds(kind: ProfileType, capture_seconds: float) -> float:
    """Return the seconds for which an agent is busy with a capture and gets no other request."""
    instant = kind in INSTANTANEOUS
    return capture_seconds * (_MARGIN if instant else 1 + _MARGIN)
