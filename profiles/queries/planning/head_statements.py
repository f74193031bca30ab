"""SQL statement with which most queries begin in the head; by hand, like block_statements."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import orjson

from profiles.models import Profile
from profiles.storage.round_trip import Rows, SelectStatement

Totals = Sequence[tuple[str, str, int]]  # Profile.totals


class HeadRange(NamedTuple):
    """Head rows of one service and type with start <= time < end."""

    project: int
    service: str
    type: str
    start: datetime
    end: datetime


_NEWEST = (  # contains no user input
    f"SELECT totals FROM {Profile._meta.db_table} "  # noqa: S608
    "WHERE project_id = %s AND service = %s AND type = %s AND time >= %s AND time < %s "
    "ORDER BY time DESC LIMIT %s"
)


def newest_totals(place: HeadRange, count: int) -> SelectStatement[list[Totals]]:
    """Build the statement for the totals of at most `count` rows, the newest first."""
    return SelectStatement((place, count), _NEWEST, (*place, count), _read)


def _read(rows: Rows) -> list[Totals]:
    return [orjson.loads(totals) for (totals,) in rows]
