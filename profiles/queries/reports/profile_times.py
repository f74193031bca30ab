"""Times of profiles: hours with any, the nearest around a range, the first of each deployment.

All are read from head rows and the rows of blocks, without their bytes.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson
from django.db.models import (
    BigIntegerField,
    F,
    Func,
    Max,
    Min,
    Q,
    TextField,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.db.models.sql.compiler import SQLCompiler

from profiles.engine.timestamps import to_datetime
from profiles.models import Block, Profile, Resolution
from profiles.queries.context import QueryContext
from profiles.queries.plan import LONGEST
from profiles.queries.selection import InvalidQuery
from projects.profile_types import ProfileType

MAX_CALENDAR = timedelta(days=45)
_HOUR = timedelta(hours=1)
_HOUR_MICROS = 3600 * 10**6


class NearestProfiles(NamedTuple):
    """Times of profiles around a range; None if there are none on that side."""

    before: datetime | None
    after: datetime | None


class StoredTimes(NamedTuple):
    """Times of the first and last stored profile; None without any."""

    first: datetime | None
    last: datetime | None


def run_calendar(
    context: QueryContext, service: str, type: ProfileType | None, start: datetime, end: datetime
) -> list[datetime]:
    """Return the starts of the hours (UTC) in which the project has profiles, in order.

    "" and None stand for all services and all types. An hour is missing only if its profiles lie
    between others of one block that is longer than an hour. Raise InvalidQuery for an empty range
    or one longer than MAX_CALENDAR.
    """
    if not timedelta(0) < end - start <= MAX_CALENDAR:
        raise InvalidQuery(f"A calendar needs a range of {MAX_CALENDAR.days} days at most.")
    matching = _matching(context, service, type)
    with context.snapshot:
        head = Profile.objects.filter(matching, time__gte=start, time__lt=end).order_by()
        hours = {
            datetime.fromtimestamp(hour * _HOUR.total_seconds(), UTC)
            for hour in head.annotate(hour=Micros("time") / Value(_HOUR_MICROS))
            .values_list("hour", flat=True)
            .distinct()
        }
        context.check()
        near = Q(
            resolution=Resolution.PROFILE, start__gt=start - LONGEST, start__lt=end, end__gt=start
        )
        blocks = Block.objects.filter(matching & near).order_by()
        for pair in blocks.values_list("first", "last").distinct():
            hours |= {
                time.replace(minute=0, second=0, microsecond=0)
                for time in pair
                if start <= time < end
            }
    return sorted(hours)


def run_nearest(
    context: QueryContext, service: str, type: ProfileType, start: datetime, end: datetime
) -> NearestProfiles:
    """Return the time of a profile before the range and of one at its end or after it.

    They are the nearest, except where a block reaches over an edge of the range: there it is one
    of that block.
    """
    matching = _matching(context, service, type)
    head = (
        Profile.objects.filter(matching)
        .order_by()
        .values("service")
        .annotate(
            before=Max("time", filter=Q(time__lt=start)),
            over_start=Max("time", filter=Q(time__lt=start)),
            after=Min("time", filter=Q(time__gte=end)),
            over_end=Min("time", filter=Q(time__gte=end)),
        )
    )
    blocks = (
        Block.objects.filter(matching, resolution=Resolution.PROFILE)
        .order_by()
        .values("service")
        .annotate(
            before=Max("last", filter=Q(last__lt=start)),
            over_start=Max("first", filter=Q(first__lt=start)),
            after=Min("first", filter=Q(first__gte=end)),
            over_end=Min("last", filter=Q(last__gte=end)),
        )
    )
    rows = list(head.union(blocks, all=True))
    before = [time for row in rows for time in (row["before"], row["over_start"]) if time]
    after = [time for row in rows for time in (row["after"], row["over_end"]) if time]
    return NearestProfiles(max(before, default=None), min(after, default=None))


def run_first_profiles(
    context: QueryContext, service: str, type: ProfileType
) -> Mapping[int, datetime]:
    """Return the time of the first stored profile by Deployment.pk, with one SQL statement."""
    matching = _matching(context, service, type)
    head = (
        Profile.objects.filter(matching)
        .order_by()
        .values("deployment_id")
        .annotate(at=Min("time"), by_deployment=Value("{}", TextField()))
        .values_list("deployment_id", "at", "by_deployment")
    )
    by_deployment = Cast(KeyTextTransform("deployments", "summary"), TextField())
    blocks = (
        Block.objects.filter(matching, day_block=None)
        .order_by()
        .annotate(
            none=Value(0, BigIntegerField()),
            at=F("first"),
            by_deployment=by_deployment,
        )
        .values_list("none", "at", "by_deployment")
    )
    firsts: dict[int, datetime] = {}

    def add(pk: int, time: datetime) -> None:
        firsts[pk] = min(time, firsts.get(pk, time))

    for deployment, time, text in head.union(blocks, all=True):
        if deployment:
            add(deployment, time)
        for pk, (_, _, _, first, _) in orjson.loads(text or "{}").items():
            add(int(pk), to_datetime(first))
    return firsts


def run_stored_times(context: QueryContext) -> StoredTimes:
    """Return the times of the project's first and last stored profile."""
    with context.snapshot:
        rows = Profile.objects.filter(project=context.project).order_by()
        head = rows.aggregate(first=Min("time"), last=Max("time"))
        blocks = Block.objects.filter(project=context.project, resolution=Resolution.PROFILE)
        oldest = blocks.order_by("start", "first").values_list("first", flat=True).first()
        newest = blocks.order_by("-last").values_list("last", flat=True).first()
    firsts = [time for time in (head["first"], oldest) if time]
    lasts = [time for time in (head["last"], newest) if time]
    return StoredTimes(min(firsts, default=None), max(lasts, default=None))


def _matching(context: QueryContext, service: str, type: ProfileType | None) -> Q:
    matching = Q(project=context.project)
    if service:
        matching &= Q(service=service)
    return matching & Q(type=type.value) if type else matching


class Micros(Func):
    """Value of a DateTimeField in µs since 1970, an exact integer on PostgreSQL and SQLite."""

    output_field = BigIntegerField()

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        # SQLite stores times as text, with six fractional digits or none.
        template = (
            "(CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) * 1000000"
            " + CAST(substr(%(expressions)s, 21, 6) AS INTEGER))"
        )
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        template = "(extract(epoch from %(expressions)s) * 1000000)::bigint"
        return self.as_sql(compiler, connection, template=template, **extra)
