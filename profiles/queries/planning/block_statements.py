"""SQL statement with which most queries begin: find the blocks of a service and type.

It is written by hand because Django's ORM takes more CPU time to build the statement than the
database takes to execute it.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import orjson
from django.db import connection

from profiles.models import Blob, Block, BlockLevel
from profiles.storage.round_trip import SelectStatement

T = TypeVar("T")


class BlockRange(NamedTuple):
    """Blocks of one service and type that overlap a time range; fields in order of parameters."""

    project: int
    service: str
    type: str
    after: datetime  # every such block starts after this: lower bound of the index scan
    start: datetime
    end: datetime


class BlockFilter(NamedTuple):
    """Further SQL condition on the blocks of a range, with its parameters."""

    condition: str
    parameters: tuple[int | datetime, ...] = ()


HOURS = BlockFilter(f"b.level = '{BlockLevel.HOUR}'")

_TABLE, _BLOBS = Block._meta.db_table, Blob._meta.db_table
# The texts of these statements contain no user input.
_LARGEST = (
    f"b.level = '{BlockLevel.DAY}' AND b.start >= %s AND b.\"end\" <= %s "  # noqa: S608
    f"OR b.level = '{BlockLevel.HOUR}' "
    "AND (b.covered_by_id IS NULL OR EXISTS ("
    f"SELECT 1 FROM {_TABLE} d WHERE d.id = b.covered_by_id "
    'AND (d.start < %s OR d."end" > %s)))'
)
_ROWS = (
    'SELECT b.id, b.service, b.type, b.level, b.start, b."end", b.last, k.key, '  # noqa: S608
    'b."offset", b.length, b.profiles, {said} '
    f"FROM {_TABLE} b JOIN {_BLOBS} k ON k.id = b.blob_id "
    "WHERE b.project_id = %s AND b.service = %s AND b.type = %s "
    f"AND b.level IN ('{BlockLevel.DAY}', '{BlockLevel.HOUR}') "
    'AND b.start > %s AND b."end" > %s AND b.start < %s AND ({condition})'
)
_SAID = ("by_labels", "moments", "metrics")  # fields of the block's summary
_PART = {"postgresql": "b.summary -> '{}'", "sqlite": "json_extract(b.summary, '$.{}')"}


def largest(start: datetime, end: datetime) -> BlockFilter:
    """Return the filter for day blocks inside the range and hour blocks outside of these."""
    return BlockFilter(_LARGEST, (start, end, start, end))


def covered_by(days: Sequence[int]) -> BlockFilter:
    """Return the filter for the hour blocks that these day blocks (Block.pk) cover."""
    places = ", ".join(["%s"] * len(days))
    return BlockFilter(
        f"b.level = '{BlockLevel.HOUR}' AND b.covered_by_id IN ({places})", tuple(days)
    )


def rows(
    near: BlockRange, which: BlockFilter, made: Callable[[Iterable[tuple[Any, ...]]], T]
) -> SelectStatement[T]:
    """Build the statement for blocks in a range.

    Its result is that of `made`, which gets the rows as tuples of the fields of BlockRow.
    """
    part = _PART[connection.vendor]
    said = ", ".join(part.format(name) for name in _SAID)
    sql = _ROWS.format(said=said, condition=which.condition)
    values = (*near, *which.parameters)
    return SelectStatement((near, which), sql, values, lambda found: made(map(_fields, found)))


def _fields(row: tuple[Any, ...]) -> tuple[Any, ...]:
    *kept, by_labels, moments, metrics = row
    kept[4:7] = map(_aware, kept[4:7])
    return (*kept, _is_true(by_labels), _is_true(moments), orjson.loads(metrics))


def _aware(time: datetime) -> datetime:
    """Return the time in UTC: SQLite returns times without a zone."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _is_true(value: str | int) -> bool:
    """Convert a JSON boolean: PostgreSQL returns JSON text, SQLite a number."""
    return value in ("true", 1)
