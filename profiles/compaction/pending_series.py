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

from profiles.compaction.windows import DAY, MARGIN, hours_before, settled_before
from profiles.models import Block, Profile, Resolution

# Settled rows of an open hour from which on they become a level-0 block. A query of fewer rows is
# about as fast as a query of their block, and smaller blocks cost more to build.
LONG = 64
# Minimum of rows of an hour whose rows are all settled, and of a series' rows of all closed hours:
# no more will join them, so that waiting for LONG rows would be in vain.
LEFT = 16
# Minimum time between two compactions of a series; profiles in between share the next block.
APART = timedelta(minutes=4, seconds=30)
# Settled rows of a series from which on it is compacted within APART too, as an import needs it:
# queries of so many rows take 60 ms more than those of their block.
MANY = 256
_ORDER = "ORDER BY p.project_id, p.service, p.type, p.time LIMIT 1"


class PendingSeries(NamedTuple):
    """Series with rows to compact."""

    project: int
    service: str
    type: str
    is_closed: bool  # it has rows of closed hours, stored before MARGIN, and no block within APART
    # It has LONG rows before `settled_before`, of any hour, and no block within APART; or MANY.
    is_long: bool
    is_late: bool  # it has LEFT rows of closed hours


def pending_series(now: datetime, project: int | None = None) -> list[PendingSeries]:
    """Return the series with rows to compact, of all projects or of one.

    A few series without enough rows in any one hour may be included.
    """
    adapted = connection.ops.adapt_datetimefield_value
    within: Sequence[Any] = [] if project is None else [project]
    times = [
        *(adapted(hours_before(now)), adapted(now - MARGIN)),
        *(adapted(settled_before(now)), MANY),
        *(adapted(hours_before(now)), LEFT),
        *(adapted(now - 2 * DAY), adapted(now - APART), adapted(now)),
        *(LONG, MANY, LEFT),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_statement(project is not None), [*within, *times])
        return [
            PendingSeries(pk, service, type_, *map(bool, flags))
            for pk, service, type_, *flags in cursor.fetchall()
        ]


@cache
def _statement(of_one: bool) -> str:
    """Return the SQL text. Only constants are formatted into it; values are parameters."""
    head, blocks = Profile._meta.db_table, Block._meta.db_table
    is_quarantined = f"p.{Profile._meta.get_field('quarantined').column}"
    first = "WHERE p.project_id = %s" if of_one else ""
    others = "" if of_one else f", {_next(head, ['project_id'])}"
    same_series = "{0}.project_id = q.project_id AND {0}.service = q.service AND {0}.type = q.type"
    rows = f"FROM {head} p WHERE {same_series.format('p')}"
    return f"""
        WITH RECURSIVE series(id) AS (
            SELECT (SELECT p.id FROM {head} p {first} {_ORDER})
            UNION ALL
            SELECT coalesce(
                {_next(head, ["project_id", "service", "type"])},
                {_next(head, ["project_id", "service"])}
                {others}
            ) FROM series s JOIN {head} q ON q.id = s.id
        ), found AS (
            SELECT q.project_id, q.service, q.type,
                EXISTS (
                    SELECT 1 {rows} AND p.time < %s AND p.stored_at < %s AND NOT {is_quarantined}
                ) AS is_closed,
                (SELECT count(*) FROM (SELECT 1 {rows} AND p.time < %s LIMIT %s) first) AS settled,
                (SELECT count(*) FROM (
                    SELECT 1 {rows} AND p.time < %s AND NOT {is_quarantined} LIMIT %s
                ) first) AS late,
                NOT EXISTS (
                    SELECT 1 FROM {blocks} b WHERE {same_series.format("b")}
                    AND b.level = '{Resolution.PROFILE}' AND b.start > %s
                    AND b.created > %s AND b.created <= %s
                ) AS is_apart
            FROM series s JOIN {head} q ON q.id = s.id
        ), pending AS (
            SELECT q.project_id, q.service, q.type,
                q.is_closed AND q.is_apart AS is_closed,
                (q.settled >= %s AND q.is_apart) OR q.settled = %s AS is_long,
                q.late = %s AS is_late
            FROM found q
        )
        SELECT q.project_id, q.service, q.type, q.is_closed, q.is_long, q.is_late FROM pending q
        WHERE q.is_closed OR q.is_long OR q.is_late
        ORDER BY q.project_id, q.service, q.type
    """  # noqa: S608


def _next(head: str, columns: Sequence[str]) -> str:
    """Return a subquery for the first row that follows row `q` in the last of the columns.

    The other columns are equal to those of `q`. A row-value comparison of all columns would make
    SQLite step over all rows in between.
    """
    *same, further = columns
    where = " AND ".join([*(f"p.{name} = q.{name}" for name in same), f"p.{further} > q.{further}"])
    return f"(SELECT p.id FROM {head} p WHERE {where} {_ORDER})"  # noqa: S608
