"""Keyset pagination of single profiles over the head and blocks.

A mark is the encoded sort key of a page's last profile; the next page starts after it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Collate
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns
from profiles.engine.timestamps import micros, to_datetime
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.plan import BlockRow
from profiles.queries.scan_input import BlockInput, profile_facts
from profiles.queries.selection import InvalidQuery, ProfileOrder

_MOST = 2**63  # bound of the integers that databases can compare with
_LATEST = 253_402_300_800 * 10**6  # µs: the start of the year 10,000
Key = tuple[int, int, str]  # weight (0 if the order ignores it), time in µs since 1970, name_id


class ProfileEntry(NamedTuple):
    """Profile in a page, with the fields that both the head and blocks have."""

    key: Key
    time: datetime
    duration_ns: int
    weight: int
    labels: dict[str, str]
    deployment: int
    agent: int | None
    service: str
    type: str
    name_id: str


def read_mark(text: str) -> Key | None:
    """Decode a mark into a sort key, None for ""; raise InvalidQuery for invalid text."""
    if not text:
        return None
    try:
        weight, time, name = text.split("~", 2)
        key = int(weight or 0), int(time), name
    except ValueError:
        key = None
    # Databases reject NUL in text.
    if key is None or abs(key[0]) >= _MOST or not 0 <= key[1] < _LATEST or "\0" in key[2]:
        raise InvalidQuery(
            f"Invalid page {text[:60]!r}: use the next_page of a response for the same list."
        )
    return key


def format_mark(key: Key) -> str:
    return "~".join(map(str, key))


def next_in_head(
    rows: QuerySet[Profile], order: ProfileOrder, mark: Key | None, size: int
) -> list[ProfileEntry]:
    """Return at most `size` of the head rows after the mark, in order."""
    # Default collations of the databases differ from each other and from Python's string order.
    binary = "C" if connection.vendor == "postgresql" else "BINARY"
    rows = rows.alias(name=Collate("name_id", binary))
    if mark is not None:
        weight, time, name = mark
        mark_time = to_datetime(time)
        behind = Q(time__lt=mark_time) | Q(time=mark_time, name__lt=name)
        if order is ProfileOrder.HEAVIEST:
            behind = Q(weight__lt=weight) | Q(behind, weight=weight)
        rows = rows.filter(behind)
    columns = ["-time", "-name"]
    if order is ProfileOrder.HEAVIEST:
        columns.insert(0, "-weight")
    return [_build_row_entry(row, order) for row in rows.defer("tree").order_by(*columns)[:size]]


def next_in_blocks(
    context: QueryContext,
    inputs: Iterable[BlockInput],
    order: ProfileOrder,
    mark: Key | None,
    size: int,
) -> list[ProfileEntry]:
    """Return at most `size` profiles of the hour blocks' inputs after the mark, in order.

    Names are read only from blocks that may contribute to the page. For ProfileOrder.NEWEST, the
    inputs must come in descending order of their blocks' latest profiles; inputs that cannot
    contribute to the page are not opened.
    """
    page: list[ProfileEntry] = []
    for each in inputs:
        full = order is ProfileOrder.NEWEST and len(page) == size
        if full and page[-1].time > each.opened.row.last:
            break
        for _, columns, matching in profile_facts(context, [each]):
            page.extend(_read_block_page(each, columns, matching, order, mark, size))
        page = sorted(page, reverse=True)[:size]
    return page


def _read_block_page(
    block: BlockInput,
    columns: ProfileColumns,
    matching: NDArray[np.int64],
    order: ProfileOrder,
    mark: Key | None,
    size: int,
) -> Iterator[ProfileEntry]:
    time = columns.time[matching]
    weight = columns.weight[matching]
    if order is ProfileOrder.NEWEST:
        weight = np.zeros_like(weight)
    if mark is not None:
        not_before = (weight < mark[0]) | ((weight == mark[0]) & (time <= mark[1]))
        matching = matching[not_before]
        time, weight = time[not_before], weight[not_before]
        # Names of profiles that equal the mark are compared below, and may exclude all of them.
        size += int(((weight == mark[0]) & (time == mark[1])).sum())
    best = np.lexsort((-time, -weight))
    if len(best) > size:  # keep all profiles that equal the last one: their names decide
        last = best[size - 1]
        ties = (weight == weight[last]) & (time == time[last])
        best = np.union1d(best[:size], np.flatnonzero(ties))
    if not len(best):
        return
    names = block.opened.hour.names
    for i in best.tolist():
        row = int(matching[i])
        key = (int(weight[i]), int(time[i]), names[row])
        if mark is None or key < mark:
            yield _build_block_entry(columns, row, key, block.opened.row)


def _build_block_entry(
    columns: ProfileColumns, row: int, key: Key, block: BlockRow
) -> ProfileEntry:
    agent = int(columns.agent[row])
    return ProfileEntry(
        key=key,
        time=to_datetime(int(columns.time[row])),
        duration_ns=int(columns.duration_ns[row]),
        weight=int(columns.weight[row]),
        labels=dict(columns.label_sets[columns.label_set[row]]),
        deployment=int(columns.deployment[row]),
        agent=None if agent < 0 else agent,
        service=block.service,
        type=block.type,
        name_id=key[2],
    )


def _build_row_entry(row: Profile, order: ProfileOrder) -> ProfileEntry:
    weight = row.weight if order is ProfileOrder.HEAVIEST else 0
    return ProfileEntry(
        key=(weight, micros(row.time), row.name_id),
        time=row.time,
        duration_ns=row.duration_ns,
        weight=row.weight,
        labels=row.labels,
        deployment=row.deployment_id,
        agent=row.agent_id,
        service=row.service,
        type=row.type,
        name_id=row.name_id,
    )
