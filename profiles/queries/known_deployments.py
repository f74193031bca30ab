"""Deployments by their primary keys, each read once in a snapshot."""

from collections.abc import Iterable, Mapping

from profiles.store.snapshot import once
from projects.models import Deployment


def deployments(pks: Iterable[int]) -> Mapping[int, Deployment]:
    """These, and perhaps others; those that were deleted are not among them."""
    known: dict[int, Deployment | None] = once("deployments", dict)
    missing = set(pks) - set(known)
    if missing:
        found = Deployment.objects.in_bulk(missing)
        known.update((pk, found.get(pk)) for pk in missing)
    return {pk: deployment for pk, deployment in known.items() if deployment is not None}
