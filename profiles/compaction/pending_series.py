"""Find series with head rows ready for compaction, in one SQL statement.

A series is the profiles of one project, service and type; blocks are made per series. The
statement runs every minute and must not read the whole head: it skips from series to series in
the index (a loose index scan) and counts at most 256 rows of each.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import connection

from profiles.models import Block, Profile, Resolution
from profiles.storage.windows import (
    CLOSING_MARGIN,
    DAY,
    get_closed_hours_end,
    get_settled_end,
)

# 64 settled rows of an open hour become a level-0 block: a query of fewer rows is about as fast as
# a query of their block, and smaller blocks cost more to build.
MIN_ROWS_OPEN_HOUR = 64
# 16 rows suffice if no more will join them: those of an hour whose rows are all settled, and a
# series' rows of all closed hours.
MIN_ROWS_ENDED_HOUR = 16
# Profiles of a series that arrive within this time after a compaction share the next block.
MIN_COMPACTION_INTERVAL = timedelta(minutes=4, seconds=30)
# 256 settled rows of a series do not wait for the interval, as an import needs it: queries of so
# many rows take 60 ms more than those of their block.
MAX_WAITING_ROWS = 256
_ORDER = "ORDER BY p.project_id, p.service, p.type, p.time LIMIT 1"


class PendingSeries(NamedTuple):
    """Series with rows to compact."""

    project: int
    service: str
    type: str
    has_closed_rows: bool  # of closed hours, stored before CLOSING_MARGIN; the interval is over
    # MIN_ROWS_OPEN_HOUR settled rows, of any hour, and the interval is over; or MAX_WAITING_ROWS.
    has_enough_rows: bool
    has_late_rows: bool  # MIN_ROWS_ENDED_HOUR rows of closed hours


def find_pending_series(now: datetime, project: int | None = None) -> list[PendingSeries]:
    """Return the series with rows to compact, of all projects or of one.

    A few series without enough rows in any one hour may be included.
    """
    adapted = connection.ops.adapt_datetimefield_value
    closed = adapted(get_closed_hours_end(now))
    parameters: list[Any] = [
        *([] if project is None else [project]),
        *(closed, adapted(now - CLOSING_MARGIN)),
        *(adapted(get_settled_end(now)), MAX_WAITING_ROWS),
        *(closed, MIN_ROWS_ENDED_HOUR),
        *(adapted(now - 2 * DAY), adapted(now - MIN_COMPACTION_INTERVAL), adapted(now)),
        *(MIN_ROWS_OPEN_HOUR, MAX_WAITING_ROWS, MIN_ROWS_ENDED_HOUR),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_statement(project is not None), parameters)
        return [
            PendingSeries(pk, service, type_, *map(bool, flags))
            for pk, service, type_, *flags in cursor.fetchall()
        ]


@cache
def _statement(is_one_project: bool) -> str:
    """Return the SQL text. Only constants are formatted into it; values are parameters."""
    head, blocks = Profile._meta.db_table, Block._meta.db_table
    is_quarantined = f"p.{Profile._meta.get_field('quarantined').column}"
    first = "WHERE p.project_id = %s" if is_one_project else ""
    next_project = "" if is_one_project else f", {_next(head, ['project_id'])}"
    same_series = "{0}.project_id = q.project_id AND {0}.service = q.service AND {0}.type = q.type"
    rows = f"FROM {head} p WHERE {same_series.format('p')}"
    return f"""
        WITH RECURSIVE series(id) AS (
            SELECT (SELECT p.id FROM {head} p {first} {_ORDER})
            UNION ALL
            SELECT coalesce(
                {_next(head, ["project_id", "service", "type"])},
                {_next(head, ["project_id", "service"])}
                {next_project}
            ) FROM series s JOIN {head} q ON q.id = s.id
        ), counted AS (
            SELECT q.project_id, q.service, q.type,
                EXISTS (
                    SELECT 1 {rows} AND p.time < %s AND p.stored_at < %s AND NOT {is_quarantined}
                ) AS has_closed,
                (SELECT count(*) FROM (SELECT 1 {rows} AND p.time < %s LIMIT %s) first) AS settled,
                (SELECT count(*) FROM (
                    SELECT 1 {rows} AND p.time < %s AND NOT {is_quarantined} LIMIT %s
                ) first) AS late,
                NOT EXISTS (
                    SELECT 1 FROM {blocks} b WHERE {same_series.format("b")}
                    AND b.resolution = '{Resolution.PROFILE}' AND b.start > %s
                    AND b.created > %s AND b.created <= %s
                ) AS interval_is_over
            FROM series s JOIN {head} q ON q.id = s.id
        ), pending AS (
            SELECT q.project_id, q.service, q.type,
                q.has_closed AND q.interval_is_over AS has_closed,
                (q.settled >= %s AND q.interval_is_over) OR q.settled = %s AS has_enough,
                q.late = %s AS has_late
            FROM counted q
        )
        SELECT q.project_id, q.service, q.type, q.has_closed, q.has_enough, q.has_late
        FROM pending q
        WHERE q.has_closed OR q.has_enough OR q.has_late
        ORDER BY q.project_id, q.service, q.type
    """  # noqa: S608


def _next(head: str, columns: Sequence[str]) -> str:
    """Return a subquery for the first row that follows row `q` in the last of the columns.

    The other columns are equal to those of `q`. A row-value comparison of all columns would make
    SQLite step over all rows in between.
    """
    *same, last = columns
    condition = " AND ".join([*(f"p.{name} = q.{name}" for name in same), f"p.{last} > q.{last}"])
    return f"(SELECT p.id FROM {head} p WHERE {condition} {_ORDER})"  # noqa: S608
