"""How many profiles a project has, by service or type, mostly from the rows of blocks alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from django.db.models import Count, Q, Sum

from profiles.models import Block, Level, Profile
from profiles.queries.block_rows import LONGEST

Course = Sequence[tuple[int, int, int]]  # summary.course


def counts_by(
    column: Literal["service", "type"], project: int, start: datetime, end: datetime, **of: str
) -> Counter[str]:
    """By value; where the range cuts a block, to the five minutes of its course.

    `of` restricts other columns. Inside a snapshot.
    """
    head = Profile.objects.filter(project=project, time__gte=start, time__lt=end, **of)
    counts = Counter(dict(head.order_by().values_list(column).annotate(Count("pk"))))
    blocks = Block.objects.filter(whole(project, start, end), **of).order_by()
    counts.update(dict(blocks.values_list(column).annotate(Sum("profiles"))))
    cut = Block.objects.filter(cut_off(project, start, end), **of).order_by()
    for value, course in cut.values_list(column, "summary__course"):
        counts[value] += sum(count for _, count, _ in inside(course, start, end))
    return +counts


def inside(course: Course, start: datetime, end: datetime) -> Iterable[tuple[int, int, int]]:
    first, last = start.timestamp(), end.timestamp()
    return (step for step in course if first <= step[0] < last)


def whole(project: int, start: datetime, end: datetime) -> Q:
    """The largest blocks that lie inside the range."""
    within = Q(project=project, start__gte=start, start__lt=end, end__lte=end)
    in_no_day = Q(covered_by=None) | Q(covered_by__start__lt=start) | Q(covered_by__end__gt=end)
    return within & (Q(level=Level.DAY) | in_no_day & Q(level=Level.HOUR))


def cut_off(project: int, start: datetime, end: datetime) -> Q:
    """Those hour blocks of which a part is inside."""
    near = Q(project=project, level=Level.HOUR, start__gt=start - LONGEST, start__lt=end)
    return near & Q(end__gt=start) & (Q(start__lt=start) | Q(end__gt=end))
