"""Paginated list of a project's profiles, newest first, for the ListProfiles API."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import QuerySet

from profiles.engine.timestamps import to_datetime
from profiles.models import Block, Profile, Resolution
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.exports import ExportFormat, run_export
from profiles.queries.plan import read_block_rows, row_filter
from profiles.queries.reports.profile_page import (
    Key,
    ProfileEntry,
    format_mark,
    next_in_blocks,
    next_in_head,
    read_mark,
)
from profiles.queries.scan_input import block_inputs
from profiles.queries.selection import InvalidQuery, ProfileOrder, ProfileSelection, View
from projects.models import Deployment
from projects.profile_types import ProfileType

# Bytes of the profiles of one page: with the other fields they stay below 4 MiB, the limit of a
# message that gRPC's clients have by default. A page has one profile at least.
MAX_EXPORT_BYTES = 3 * 2**20
# Share of the time until the deadline of a query in which a page takes further profiles.
_EXPORT_TIME_SHARE = 0.5
_MICROSECOND = timedelta(microseconds=1)
_EVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class InvalidPageToken(Exception):
    """Invalid page token: not the mark of any profile."""


@dataclass(frozen=True, slots=True)
class ProfileListing:
    """Filter for the profiles of one project; an empty field does not restrict the list."""

    project: int  # Project.pk
    service: str = ""
    type: ProfileType | None = None
    zone: str = ""
    version: str = ""
    start: datetime | None = None  # start <= time < end
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedProfile:
    """Profile in a list; `deployment` is None if the deployment has been deleted."""

    profile: ProfileEntry
    deployment: Deployment | None

    @property
    def mark(self) -> str:
        return format_mark(self.profile.key)


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Page of profiles with their bytes."""

    profiles: list[tuple[ListedProfile, bytes]]  # each with a gzipped pprof
    skipped: int  # profiles that cannot be read
    mark: str  # for the next page; "" if this is the last one


def export_page(
    context: QueryContext, listing: ProfileListing, size: int, mark: str = ""
) -> ExportPage:
    """Return a page with the bytes of at most `size` profiles, and at most MAX_EXPORT_BYTES.

    The page ends early if half of the time until the deadline has passed. Raise as `page` does.
    """
    now = time.monotonic()
    left = max(0.0, (context.deadline or now) - now)
    last_start = now + left * _EXPORT_TIME_SHARE if context.deadline else float("inf")
    found = page(context, listing, size + 1, mark)
    profiles: list[tuple[ListedProfile, bytes]] = []
    skipped = total = done = 0
    for listed in found[:size]:
        if done and time.monotonic() > last_start:
            break
        data = _pprof(context, listing.project, listed)
        if data is not None and profiles and total + len(data) > MAX_EXPORT_BYTES:
            break
        done += 1
        if data is None:
            skipped += 1
        else:
            profiles.append((listed, data))
            total += len(data)
    return ExportPage(profiles, skipped, found[done - 1].mark if done < len(found) else "")


def _pprof(context: QueryContext, project: int, listed: ListedProfile) -> bytes | None:
    """Return a profile as a gzipped pprof, None if it cannot be read."""
    entry = listed.profile
    selection = ProfileSelection(
        project,
        entry.service,
        ProfileType(entry.type),
        entry.time,
        entry.time + _MICROSECOND,
        profile=entry.name_id,
    )
    try:
        file = run_export(context, selection, View(), ExportFormat.PPROF)
    except InvalidQuery:
        return None
    return None if file.left_out else file.data


def page(
    context: QueryContext, listing: ProfileListing, size: int, mark: str = ""
) -> list[ListedProfile]:
    """Return a page of at most `size` profiles, newest first.

    `mark` is the `ListedProfile.mark` of the last profile of the previous page, empty for the
    first page. Profiles that arrive between two requests neither shift nor repeat later pages.
    Raise InvalidPageToken for any other text. Blocks on the database and on blob reads.
    """
    try:
        behind = read_mark(mark)
    except InvalidQuery as error:
        raise InvalidPageToken(str(error)) from None
    with context.snapshot:
        entries = next_in_head(_head(context, listing), ProfileOrder.NEWEST, behind, size)
        # Once the head fills the page, older blocks cannot contribute to it.
        oldest = entries[-1].time if len(entries) == size else None
        blocks = _blocks(context, listing, behind, oldest)
        rows = read_block_rows(blocks)
        inputs = block_inputs(context, row_filter(context, _selection(listing)), rows)
        entries += next_in_blocks(context, inputs, ProfileOrder.NEWEST, behind, size)
        entries = sorted(entries, reverse=True)[:size]
        by_pk = deployments_by_pk(context, (each.deployment for each in entries))
    return [ListedProfile(each, by_pk.get(each.deployment)) for each in entries]


def _head(context: QueryContext, listing: ProfileListing) -> QuerySet[Profile]:
    restrictions = {
        "service": listing.service,
        "type": listing.type,
        "deployment__zone": listing.zone,
        "deployment__version": listing.version,
        "time__gte": listing.start,
        "time__lt": listing.end,
    }
    given = {name: value for name, value in restrictions.items() if value}
    allowed = context.services.condition("service")
    return Profile.objects.filter(allowed, project=listing.project, **given)


def _blocks(
    context: QueryContext, listing: ProfileListing, behind: Key | None, oldest: datetime | None
) -> QuerySet[Block]:
    """Return the hour blocks by latest profile, newest first."""
    restrictions = {
        "service": listing.service,
        "type": listing.type,
        "last__gte": max(filter(None, [listing.start, oldest]), default=None),
        "first__lt": listing.end,
        "first__lte": behind and to_datetime(behind[1]),
    }
    given = {name: value for name, value in restrictions.items() if value}
    allowed = context.services.condition("service")
    rows = Block.objects.filter(
        allowed, project=listing.project, resolution=Resolution.PROFILE, **given
    )
    return rows.order_by("-last", "pk")


def _selection(listing: ProfileListing) -> ProfileSelection:
    return ProfileSelection(
        listing.project,
        listing.service,
        listing.type or ProfileType.CPU,  # has no effect: `_open_blocks` has filtered by type
        listing.start or _EVER[0],
        listing.end or _EVER[1],
        zones=(listing.zone,) if listing.zone else (),
        versions=(listing.version,) if listing.version else (),
    )
