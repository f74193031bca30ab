"""Hours: head rows whose hour is closed become hour blocks."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length, Substr

from profiles.engine.blocks import BlockProfile, build_hour
from profiles.engine.codec import decode
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.micros import micros
from profiles.models import Profile
from profiles.rollup.closed import HOUR, MARGIN, hours_before
from profiles.rollup.move import NewBlock, Sources, SourcesGone, move
from profiles.rollup.new_blocks import new_hour

log = logging.getLogger(__name__)

MAX_PROFILES = 4096  # of a block
MAX_TREE_BYTES = 64 * 2**20  # that are in memory while one is built
BLOB_BYTES = 8 * 2**20  # a blob is written when it is about so large
MAX_ROWS = 4096  # that leave the head in one commit: meanwhile nobody else writes
_UNREADABLE = (BadTree, BadProfile, TooLarge)


class Hour(NamedTuple):
    service: str
    type: str
    start: datetime


def roll_up_hours(project: int, now: datetime) -> int:
    """Everything that is due of a project; returns how many profiles left the head."""
    moved = 0
    batch = _Batch(project)
    for hour in due_hours(project, now):
        for pks in _chunks(_rows(project, hour, now)):
            batch.add(hour, pks)
            if batch.is_full:
                moved += batch.move()
    return moved + batch.move()


def due_hours(project: int, now: datetime) -> list[Hour]:
    rows = _due(project, now).order_by().annotate(hour=Substr(Cast("time", TextField()), 1, 13))
    found = rows.values_list("service", "type", "hour").distinct()
    return sorted(
        Hour(service, type_, datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC))
        for service, type_, hour in found
    )


def projects_due(now: datetime) -> list[int]:
    rows = Profile.objects.filter(**_closed(now)).order_by()
    return sorted(rows.values_list("project_id", flat=True).distinct())


def _due(project: int, now: datetime) -> QuerySet[Profile]:
    return Profile.objects.filter(project=project, **_closed(now))


def _closed(now: datetime) -> dict[str, object]:
    return {
        "time__lt": hours_before(now),
        "stored_at__lt": now - MARGIN,
        "set_aside": False,
    }


def _rows(project: int, hour: Hour, now: datetime) -> Iterator[tuple[int, int]]:
    """(pk, bytes of the tree), in order of time."""
    rows = _due(project, now).filter(
        service=hour.service, type=hour.type, time__gte=hour.start, time__lt=hour.start + HOUR
    )
    yield from rows.order_by("time").values_list("pk", Length("tree"))


def _chunks(rows: Iterator[tuple[int, int]]) -> Iterator[list[int]]:
    chunk: list[int] = []
    size = 0
    for pk, length in rows:
        if chunk and (len(chunk) == MAX_PROFILES or size + length > MAX_TREE_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(pk)
        size += length
    if chunk:
        yield chunk


class _Batch:
    """Blocks that will share a blob and a commit."""

    def __init__(self, project: int) -> None:
        self._project = project
        self._clear()

    def _clear(self) -> None:
        self._new: list[NewBlock] = []
        self._sources = Sources()

    @property
    def is_full(self) -> bool:
        size = sum(len(block.data) for block in self._new)
        return size >= BLOB_BYTES or len(self._sources.head) >= MAX_ROWS

    def add(self, hour: Hour, pks: Sequence[int]) -> None:
        rows = list(Profile.objects.filter(project=self._project, pk__in=pks))
        for built, used in _built(hour, rows):
            self._new.append(built)
            self._sources.head.extend(row.pk for row in used)
            for row in used:
                day = row.stored_at.astimezone(UTC).date().isoformat()
                arrived = self._sources.head_arrived
                arrived[day] = arrived.get(day, 0) + len(row.tree)

    def move(self) -> int:
        """Let it happen; 0 if someone else did it meanwhile."""
        moved = len(self._sources.head)
        try:
            if moved:
                move(self._project, self._new, self._sources)
        except SourcesGone as error:
            log.info("Hours of project %s were left as they are: %s", self._project, error)
            moved = 0
        self._clear()
        return moved


def _built(hour: Hour, rows: Sequence[Profile]) -> Iterator[tuple[NewBlock, Sequence[Profile]]]:
    """One block of all rows if possible; else of halves, and what cannot be read is set aside."""
    if not rows:
        return
    try:
        data = build_hour([block_profile(row) for row in rows])
    except _UNREADABLE as error:
        if len(rows) == 1:
            _set_aside(rows[0], error)
            return
        good = _readable(rows)
        parts = [good] if len(good) < len(rows) else _halves(rows)
        for part in parts:
            yield from _built(hour, part)
        return
    counts = Counter(row.stored_at.astimezone(UTC).date().isoformat() for row in rows)
    end = hour.start + HOUR
    yield (
        new_hour(
            data, service=hour.service, type=hour.type, start=hour.start, end=end, counts=counts
        ),
        rows,
    )


def _halves(rows: Sequence[Profile]) -> list[Sequence[Profile]]:
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]]


def _readable(rows: Sequence[Profile]) -> list[Profile]:
    good = []
    for row in rows:
        try:
            decode(bytes(row.tree))
        except BadTree as error:
            _set_aside(row, error)
        else:
            good.append(row)
    return good


def _set_aside(row: Profile, error: Exception) -> None:
    log.error("Profile %s of project %s is left out: %s", row.name_id, row.project_id, error)
    Profile.objects.filter(pk=row.pk).update(set_aside=True)


def block_profile(row: Profile) -> BlockProfile:
    return BlockProfile(
        name_id=row.name_id,
        time=micros(row.time),
        time_source=row.time_source,
        deployment=row.deployment_id,
        agent=row.agent_id,
        duration_ns=row.duration_ns,
        weight=row.weight,
        samples=row.samples,
        labels=row.labels,
        totals=[(name, unit, total) for name, unit, total in row.totals],
        body_hash=bytes(row.body_hash),
        tree=bytes(row.tree),
    )
