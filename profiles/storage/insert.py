"""Insert profiles into the head, each name once, and update usage and profile types with them."""

import logging
from collections.abc import Iterable, Mapping, Sequence

from django.db import DataError, IntegrityError, OperationalError, transaction

from common.bounded_cache import BoundedCache
from profiles.models import Profile
from profiles.storage.insert_statements import Name, add_usage, insert_profiles
from profiles.storage.new_profile import NewProfile
from projects.models import Deployment
from projects.usage.day_usage import utc_day

log = logging.getLogger(__name__)


class Conflict(Exception):
    """Another profile, made of other bytes, is stored under this name."""


class Rejected(Exception):
    """The database rejects this profile alone, for example because its project was deleted."""


class Unstorable(Exception):
    """The database cannot represent a value of this profile."""


Outcome = bool | Conflict | Rejected | Unstorable

# Errors that the database or its driver raises for the values of one row: a text with a NUL or a
# lone surrogate, a number that is too large. All other errors concern the database itself.
_VALUE_ERRORS = (DataError, ValueError, OverflowError, TypeError)


def insert(batch: Sequence[NewProfile]) -> list[Outcome]:
    """Store the new profiles of a batch in one commit and return an outcome for each profile.

    True means stored, False that the same bytes were stored already. If a profile makes the commit
    fail, the batch is bisected: a bad profile fails alone and costs its batch O(log n) commits
    instead of n.
    """
    try:
        with transaction.atomic():
            outcomes = _insert_new(batch)
        _cache_types(new for new, done in zip(batch, outcomes, strict=True) if done is True)
        return outcomes
    except IntegrityError:
        if len(batch) == 1:
            return [_constraint_outcome(batch[0])]
    except _VALUE_ERRORS as error:
        if len(batch) == 1:
            log.warning("Profile %s cannot be stored: %s", batch[0].name_id, error)
            return [Unstorable(f"The database cannot store a value of this profile: {error}")]
    middle = len(batch) // 2
    return [*insert(batch[:middle]), *insert(batch[middle:])]


def _constraint_outcome(new: NewProfile) -> Outcome:
    """Return the outcome of a profile that violates a constraint.

    Rejected, unless a concurrent insert has stored the same name: then it is compared with that.
    """
    stored_hashes = _stored_hashes([new])
    if _name(new) not in stored_hashes:
        return Rejected(f"The database rejected profile {new.name_id}.")
    return _compared(stored_hashes, new)


def _insert_new(batch: Sequence[NewProfile]) -> list[Outcome]:
    first: dict[Name, int] = {}  # index of the first profile of each name in the batch
    for at, new in enumerate(batch):
        first.setdefault(_name(new), at)
    added = insert_profiles([batch[at] for at in first.values()])
    stored = [batch[first[name]] for name in first if name in added]
    stored_hashes = {_name(new): new.body_hash for new in stored}
    if len(added) < len(first):
        stored_hashes |= _stored_hashes(
            batch[at] for name, at in first.items() if name not in added
        )
    if stored:
        _count(stored)
        _note_types(stored)
    return [
        (at == first[_name(new)] and _name(new) in added) or _compared(stored_hashes, new)
        for at, new in enumerate(batch)
    ]


def _name(new: NewProfile) -> Name:
    return new.project, new.name_id


def _stored_hashes(batch: Iterable[NewProfile]) -> dict[Name, bytes]:
    """Return the body hashes of those profiles of the batch whose names are in the head."""
    batch = list(batch)
    rows = Profile.objects.filter(
        project__in={new.project for new in batch}, name_id__in={new.name_id for new in batch}
    ).values_list("project_id", "name_id", "body_hash")
    return {(project, name_id): bytes(body_hash) for project, name_id, body_hash in rows}


def _compared(stored_hashes: Mapping[Name, bytes], new: NewProfile) -> Outcome:
    stored_hash = stored_hashes.get(_name(new))
    if stored_hash is None:
        raise OperationalError(
            f"Profile {new.name_id} was deleted during the check for duplicates."
        )
    try:
        return not same(stored_hash, new)
    except Conflict as conflict:
        return conflict


def same(stored_hash: bytes, new: NewProfile) -> bool:
    """Return True if the stored profile has the same bytes; raise Conflict otherwise."""
    if stored_hash != new.body_hash:
        raise Conflict(f"Profile {new.name_id} is already stored with different content.")
    return True


def _count(stored: Sequence[NewProfile]) -> None:
    """Add profiles and bytes to today's usage of each project."""
    usage: dict[int, tuple[int, int]] = {}
    for new in stored:
        profiles, size = usage.get(new.project, (0, 0))
        usage[new.project] = profiles + 1, size + len(new.tree)
    add_usage(utc_day(), usage)


def _note_types(stored: Sequence[NewProfile]) -> None:
    """Add the profile types to `Deployment.profiled` where they are new."""
    types: dict[int, set[str]] = {}
    for new in stored:
        if not _recorded_types.get((new.deployment, new.type)):
            types.setdefault(new.deployment, set()).add(new.type)
    if not types:
        return
    rows = Deployment.objects.filter(pk__in=types).values_list("pk", "profiled")
    missing = sorted(pk for pk, profiled in rows if types[pk] - set(profiled))
    for deployment in Deployment.objects.select_for_update().filter(pk__in=missing).order_by("pk"):
        deployment.profiled = sorted({*deployment.profiled, *types[deployment.pk]})
        deployment.save(update_fields=["profiled"])


def _cache_types(committed: Iterable[NewProfile]) -> None:
    """Cache the types of profiles whose commit succeeded."""
    for new in committed:
        _recorded_types.put((new.deployment, new.type), True)


# (deployment, type) pairs known to be in Deployment.profiled. Types are only ever added to a
# deployment, so that cached pairs stay valid.
_recorded_types: BoundedCache[tuple[int, str], bool] = BoundedCache(size=100_000, seconds=3600.0)
