"""Function of the greatest self value of each service, from the newest hourly sums."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Max, Q

from findings.hourly_sums.half_day import HalfDaySums
from findings.hourly_sums.storage import read_row
from findings.models import HourlySums
from projects.profile_types import ProfileType

MAX_AGE = timedelta(days=2)
_MOST_SERVICES = 100  # of a page of a list


@dataclass(frozen=True, slots=True)
class TopFunction:
    name: str
    share: float  # its self value as a part of the service's


def load_top_functions(
    project: int, types: Mapping[str, ProfileType], now: datetime
) -> dict[str, TopFunction]:
    """Return the top function of each service, in profiles of its type; two statements.

    Services that were not summed within MAX_AGE are left out.
    """
    series = Q(pk__in=())
    for service, type_ in list(types.items())[:_MOST_SERVICES]:
        series |= Q(service=service, type=type_)
    rows = HourlySums.objects.filter(series, project=project, start__gte=now - MAX_AGE)
    newest = Q(pk__in=())
    groups = rows.exclude(content=b"").order_by().values("service", "type")
    for group in groups.annotate(start=Max("start")):
        newest |= Q(**group)
    found = {}
    for row in HourlySums.objects.filter(newest, project=project):
        sums = read_row(row)
        if sums is not None and (top := _find_top(sums)):
            found[row.service] = top
    return found


def _find_top(sums: HalfDaySums) -> TopFunction | None:
    whole = float(sums.totals.sum())
    if not sums.names or whole <= 0:
        return None
    by_function = sums.self_sums.sum(axis=1)
    index = int(np.argmax(by_function))
    return TopFunction(sums.names[index], float(by_function[index]) / whole)
