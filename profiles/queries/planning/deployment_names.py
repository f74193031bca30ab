"""Deployments, each read from the database once per snapshot."""

from collections.abc import Iterable, Mapping, Sequence

from profiles.storage.snapshot import answered, once
from projects.models import Deployment


def deployments(pks: Iterable[int]) -> Mapping[int, Deployment]:
    """Return the deployments with these pks, without those that have been deleted."""
    wanted, known = set(pks), _known()
    missing = wanted - set(known)
    if missing:
        found = Deployment.objects.in_bulk(missing)
        known.update((pk, found.get(pk)) for pk in missing)
    return {pk: each for pk in wanted if (each := known[pk]) is not None}


def deployments_of(project: int) -> Sequence[Deployment]:
    """Return all deployments of a project, the newest first."""
    return once(("deployments of", project), lambda: _read(project))


def deployments_at_hand(project: int) -> Sequence[Deployment] | None:
    """Return all deployments of a project if this snapshot has read them already, or None."""
    found: Sequence[Deployment] | None = answered(("deployments of", project))
    return found


def _read(project: int) -> list[Deployment]:
    found = list(Deployment.objects.filter(project=project).order_by("-first_seen", "-pk"))
    _known().update((deployment.pk, deployment) for deployment in found)
    return found


def _known() -> dict[int, Deployment | None]:
    """Return the snapshot's mutable cache of deployments by pk; None: deleted."""
    return once("deployments", dict)
