"""Profiles as a list, newest first, page by page: what ListProfiles answers from."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import QuerySet

from profiles.models import Block, BlockLevel, Profile
from profiles.queries.planning.block_index import rows_of
from profiles.queries.planning.block_masks import block_selection
from profiles.queries.planning.deployment_names import deployments
from profiles.queries.planning.plan import BlockPart, in_rows
from profiles.queries.reports.profile_page import (
    Key,
    ProfileEntry,
    mark_of,
    next_in_blocks,
    next_in_head,
    read_mark,
)
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import InvalidQuery, ProfileOrder, Selection
from profiles.storage.snapshot import snapshot
from profiles.timestamps import moment
from projects.models import Deployment
from projects.profile_types import ProfileType

_EVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class InvalidPageToken(Exception):
    """No page of this list ended so."""


@dataclass(frozen=True, slots=True)
class ProfileListing:
    """Which profiles of one project; what is empty does not restrict."""

    project: int  # Project.pk
    service: str = ""
    type: ProfileType | None = None
    zone: str = ""
    version: str = ""
    start: datetime | None = None  # start <= time < end
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedProfile:
    """One of a list; `deployment` is None if it was deleted since."""

    profile: ProfileEntry
    deployment: Deployment | None

    @property
    def mark(self) -> str:
        return mark_of(self.profile.key)


def page(which: ProfileListing, size: int, mark: str = "") -> list[ListedProfile]:
    """At most `size`, newest first; `mark` is that of the last one of the page before.

    What comes in meanwhile neither shifts nor repeats what follows. For code that may block.
    """
    try:
        behind = read_mark(mark)
    except InvalidQuery as error:
        raise InvalidPageToken(str(error)) from None
    with snapshot():
        found = next_in_head(_head(which), ProfileOrder.NEWEST, behind, size)
        # Blocks that are older than a full page have nothing to add to it.
        oldest = found[-1].time if len(found) == size else None
        blocks = _in_blocks(which, behind, oldest)
        found += next_in_blocks(blocks, ProfileOrder.NEWEST, behind, size, ScanStats())
        shown = sorted(found, reverse=True)[:size]
        known = deployments(each.deployment for each in shown)
    return [ListedProfile(each, known.get(each.deployment)) for each in shown]


def _head(which: ProfileListing) -> QuerySet[Profile]:
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


def _in_blocks(
    which: ProfileListing, behind: Key | None, oldest: datetime | None
) -> Iterator[BlockPart]:
    """In order of their last profile; opened one by one, as they are needed."""
    restrictions = {
        "service": which.service,
        "type": which.type,
        "last__gte": max(filter(None, [which.start, oldest]), default=None),
        "first__lt": which.end,
        "first__lte": behind and moment(behind[1]),
    }
    given = {name: value for name, value in restrictions.items() if value}
    rows = Block.objects.filter(project=which.project, level=BlockLevel.HOUR, **given)
    return in_rows(block_selection(_selection(which)), rows_of(rows.order_by("-last")))


def _selection(which: ProfileListing) -> Selection:
    return Selection(
        which.project,
        which.service,
        which.type or ProfileType.CPU,  # of which rows were chosen already
        which.start or _EVER[0],
        which.end or _EVER[1],
        zones=(which.zone,) if which.zone else (),
        versions=(which.version,) if which.version else (),
    )
