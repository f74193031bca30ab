"""Profiles as a list, newest first, page by page: what ListProfiles answers from."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import QuerySet

from profiles.micros import moment
from profiles.models import Block, Level, Profile
from profiles.queries.asked import ProfileOrder, Selection, Unanswerable
from profiles.queries.block_rows import rows_of
from profiles.queries.known_deployments import deployments
from profiles.queries.located import BlockPart, in_rows
from profiles.queries.page import Found, Key, mark_of, next_in_blocks, next_in_head, read_mark
from profiles.queries.used import Used
from profiles.queries.wanted import wanted
from profiles.store.snapshot import snapshot
from projects.models import Deployment
from projects.profile_types import ProfileType

_EVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class BadMark(Exception):
    """No page of this list ended so."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which profiles of one project; what is empty does not restrict."""

    project: int  # Project.pk
    service: str = ""
    type: ProfileType | None = None
    zone: str = ""
    version: str = ""
    start: datetime | None = None  # start <= time < end
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One of a list; `deployment` is None if it was deleted since."""

    profile: Found
    deployment: Deployment | None

    @property
    def mark(self) -> str:
        return mark_of(self.profile.key)


def page(which: Wanted, size: int, mark: str = "") -> list[Listed]:
    """At most `size`, newest first; `mark` is that of the last one of the page before.

    What comes in meanwhile neither shifts nor repeats what follows. For code that may block.
    """
    try:
        behind = read_mark(mark)
    except Unanswerable as error:
        raise BadMark(str(error)) from None
    with snapshot():
        found = next_in_head(_head(which), ProfileOrder.NEWEST, behind, size)
        # Blocks that are older than a full page have nothing to add to it.
        oldest = found[-1].time if len(found) == size else None
        blocks = _in_blocks(which, behind, oldest)
        found += next_in_blocks(blocks, ProfileOrder.NEWEST, behind, size, Used())
        shown = sorted(found, reverse=True)[:size]
        known = deployments(each.deployment for each in shown)
    return [Listed(each, known.get(each.deployment)) for each in shown]


def _head(which: Wanted) -> QuerySet[Profile]:
    restrictions = {
        "service": which.service,
        "type": which.type,
        "deployment__zone": which.zone,
        "deployment__version": which.version,
        "time__gte": which.start,
        "time__lt": which.end,
    }
    given = {name: value for name, value in restrictions.items() if value}
    return Profile.objects.filter(project=which.project, **given)


def _in_blocks(which: Wanted, behind: Key | None, oldest: datetime | None) -> Iterator[BlockPart]:
    """In order of their last profile; opened one by one, as they are needed."""
    restrictions = {
        "service": which.service,
        "type": which.type,
        "last__gte": max(filter(None, [which.start, oldest]), default=None),
        "first__lt": which.end,
        "first__lte": behind and moment(behind[1]),
    }
    given = {name: value for name, value in restrictions.items() if value}
    rows = Block.objects.filter(project=which.project, level=Level.HOUR, **given)
    return in_rows(wanted(_selection(which)), rows_of(rows.order_by("-last")))


def _selection(which: Wanted) -> Selection:
    return Selection(
        which.project,
        which.service,
        which.type or ProfileType.CPU,  # of which rows were chosen already
        which.start or _EVER[0],
        which.end or _EVER[1],
        zones=(which.zone,) if which.zone else (),
        versions=(which.version,) if which.version else (),
    )
