"""The statement that most questions ask of the head first, written out as block_statements is."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db import connection

from profiles.models import Profile

Totals = Sequence[tuple[str, str, int]]  # Profile.totals


class Place(NamedTuple):
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


def newest_totals(place: Place, count: int) -> list[Totals]:
    """Of the newest, at most `count`."""
    times: list[Any] = [connection.ops.adapt_datetimefield_value(time) for time in place[3:]]
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, [*place[:3], *times, count])
        return [orjson.loads(totals) for (totals,) in cursor.fetchall()]
