"""Which head rows a selection means."""

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

LOOKED_AT = 50  # profiles, the newest: a service's metrics seldom change


def head_of(selection: Selection) -> QuerySet[Profile]:
    """The same as `unweighted`; where there are none, the database is not asked again for them."""
    return unweighted(selection) if newest_totals(selection) else Profile.objects.none()


def of_newest(selection: Selection) -> SelectStatement[list[Totals]]:
    """Of its range, service and type: it may be narrower."""
    place = HeadRange(
        selection.project,
        selection.service,
        selection.type.value,
        selection.start,
        selection.end,
    )
    return statements.newest_totals(place, LOOKED_AT)


def newest_totals(selection: Selection) -> list[Totals]:
    """Of the selection's newest profiles in the head, Profile.totals; empty if it has none."""
    every = execute(of_newest(selection))
    if not every or not _is_narrower(selection):
        return every

    def ask() -> list[Totals]:
        newest = unweighted(selection).order_by("-time")
        return list(newest.values_list("totals", flat=True)[:LOOKED_AT])

    return once(("newest totals", selection), ask)


def _is_narrower(selection: Selection) -> bool:
    """Than its range, service and type."""
    of = selection
    return any([of.zones, of.versions, of.labels, of.weights, of.profile])


def unweighted(selection: Selection) -> QuerySet[Profile]:
    """The head's rows of the selection, of its project alone, whatever its top n %."""
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
    """How many profiles the top `percent` of `count` are: at least one, if there is any."""
    return ceil(count * percent / 100)
