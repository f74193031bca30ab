"""Which head rows a selection means."""

from math import ceil

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from profiles.models import Profile
from profiles.queries.asked import Selection


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
