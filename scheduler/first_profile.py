"""Immediate capture requests of a deployment: for its first profiles, and after a quota."""

import time
from collections.abc import Iterable
from dataclasses import replace

from projects.profile_types import INSTANTANEOUS, NEVER_REQUESTED, ProfileType
from scheduler.capture_requests import (
    CaptureRequest,
    RequestOrigin,
    after_quota_id,
    first_id,
)
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


async def request_profiles_after_quota(
    queue: LongPollQueue, project: int, deployment: int, types: Iterable[ProfileType]
) -> None:
    """Add a capture request for each type of a deployment that a quota kept away.

    Otherwise it would wait for the next plan, and then for a random time of that minute.
    """
    if not await is_stopped(project):
        now = time.time()
        requests = first_requests(project, deployment, types, now)
        queue.add_requests(
            [replace(each, id=after_quota_id(deployment, each.type, now)) for each in requests]
        )


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
