"""Rows of hourly sums: read what is stored, and compute what is missing."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import zstandard
from django.db.models import QuerySet

from findings.hourly_sums.half_day import HALF_DAY, HalfDaySums
from findings.models import HourlySums
from profiles.query import ProfileSelection, QueryContext, QueryJob, run_function_sums
from projects.profile_types import ProfileType

log = logging.getLogger(__name__)

# The greatest number of functions of a half day that is stored: those of the greatest totals.
MAX_FUNCTIONS = 400
# Three weeks, for the same hours of earlier weeks, and the two days that are analyzed.
WINDOW = timedelta(days=23)
# Profiles that arrive later after the end of their half day are not in the sums.
SETTLE = timedelta(hours=1)


def last_complete_end(now: datetime) -> datetime:
    """Return the latest midnight or noon of UTC that is at least SETTLE ago."""
    settled = now.astimezone(UTC) - SETTLE
    return settled.replace(hour=settled.hour // 12 * 12, minute=0, second=0, microsecond=0)


def load_window(
    context: QueryContext, service: str, type_: ProfileType, end: datetime
) -> Sequence[HalfDaySums | None]:
    """Return the half days of WINDOW before `end`, in order of time; None without profiles.

    Missing ones are computed and stored; that of a half day without profiles is empty. Raise
    DeadlinePassed between two of them: the next call goes on there.
    """
    starts = [end - WINDOW + number * HALF_DAY for number in range(WINDOW // HALF_DAY)]
    stored = {row.start: row for row in _find_rows(context, service, type_, starts[0], end)}
    found: list[HalfDaySums | None] = []
    for start in starts:
        context.check()
        row = stored.get(start)
        sums = read_row(row) if row is not None else None
        if row is None or (sums is None and row.content):
            sums = _compute(context, service, type_, start)
        found.append(sums)
    return found


def delete_before(project: int, time: datetime) -> None:
    HourlySums.objects.filter(project=project, start__lt=time).delete()


def _find_rows(
    context: QueryContext, service: str, type_: ProfileType, start: datetime, end: datetime
) -> QuerySet[HourlySums]:
    rows = HourlySums.objects.filter(project=context.project, service=service, type=type_)
    return rows.filter(start__gte=start, start__lt=end)


def read_row(row: HourlySums) -> HalfDaySums | None:
    """Return the sums of a row; None if it is empty, or damaged: the analysis computes it again."""
    if not row.content:
        return None
    try:
        return HalfDaySums.from_bytes(bytes(row.content))
    except (ValueError, KeyError, zstandard.ZstdError) as error:
        log.warning("Hourly sums %d are damaged and computed again: %s", row.pk, error)
        return None


def compute_half_day(
    context: QueryContext, service: str, type_: ProfileType, start: datetime
) -> bytes:
    """Return the bytes of HalfDaySums, none without profiles; also called in a worker process."""
    selection = ProfileSelection(context.project, service, type_, start, start + HALF_DAY)
    result = run_function_sums(context, selection, MAX_FUNCTIONS)
    return HalfDaySums.from_result(result).to_bytes() if result.profiles.any() else b""


def _compute(
    context: QueryContext, service: str, type_: ProfileType, start: datetime
) -> HalfDaySums | None:
    content = QueryJob(compute_half_day, (service, type_, start))(context)
    HourlySums.objects.update_or_create(
        project_id=context.project,
        service=service,
        type=type_,
        start=start,
        defaults={"content": content},
    )
    return HalfDaySums.from_bytes(content) if content else None
