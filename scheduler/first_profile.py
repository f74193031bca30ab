"""The first profile of a deployment and type comes at once; newcomers do not wait for the plan."""

import time
from collections.abc import Iterable

from projects.profile_types import INSTANTANEOUS, NEVER_ASKED, ProfileType
from scheduler.capture_requests import CaptureRequest, RequestOrigin, first_id
from scheduler.long_poll.interface import LongPollQueue
from scheduler.rates import is_stopped

_APART_SECONDS = 3.0


async def request_first_profiles(
    room: LongPollQueue, project: int, deployment: int, types: Iterable[ProfileType]
) -> None:
    """Have these types captured, a few seconds apart, unless the project is stopped.

    Asking again before they are over does nothing.
    """
    if not await is_stopped(project):
        room.add_slots(first_requests(project, deployment, types, time.time()))


def first_requests(
    project: int, deployment: int, types: Iterable[ProfileType], now: float
) -> list[CaptureRequest]:
    """CPU first, for that is what people look for; then what takes no time; then the rest."""
    return [
        CaptureRequest(
            id=first_id(deployment, kind),
            project=project,
            deployment=deployment,
            type=kind,
            moment=now + nth * _APART_SECONDS,
            origin=RequestOrigin.FIRST,
        )
        for nth, kind in enumerate(sorted(set(types) - NEVER_ASKED, key=_order))
    ]


def _order(kind: ProfileType) -> tuple[bool, bool, str]:
    return kind is not ProfileType.CPU, kind not in INSTANTANEOUS, kind
