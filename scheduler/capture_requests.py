"""Slots: one profile to be captured each; their ids, their times, and who goes first."""

from dataclasses import dataclass
from enum import StrEnum

from projects.profile_types import INSTANTANEOUS, ProfileType

EXPIRY_SECONDS = 60.0  # after its moment a slot waits so long for an agent
# An id stays known so long after its moment: who asks for the same again in between gets nothing.
KNOWN_SECONDS = 300.0
# What an agent needs beyond the capture itself, as a share of it: to write and upload the profile.
_MARGIN = 0.1


class RequestOrigin(StrEnum):
    PLAN = "plan"
    FIRST = "first"  # the first profile of a deployment and type
    PERSON = "person"  # capture now


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """One profile to be captured: claimed once, by one agent, or lapsed 60 s after its moment."""

    id: str
    project: int
    deployment: int  # Deployment.pk
    type: ProfileType
    moment: float  # Unix time, seconds
    origin: RequestOrigin = RequestOrigin.PLAN


@dataclass(frozen=True, slots=True)
class Offer:
    """What a deployment's agents, held or sent away of late, can capture."""

    project: int
    deployment: int
    types: frozenset[ProfileType]
    agents: int  # held now


def plan_id(deployment: int, kind: ProfileType, period_start: float, number: int) -> str:
    """The same for every run of the plan over the same period."""
    return f"plan-{deployment}-{kind}-{period_start:.3f}-{number}"


def first_id(deployment: int, kind: ProfileType) -> str:
    return f"first-{deployment}-{kind}"


def person_id(deployment: int, kind: ProfileType, nonce: str) -> str:
    return f"person-{deployment}-{kind}-{nonce}"


def expires_at(slot: CaptureRequest) -> float:
    return slot.moment + EXPIRY_SECONDS


def urgency(slot: CaptureRequest) -> tuple[bool, float]:
    """Sort key of the slots that one agent could have: what a person asked for, then by age."""
    return slot.origin is not RequestOrigin.PERSON, slot.moment


def busy_seconds(kind: ProfileType, capture_seconds: float) -> float:
    """How long an agent that was assigned is left alone: one capture at a time."""
    instant = kind in INSTANTANEOUS
    return capture_seconds * (_MARGIN if instant else 1 + _MARGIN)
