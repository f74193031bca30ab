"""How many profiles of each type deployments sent."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count

from profiles.models import Profile
from profiles.queries.asked import check
from projects.profile_types import ProfileType


def run_deployment_counts(
    project: int,
    deployments: Sequence[int],
    start: datetime,
    end: datetime,
    deadline: float | None = None,
) -> dict[int, dict[ProfileType, int]]:
    """By Deployment.pk and type; without those that sent none in the range."""
    rows = Profile.objects.filter(
        project=project, deployment__in=deployments, time__gte=start, time__lt=end
    )
    found: dict[int, dict[ProfileType, int]] = defaultdict(dict)
    for deployment, type_, count in (
        rows.order_by().values_list("deployment", "type").annotate(Count("pk"))
    ):
        found[deployment][ProfileType(type_)] = count
    check(deadline)
    return dict(found)
