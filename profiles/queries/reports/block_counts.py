"""Number of profiles in blocks by service, from the rows of the blocks alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q, Sum

from profiles.models import Block, Resolution
from profiles.queries.plan import LONGEST

Course = Sequence[tuple[int, int, int]]  # `course` of profiles.storage.block_summary


class CountedSpan(NamedTuple):
    """Part of a time step of a block's summary; profiles count as spread evenly over the step."""

    start: float  # s since 1970
    end: float
    profiles: float
    weight: float  # Σ of the type's default metric


def counts_in_blocks(project: int, start: datetime, end: datetime) -> Counter[str]:
    """Count the profiles in blocks by service; call this inside a snapshot.

    A step of a block's summary that the range cuts counts in proportion to its part in the range.
    """
    blocks = Block.objects.filter(whole(project, start, end)).order_by()
    counts = Counter(dict(blocks.values_list("service").annotate(Sum("profiles"))))
    at_edges = defaultdict[str, float](float)
    cut = Block.objects.filter(cut_off(project, start, end)).order_by()
    fields = ("service", "summary__course", "summary__step")
    for service, course, step in cut.values_list(*fields):
        at_edges[service] += sum(each.profiles for each in clip_steps(course, step, start, end))
    counts.update({service: round(count) for service, count in at_edges.items()})
    return +counts


def clip_steps(course: Course, step: int, start: datetime, end: datetime) -> Iterator[CountedSpan]:
    """Yield the parts of a course's steps that lie inside the range; `step` is in seconds."""
    first, last = start.timestamp(), end.timestamp()
    for step_start, profiles, weight in course:
        begin, until = max(first, step_start), min(last, step_start + step)
        if begin < until:
            share = (until - begin) / step
            yield CountedSpan(begin, until, profiles * share, weight * share)


def whole(project: int, start: datetime, end: datetime) -> Q:
    """Match day blocks inside the range, and hour blocks inside it that no such day covers."""
    in_range = Q(project=project, start__gte=start, start__lt=end, end__lte=end)
    in_no_day = Q(day_block=None) | Q(day_block__start__lt=start) | Q(day_block__end__gt=end)
    return in_range & (Q(resolution=Resolution.DAY) | in_no_day & Q(resolution=Resolution.PROFILE))


def cut_off(project: int, start: datetime, end: datetime) -> Q:
    """Match hour blocks that lie only partly inside the range."""
    near = Q(
        project=project, resolution=Resolution.PROFILE, start__gt=start - LONGEST, start__lt=end
    )
    return near & Q(end__gt=start) & (Q(start__lt=start) | Q(end__gt=end))
