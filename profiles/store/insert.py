"""Insert: profiles become head rows, each once, with the counters that belong to them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from profiles.models import Profile
from profiles.store.new_profile import NewProfile
from projects.bounded_cache import BoundedCache
from projects.models import DayUsage, Deployment


class Conflict(Exception):
    """A profile of this name is stored already, made of other bytes."""


class Rejected(Exception):
    """The database takes everything else, but not this profile (its project is gone, say)."""


Outcome = bool | Conflict | Rejected
Name = tuple[int, str]  # project, name_id


def insert(batch: Sequence[NewProfile]) -> list[Outcome]:
    """Store what is new in one commit: True stored, False the same was there already.

    Should the commit be refused, each profile gets one of its own, so that a bad one fails alone.
    """
    try:
        with transaction.atomic():
            outcomes = _insert_new(batch)
        _remember_types(new for new, done in zip(batch, outcomes, strict=True) if done is True)
        return outcomes
    except IntegrityError:
        if len(batch) == 1:
            return [_refused(batch[0])]
    return [outcome for new in batch for outcome in insert([new])]


def _refused(new: NewProfile) -> Outcome:
    """What to say of a profile that the database refused: it may have lost a race."""
    known = _known([new])
    if (new.project, new.name_id) not in known:
        return Rejected(f"The database refused profile {new.name_id}.")
    return _compared(known[new.project, new.name_id], new.body_hash, new)


def _insert_new(batch: Sequence[NewProfile]) -> list[Outcome]:
    known = _known(batch)
    outcomes: list[Outcome] = []
    stored: list[NewProfile] = []
    for new in batch:
        name = (new.project, new.name_id)
        if name in known:
            outcomes.append(_compared(known[name], new.body_hash, new))
            continue
        known[name] = new.body_hash
        stored.append(new)
        outcomes.append(True)
    Profile.objects.bulk_create([_row(new) for new in stored])
    _count(stored)
    _note_types(stored)
    return outcomes


def _known(batch: Iterable[NewProfile]) -> dict[Name, bytes]:
    """Hashes of those names of the batch that are stored already."""
    rows = Profile.objects.filter(
        project__in={new.project for new in batch}, name_id__in={new.name_id for new in batch}
    ).values_list("project_id", "name_id", "body_hash")
    return {(project, name_id): bytes(body_hash) for project, name_id, body_hash in rows}


def _compared(stored_hash: bytes, body_hash: bytes, new: NewProfile) -> Outcome:
    if stored_hash == body_hash:
        return False
    return Conflict(f"Profile {new.name_id} is stored already, made of other bytes.")


def _row(new: NewProfile) -> Profile:
    return Profile(
        project_id=new.project,
        deployment_id=new.deployment,
        agent_id=new.agent,
        service=new.service,
        type=new.type,
        time=new.time,
        time_source=new.time_source,
        duration_ns=new.duration_ns,
        labels=new.labels,
        name_id=new.name_id,
        body_hash=new.body_hash,
        samples=new.samples,
        weight=new.weight,
        totals=new.totals,
        tree=new.tree,
    )


def _count(stored: Sequence[NewProfile]) -> None:
    """Add to the usage of the projects today; in order of project, against deadlocks."""
    day = timezone.now().date()
    profiles = Counter(new.project for new in stored)
    for project in sorted(profiles):
        size = sum(len(new.tree) for new in stored if new.project == project)
        more = {"profiles": F("profiles") + profiles[project]}
        more["stored_bytes"] = F("stored_bytes") + size
        usage = DayUsage.objects.filter(project_id=project, day=day)
        if not usage.update(**more):  # the day's first
            DayUsage.objects.get_or_create(project_id=project, day=day)
            usage.update(**more)


def _note_types(stored: Sequence[NewProfile]) -> None:
    """Enter types that a deployment has its first profile of."""
    types: dict[int, set[str]] = {}
    for new in stored:
        if not _entered.peek((new.deployment, new.type)):
            types.setdefault(new.deployment, set()).add(new.type)
    if not types:
        return
    rows = Deployment.objects.filter(pk__in=types).values_list("pk", "profiled")
    missing = sorted(pk for pk, profiled in rows if types[pk] - set(profiled))
    for deployment in Deployment.objects.select_for_update().filter(pk__in=missing).order_by("pk"):
        deployment.profiled = sorted({*deployment.profiled, *types[deployment.pk]})
        deployment.save(update_fields=["profiled"])


def _remember_types(committed: Iterable[NewProfile]) -> None:
    for new in committed:
        _entered.keep((new.deployment, new.type), True)


# What no commit need look at again; types are only ever added to a deployment.
_entered: BoundedCache[tuple[int, str], bool] = BoundedCache(size=100_000, seconds=3600.0)
