"""Number of profiles by deployment and type."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from django.db.models import Count

from profiles.engine.blocks import RowFilter
from profiles.engine.timestamps import micros
from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.plan import read_block_rows
from profiles.queries.reports.block_counts import cut_off, whole
from profiles.queries.scan_input import block_inputs, profile_facts
from projects.models import Deployment
from projects.profile_types import ProfileType

_Count = tuple[int, str, int]  # Deployment.pk, type, profiles


def run_deployment_counts(
    context: QueryContext, deployments: Sequence[int], start: datetime, end: datetime
) -> dict[int, dict[ProfileType, int]]:
    """Count profiles in the range by Deployment.pk and type, without zero counts."""
    sums: dict[int, Counter[ProfileType]] = {pk: Counter() for pk in deployments}
    with context.snapshot:
        counts = [*_count_head(context.project, deployments, start, end)]
        rows = Deployment.objects.filter(project=context.project, pk__in=deployments).order_by()
        services = [*rows.values_list("service", flat=True).distinct()]
        counts += _count_blocks(context, services, start, end)
    context.check()
    for pk, type_, count in counts:
        if pk in sums:
            sums[pk][ProfileType(type_)] += count
    return {pk: dict(of_pk) for pk, of_pk in sums.items() if of_pk}


def _count_head(
    project: int, deployments: Sequence[int], start: datetime, end: datetime
) -> Iterator[_Count]:
    rows = Profile.objects.filter(
        project=project, deployment__in=deployments, time__gte=start, time__lt=end
    )
    yield from rows.order_by().values_list("deployment", "type").annotate(Count("pk"))


def _count_blocks(
    context: QueryContext, services: Sequence[str], start: datetime, end: datetime
) -> Iterator[_Count]:
    """Count from the rows of blocks; read only the blocks that lie partly in the range."""
    project = context.project
    blocks = Block.objects.filter(project=project, service__in=services).order_by()
    inside = blocks.filter(whole(project, start, end))
    for type_, summary in inside.values_list("type", "summary__deployments"):
        for pk, (count, *_) in summary.items():
            yield int(pk), type_, count
    cut = read_block_rows(blocks.filter(cut_off(project, start, end)))
    inputs = block_inputs(context, RowFilter(micros(start), micros(end)), cut)
    for each, columns, matching in profile_facts(context, inputs):
        pks, counts = np.unique(columns.deployment[matching], return_counts=True)
        for pk, count in zip(pks.tolist(), counts.tolist(), strict=True):
            yield pk, each.opened.row.type, count
