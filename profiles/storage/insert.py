"""Insert profiles into the head, each name once, and update usage and profile types with them."""

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db import DataError, IntegrityError, OperationalError, transaction

from common.cache import Cache
from profiles.models import Profile
from profiles.storage.deduplication import (
    BlocksUnread,
    Conflict,
    find_copies,
    may_be_elsewhere,
    require_same,
)
from profiles.storage.insert_statements import Name, add_usage, delete_profiles, insert_profiles
from profiles.storage.new_profile import Copy, NewProfile
from projects.models import Deployment
from projects.usage.day_usage import utc_day

log = logging.getLogger(__name__)


class Rejected(Exception):
    """The database rejects this profile alone, for example because its project was deleted."""


class Unstorable(Exception):
    """The database cannot represent a value of this profile."""


# True: stored. False: stored already.
InsertOutcome = bool | BlocksUnread | Conflict | Rejected | Unstorable
Copies = dict[Name, Copy | BlocksUnread]

# Errors that the database or its driver raises for the values of one row: a text with a NUL or a
# lone surrogate, a number that is too large. All other errors concern the database itself.
_VALUE_ERRORS = (DataError, ValueError, OverflowError, TypeError)


def insert(batch: Sequence[NewProfile], *, search_blocks: bool = False) -> list[InsertOutcome]:
    """Store the new profiles of a batch in one commit and return an outcome for each profile.

    True means stored, False that the same bytes were stored already. With `search_blocks`, copies
    are found not only in the head but also in blocks; BlocksUnread
    means that blocks have to be read for that, and that the profile is not stored. If a profile
    makes the commit fail, the batch is bisected: a bad profile fails alone and costs its batch
    O(log n) commits instead of n.
    """
    try:
        with transaction.atomic():
            outcomes = _insert_new(batch, search_blocks)
        _cache_deployments(
            new for new, outcome in zip(batch, outcomes, strict=True) if outcome is True
        )
        return outcomes
    except IntegrityError:
        if len(batch) == 1:
            return [_constraint_outcome(batch[0])]
    except _VALUE_ERRORS as error:
        if len(batch) == 1:
            log.warning("Profile %s cannot be stored: %s", batch[0].name_id, error)
            return [Unstorable(f"The database cannot store a value of this profile: {error}")]
    middle = len(batch) // 2
    halves = batch[:middle], batch[middle:]
    return [outcome for half in halves for outcome in insert(half, search_blocks=search_blocks)]


def insert_once(batch: Sequence[NewProfile]) -> list[InsertOutcome]:
    """Store the profiles of a batch that are neither in the head nor in a block; see `insert`."""
    return insert(batch, search_blocks=True)


def _constraint_outcome(new: NewProfile) -> InsertOutcome:
    """Return the outcome of a profile that violates a constraint.

    Rejected, unless a concurrent insert has stored the same name: then it is compared with that.
    """
    copies = _copies_in_head([new])
    if _name(new) not in copies:
        return Rejected(f"The database rejected profile {new.name_id}.")
    return _compare(copies, new)


def _insert_new(batch: Sequence[NewProfile], search_blocks: bool) -> list[InsertOutcome]:
    first: dict[Name, int] = {}  # index of the first profile of each name in the batch
    for index, new in enumerate(batch):
        first.setdefault(_name(new), index)
    distinct = [batch[index] for index in first.values()]
    added = insert_profiles(distinct)
    copies = _find_copies(distinct, added, search_blocks)
    if compacted := [name for name in added if name in copies]:
        delete_profiles(compacted)
    stored = [new for new in distinct if _name(new) in added and _name(new) not in copies]
    if stored:
        _count_usage(stored)
        _note_deployments(stored)
    # For repetitions in the batch.
    copies |= {_name(new): Copy(new.name_id, new.content.body_hash) for new in stored}
    new_ones = {first[_name(new)] for new in stored}
    return [index in new_ones or _compare(copies, new) for index, new in enumerate(batch)]


def _find_copies(
    profiles: Sequence[NewProfile], added: Collection[Name], search_blocks: bool
) -> Copies:
    """Return the stored copies of the profiles, of which those of `added` were just inserted.

    The blocks are searched for copies after the head, so that a copy which compaction moves
    meanwhile is found in one of them.
    """
    copies: Copies = {}
    if len(added) < len(profiles):
        copies |= _copies_in_head([new for new in profiles if _name(new) not in added])
    if not search_blocks:
        return copies
    searched = [new for new in profiles if _name(new) not in copies and may_be_elsewhere(new)]
    return copies | find_copies(searched) if searched else copies


def _name(new: NewProfile) -> Name:
    return new.project, new.name_id


def _copies_in_head(batch: Sequence[NewProfile]) -> Copies:
    """Return the copies of those profiles of the batch whose names are in the head."""
    rows = Profile.objects.filter(
        project__in={new.project for new in batch}, name_id__in={new.name_id for new in batch}
    ).values_list("project_id", "name_id", "body_hash")
    return {
        (project, name_id): Copy(name_id, bytes(body_hash)) for project, name_id, body_hash in rows
    }


def _compare(copies: Copies, new: NewProfile) -> InsertOutcome:
    copy = copies.get(_name(new))
    if copy is None:
        raise OperationalError(
            f"Profile {new.name_id} was deleted during the check for duplicates."
        )
    if isinstance(copy, BlocksUnread):
        return BlocksUnread(new, copy.blocks)
    try:
        require_same(copy, new)
    except Conflict as conflict:
        return conflict
    return False


def _count_usage(stored: Sequence[NewProfile]) -> None:
    """Add profiles and bytes to today's usage of each project."""
    usage: dict[int, tuple[int, int]] = {}
    for new in stored:
        profiles, size = usage.get(new.project, (0, 0))
        usage[new.project] = profiles + 1, size + len(new.content.tree)
    add_usage(utc_day(), usage)


def _note_deployments(stored: Sequence[NewProfile]) -> None:
    """Add new types to `Deployment.profiled`, and set `first_profile` to an earlier time."""
    types: dict[int, set[str]] = {}
    firsts: dict[int, datetime] = {}
    for new in stored:
        pk = new.deployment
        first = _recorded_firsts.get(pk)
        if first is None or new.time < first or not _recorded_types.get((pk, new.type)):
            types.setdefault(pk, set()).add(new.type)
            firsts[pk] = min(new.time, firsts.get(pk, new.time))
    if not types:
        return
    rows = Deployment.objects.filter(pk__in=types).values_list("pk", "profiled", "first_profile")
    changed = sorted(
        pk
        for pk, profiled, first in rows
        if types[pk] - set(profiled) or first is None or firsts[pk] < first
    )
    for row in Deployment.objects.select_for_update().filter(pk__in=changed).order_by("pk"):
        row.profiled = sorted({*row.profiled, *types[row.pk]})
        row.first_profile = min(firsts[row.pk], row.first_profile or firsts[row.pk])
        row.save(update_fields=["profiled", "first_profile"])


def _cache_deployments(committed: Iterable[NewProfile]) -> None:
    """Cache what the rows of deployments have of profiles whose commit succeeded."""
    for new in committed:
        _recorded_types.put((new.deployment, new.type), True)
        first = _recorded_firsts.get(new.deployment)
        _recorded_firsts.put(new.deployment, new.time if first is None else min(first, new.time))


# (deployment, type) pairs known to be in Deployment.profiled. Types are only ever added to a
# deployment, so that cached pairs stay valid.
_recorded_types: Cache[tuple[int, str], bool] = Cache(size=100_000, seconds=3600.0)
# By Deployment.pk: a time that is not before its first_profile, which only ever decreases.
_recorded_firsts: Cache[int, datetime] = Cache(size=100_000, seconds=3600.0)
