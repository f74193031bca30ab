"""Immediate capture requests for the first profile of each deployment and type."""

import time
from collections.abc import Iterable

from projects.profile_types import INSTANTANEOUS, NEVER_REQUESTED, ProfileType
from scheduler.capture_requests import CaptureRequest, RequestOrigin, first_id
from scheduler.long_poll.interface import LongPollQueue
from scheduler.rates import is_stopped

_APART_SECONDS = 3.0


async def request_first_profiles(
    queue: LongPollQueue, project: int, deployment: int, types: Iterable[ProfileType]
) -> None:
    """Add a capture request for each type, 3 s apart, unless the project's capture rate is zero.

    Repeated calls have no effect until the ids of the requests are forgotten (ID_SECONDS).
    """
    if not await is_stopped(project):
        queue.add_requests(first_requests(project, deployment, types, time.time()))


def first_requests(
    project: int, deployment: int, types: Iterable[ProfileType], now: float
) -> list[CaptureRequest]:
    """Return the capture requests: CPU first, instantaneous types next, then the others.

    CPU comes first because most users look for it.
    """
    return [
        CaptureRequest(
            id=first_id(deployment, kind),
            project=project,
            deployment=deployment,
            type=kind,
            scheduled=now + nth * _APART_SECONDS,
            origin=RequestOrigin.FIRST,
        )
        for nth, kind in enumerate(sorted(set(types) - NEVER_REQUESTED, key=_order))
    ]


def _order(kind: ProfileType) -> tuple[bool, bool, str]:
    return kind is not ProfileType.CPU, kind not in INSTANTANEOUS, kind
