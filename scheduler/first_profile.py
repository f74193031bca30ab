"""The first profile of a deployment and type comes at once; newcomers do not wait for the plan."""

import time
from collections.abc import Iterable

from projects.profile_types import INSTANTANEOUS, NEVER_ASKED, ProfileType
from scheduler.rates import is_stopped
from scheduler.slots import Origin, Slot, first_id
from scheduler.waiting_room.interface import WaitingRoom

_APART_SECONDS = 3.0


async def ask(
    room: WaitingRoom, project: int, deployment: int, types: Iterable[ProfileType]
) -> None:
    """Have these types captured, a few seconds apart, unless the project is stopped.

    Asking again before they are over does nothing.
    """
    if not await is_stopped(project):
        room.add_slots(first_slots(project, deployment, types, time.time()))


def first_slots(
    project: int, deployment: int, types: Iterable[ProfileType], now: float
) -> list[Slot]:
    """CPU first, for that is what people look for; then what takes no time; then the rest."""
    return [
        Slot(
            id=first_id(deployment, kind),
            project=project,
            deployment=deployment,
            type=kind,
            moment=now + nth * _APART_SECONDS,
            origin=Origin.FIRST,
        )
        for nth, kind in enumerate(sorted(set(types) - NEVER_ASKED, key=_order))
    ]


def _order(kind: ProfileType) -> tuple[bool, bool, str]:
    return kind is not ProfileType.CPU, kind not in INSTANTANEOUS, kind
