"""The statement that most questions ask of the head first, written out as block_statements is."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import orjson

from profiles.models import Profile
from profiles.storage.round_trip import Rows, SelectStatement

Totals = Sequence[tuple[str, str, int]]  # Profile.totals


class HeadRange(NamedTuple):
    """Rows of the head of one service and type, start <= time < end."""

    project: int
    service: str
    type: str
    start: datetime
    end: datetime


_NEWEST = (  # nothing in it comes from outside
    f"SELECT totals FROM {Profile._meta.db_table} "  # noqa: S608
    "WHERE project_id = %s AND service = %s AND type = %s AND time >= %s AND time < %s "
    "ORDER BY time DESC LIMIT %s"
)


def newest_totals(place: HeadRange, count: int) -> SelectStatement[list[Totals]]:
    """Of the newest, at most `count`."""
    return SelectStatement((place, count), _NEWEST, (*place, count), _read)


def _read(rows: Rows) -> list[Totals]:
    return [orjson.loads(totals) for (totals,) in rows]
