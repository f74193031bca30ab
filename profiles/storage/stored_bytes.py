"""DayUsage.stored_bytes: what of a day's arrivals is still stored, kept right by who moves it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from django.db.models import F, Value
from django.db.models.functions import Greatest

from projects.models import DayUsage

Arrived = dict[str, int]  # bytes by day of arrival, as Block.arrived has them
Counts = Mapping[str, int]


def move(
    project: int, added: Iterable[Mapping[str, int]], gone: Iterable[Mapping[str, int]]
) -> None:
    """Count bytes that were added and that are gone; in the transaction of the move itself."""
    change: Counter[str] = Counter()
    for each in added:
        change.update(each)
    for each in gone:
        change.subtract(each)
    for day in sorted(day for day, size in change.items() if size):
        _count(project, date.fromisoformat(day), change[day])


def _count(project: int, day: date, size: int) -> None:
    # Never below zero: a count that was lost once must not stop every move that follows.
    after = Greatest(F("stored_bytes") + size, Value(0))
    rows = DayUsage.objects.filter(project_id=project, day=day)
    if not rows.update(stored_bytes=after) and size > 0:
        DayUsage.objects.get_or_create(project_id=project, day=day)
        rows.update(stored_bytes=after)


def shared(length: int, counts: Counts) -> Arrived:
    """The length of a block, divided among days as the counts are; the parts add up to it."""
    whole, at, done = sum(counts.values()), 0, 0
    parts = {}
    for day in sorted(counts):
        at += counts[day]
        upto = length * at // whole
        parts[day] = upto - done
        done = upto
    return parts


def together(many: Iterable[Counts]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in many:
        counts.update(each)
    return counts
