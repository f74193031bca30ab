"""Deployments that queries name and filter by, each read from the database once per snapshot."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from profiles.queries.context import QueryContext
from profiles.queries.selection import ProfileSelection
from projects.models import Deployment
from projects.models.deployment import first_profile


def get_deployments(context: QueryContext) -> Sequence[Deployment]:
    """Return all deployments of the project, the newest first, by the time of their profiles."""

    def load() -> list[Deployment]:
        rows = Deployment.objects.filter(project=context.project)
        deployments = list(rows.order_by(first_profile().desc(), "-pk"))
        _get_cache(context).update((each.pk, each) for each in deployments)
        return deployments

    return context.snapshot.once(_key(context), load)


def deployments_by_pk(context: QueryContext, pks: Iterable[int]) -> Mapping[int, Deployment]:
    """Return the deployments with these pks, without those that have been deleted."""
    pks, by_pk = set(pks), _get_cache(context)
    missing = pks - set(by_pk)
    if missing:
        rows = Deployment.objects.filter(project=context.project).in_bulk(missing)
        by_pk.update((pk, rows.get(pk)) for pk in missing)
    return {pk: each for pk in pks if (each := by_pk[pk]) is not None}


def matching_deployments(context: QueryContext, selection: ProfileSelection) -> NDArray[np.int64]:
    """Return Deployment.pk of the selection's service, zones and versions; empty ones mean any."""

    def load() -> NDArray[np.int64]:
        all_of_project: Sequence[Deployment] | None = context.snapshot.get_cached(_key(context))
        if all_of_project is not None:
            pks = [
                each.pk
                for each in all_of_project
                if (not selection.service or each.service == selection.service)
                and (not selection.zones or each.zone in selection.zones)
                and (not selection.versions or each.version in selection.versions)
            ]
            return np.array(pks, np.int64)
        values = {
            "service": selection.service,
            "zone__in": selection.zones,
            "version__in": selection.versions,
        }
        given = {name: value for name, value in values.items() if value}
        rows = Deployment.objects.filter(project=context.project, **given)
        return np.array(rows.values_list("pk", flat=True), np.int64)

    return context.snapshot.once(
        ("deployments", selection.service, selection.zones, selection.versions), load
    )


def _key(context: QueryContext) -> tuple[str, int]:
    return "deployments of", context.project


def _get_cache(context: QueryContext) -> dict[int, Deployment | None]:
    """Return the snapshot's mutable cache of deployments by pk; None: deleted."""
    return context.snapshot.once("deployments", dict)
