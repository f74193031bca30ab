"""How many profiles of each service are in blocks, from their rows alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q, Sum

from profiles.models import Block, Level
from profiles.queries.block_rows import LONGEST

Course = Sequence[tuple[int, int, int]]  # summary.course


def counts_in_blocks(project: int, start: datetime, end: datetime) -> Counter[str]:
    """By service; where the range cuts a block, to the five minutes of its course.

    Inside a snapshot.
    """
    blocks = Block.objects.filter(whole(project, start, end)).order_by()
    counts = Counter(dict(blocks.values_list("service").annotate(Sum("profiles"))))
    cut = Block.objects.filter(cut_off(project, start, end)).order_by()
    for service, course in cut.values_list("service", "summary__course"):
        counts[service] += sum(count for _, count, _ in inside(course, start, end))
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
