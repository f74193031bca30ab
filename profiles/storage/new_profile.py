"""Decoded profile that is ready to be stored."""

from dataclasses import dataclass
from datetime import datetime

from profiles.models import TimeSource
from profiles.storage.profile_content import ProfileContent
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class NewProfile:
    """Profile row to insert; related rows are given by their primary keys."""

    project: int
    deployment: int
    agent: int | None
    service: str
    type: ProfileType
    time: datetime
    time_source: TimeSource
    duration_ns: int
    labels: dict[str, str]
    name_id: str
    content: ProfileContent
    absent_from: frozenset[int] = frozenset()  # blocks (Block.pk) that were searched in vain


@dataclass(frozen=True, slots=True)
class Copy:
    """Profile that is stored already."""

    name_id: str
    body_hash: bytes
