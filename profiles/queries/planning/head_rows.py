"""Head rows of a selection."""

from math import ceil

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from profiles.models import Profile
from profiles.queries.planning import head_statements as statements
from profiles.queries.planning.head_statements import HeadRange, Totals
from profiles.queries.selection import Selection
from profiles.storage.round_trip import SelectStatement, execute
from profiles.storage.snapshot import once

LOOKED_AT = 50  # newest profiles to read metrics from: a service's metrics rarely change


def head_of(selection: Selection) -> QuerySet[Profile]:
    """Return `unweighted(selection)`, or an empty queryset without SQL if it has no rows."""
    return unweighted(selection) if newest_totals(selection) else Profile.objects.none()


def of_newest(selection: Selection) -> SelectStatement[list[Totals]]:
    """Build the statement for the totals of the newest profiles in the head.

    It considers the selection's range, service and type, and ignores its other restrictions.
    """
    place = HeadRange(
        selection.project,
        selection.service,
        selection.type.value,
        selection.start,
        selection.end,
    )
    return statements.newest_totals(place, LOOKED_AT)


def newest_totals(selection: Selection) -> list[Totals]:
    """Return Profile.totals of the selection's LOOKED_AT newest head rows; empty without rows."""
    every = execute(of_newest(selection))
    if not every or not _is_narrower(selection):
        return every

    def ask() -> list[Totals]:
        newest = unweighted(selection).order_by("-time")
        return list(newest.values_list("totals", flat=True)[:LOOKED_AT])

    return once(("newest totals", selection), ask)


def _is_narrower(selection: Selection) -> bool:
    """Return True if the selection restricts more than its range, service and type."""
    of = selection
    return any([of.zones, of.versions, of.labels, of.weights, of.profile])


def unweighted(selection: Selection) -> QuerySet[Profile]:
    """Return the head rows of the selection, ignoring `weight`, its top n %.

    The rows are filtered by the selection's project.
    """
    rows = Profile.objects.filter(
        project=selection.project,
        service=selection.service,
        type=selection.type,
        time__gte=selection.start,
        time__lt=selection.end,
    )
    if selection.zones:
        rows = rows.filter(deployment__zone__in=selection.zones)
    if selection.versions:
        rows = rows.filter(deployment__version__in=selection.versions)
    if selection.weights:
        rows = rows.filter(weight__range=selection.weights)
    if selection.profile:
        rows = rows.filter(name_id=selection.profile)
    for i, (name, values) in enumerate(selection.labels):
        label = Cast(KeyTextTransform(name, "labels"), TextField())
        rows = rows.alias(**{f"label_{i}": label})
        rows = rows.filter(Q(**{f"label_{i}__in": values}))
    return rows


def share(count: int, percent: float) -> int:
    """Return the number of profiles in the top `percent` of `count`: at least 1 if count > 0."""
    return ceil(count * percent / 100)
