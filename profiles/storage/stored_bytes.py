"""Accounting of DayUsage.stored_bytes, the bytes of a day's arrivals that are still stored.

Every transaction that moves or deletes stored profiles updates it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from django.db.models import F, Value
from django.db.models.functions import Greatest

from projects.models import DayUsage

Arrived = dict[str, int]  # bytes by day of arrival (ISO date), as in Block.arrived
Counts = Mapping[str, int]


def move(
    project: int, added: Iterable[Mapping[str, int]], removed: Iterable[Mapping[str, int]]
) -> None:
    """Add and subtract bytes by day of arrival. Call it in the transaction that moves the data."""
    change: Counter[str] = Counter()
    for each in added:
        change.update(each)
    for each in removed:
        change.subtract(each)
    for day in sorted(day for day, size in change.items() if size):
        _count(project, date.fromisoformat(day), change[day])


def _count(project: int, day: date, size: int) -> None:
    # Clamped at zero: the column cannot be negative, and one lost count must not make every later
    # move fail.
    after = Greatest(F("stored_bytes") + size, Value(0))
    rows = DayUsage.objects.filter(project_id=project, day=day)
    if not rows.update(stored_bytes=after) and size > 0:
        DayUsage.objects.get_or_create(project_id=project, day=day)
        rows.update(stored_bytes=after)


def divide_length(length: int, counts: Counts) -> Arrived:
    """Divide the length of a block among days in proportion to `counts`.

    The shares are integers and add up to `length`.
    """
    whole, counted, done = sum(counts.values()), 0, 0
    shares = {}
    for day in sorted(counts):
        counted += counts[day]
        upto = length * counted // whole
        shares[day] = upto - done
        done = upto
    return shares


def add_counts(many: Iterable[Counts]) -> Counter[str]:
    """Add up the counts by day."""
    counts: Counter[str] = Counter()
    for each in many:
        counts.update(each)
    return counts
