"""Number of profiles by deployment and type."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from django.db.models import Count

from profiles.models import Block, Profile
from profiles.queries.planning.block_counts import cut_off, whole
from profiles.queries.planning.block_index import rows_of
from profiles.queries.planning.block_masks import block_selection
from profiles.queries.planning.plan import in_rows, known
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import Selection, check
from profiles.storage.snapshot import snapshot
from projects.models import Deployment
from projects.profile_types import ProfileType

_Count = tuple[int, str, int]  # Deployment.pk, type, profiles


def run_deployment_counts(
    project: int,
    deployments: Sequence[int],
    start: datetime,
    end: datetime,
    deadline: float | None = None,
) -> dict[int, dict[ProfileType, int]]:
    """Count profiles in the range by Deployment.pk and type, without zero counts."""
    found: dict[int, Counter[ProfileType]] = {pk: Counter() for pk in deployments}
    with snapshot():
        counts = [*_in_head(project, deployments, start, end)]
        rows = Deployment.objects.filter(project=project, pk__in=deployments).order_by()
        services = [*rows.values_list("service", flat=True).distinct()]
        counts += _in_blocks(project, services, start, end, deadline)
    check(deadline)
    for pk, type_, count in counts:
        if pk in found:
            found[pk][ProfileType(type_)] += count
    return {pk: dict(counted) for pk, counted in found.items() if counted}


def _in_head(
    project: int, deployments: Sequence[int], start: datetime, end: datetime
) -> Iterator[_Count]:
    rows = Profile.objects.filter(
        project=project, deployment__in=deployments, time__gte=start, time__lt=end
    )
    yield from rows.order_by().values_list("deployment", "type").annotate(Count("pk"))


def _in_blocks(
    project: int,
    services: Sequence[str],
    start: datetime,
    end: datetime,
    deadline: float | None,
) -> Iterator[_Count]:
    """Count from the rows of blocks; read only the blocks that lie partly in the range."""
    blocks = Block.objects.filter(project=project, service__in=services).order_by()
    inside = blocks.filter(whole(project, start, end))
    for type_, summary in inside.values_list("type", "summary__deployments"):
        for pk, (count, *_) in summary.items():
            yield int(pk), type_, count
    any_type = block_selection(Selection(project, "", ProfileType.CPU, start, end))
    cut = in_rows(any_type, rows_of(blocks.filter(cut_off(project, start, end))))
    for part, columns, meant in known(cut, ScanStats(), deadline):
        pks, counts = np.unique(columns.deployment[meant], return_counts=True)
        for pk, count in zip(pks.tolist(), counts.tolist(), strict=True):
            yield pk, part.opened.row.type, count
