"""Amount of stored data by service and type: what a query of it reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.reports.block_counts import cut_off, whole
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """Head rows and blocks of a service and type in a range; cut-off blocks count as a whole."""

    rows: int = 0  # profiles in the head
    samples: int = 0  # of these rows
    row_bytes: int = 0  # of their call trees
    blocks: int = 0
    block_profiles: int = 0
    block_bytes: int = 0

    @property
    def inputs(self) -> int:
        """Return the number of head rows and blocks."""
        return self.rows + self.blocks


def run_stored_amounts(
    context: QueryContext, start: datetime, end: datetime
) -> Mapping[tuple[str, ProfileType], StoredAmount]:
    """Return the amounts of each service and type with data in the range, with two statements."""
    project = context.project
    with context.snapshot:
        rows = Profile.objects.filter(project=project, time__gte=start, time__lt=end).order_by()
        head = _sum_by_series(rows, Count("pk"), Sum("samples"), Sum(Length("tree")))
        context.check()
        blocks = Block.objects.filter(
            whole(project, start, end) | cut_off(project, start, end)
        ).order_by()
        stored = _sum_by_series(blocks, Count("pk"), Sum("profiles"), Sum("length"))
    context.check()
    nothing = (0, 0, 0)
    return {
        (service, ProfileType(type_)): StoredAmount(
            *head.get((service, type_), nothing), *stored.get((service, type_), nothing)
        )
        for service, type_ in sorted({*head, *stored})
    }


def _sum_by_series(
    rows: "QuerySet[Profile] | QuerySet[Block]", *sums: Count | Sum
) -> dict[tuple[str, str], tuple[int, int, int]]:
    named = {f"sum_{number}": each for number, each in enumerate(sums)}
    found = rows.values_list("service", "type").annotate(**named)
    return {(service, type_): tuple(own) for service, type_, *own in found}
