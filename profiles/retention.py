"""Retention: delete profiles older than the project's retention period from head and blocks.

The limit is a whole hour. Blocks that end before it are deleted. An hour block across it is
rewritten without its old profiles, once at least WORTH_CUTTING of it is too old. A day block
across it is deleted, and queries read the hour blocks that it covered.
"""

import logging
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from profiles.compaction.build import build_cut
from profiles.compaction.build_workers import BUILD_FAILURES, BUILD_LIMITS, build
from profiles.compaction.replace import Replacement, SourcesGone, read_rows, replace_sources
from profiles.models import Block, Profile, Resolution
from profiles.storage.blobs import BlobError
from profiles.storage.windows import get_retention_start
from projects.models import Agent, Deployment
from projects.usage import rejections

log = logging.getLogger(__name__)

BATCH = 1000  # rows per commit
# Least age beyond the limit of a block's first profile before the block is rewritten: to rewrite
# blocks every hour would cost too much.
WORTH_CUTTING = timedelta(hours=6)
# Agents and deployments outlive the profiles that refer to them by this margin.
UNSEEN = timedelta(days=1)


def retain(project: int, now: datetime) -> None:
    limit = get_retention_start(project, now)
    try:
        _drop_head(project, limit)
        _drop_blocks(project, limit)
        for row in _to_be_cut(project, limit):
            _cut(row, limit)
    except SourcesGone as error:  # compaction replaced the rows first: the next run handles them
        log.info("Retention of project %s was interrupted: %s", project, error)
    _forget_unseen(project, limit - UNSEEN)
    rejections.delete_old(project, now)


def _drop_head(project: int, limit: datetime) -> None:
    rows = Profile.objects.filter(project=project, time__lt=limit).order_by("pk")
    while (replacement := read_rows(rows, BATCH)).rows:
        replace_sources(project, [replacement])


def _drop_blocks(project: int, limit: datetime) -> None:
    days = Block.objects.filter(project=project, resolution=Resolution.DAY, start__lt=limit)
    hours = Block.objects.filter(project=project, resolution=Resolution.PROFILE, last__lt=limit)
    for rows in (days, hours):
        while pks := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
            replace_sources(project, [Replacement(blocks=pks)])


def _to_be_cut(project: int, limit: datetime) -> list[Block]:
    rows = Block.objects.filter(
        project=project,
        resolution=Resolution.PROFILE,
        quarantined=False,
        first__lt=limit - WORTH_CUTTING,
        last__gte=limit,
    )
    return list(rows.select_related("blob").order_by("pk"))


def _cut(row: Block, limit: datetime) -> None:
    try:
        replacement = build(build_cut, row.project_id, row.pk, limit)
    except (*BUILD_FAILURES, *BUILD_LIMITS, BlobError) as error:
        log.warning("Block %s of project %s is not cut: %s", row, row.project_id, error)
        return
    if not replacement.is_empty:
        replace_sources(row.project_id, [replacement])


def _forget_unseen(project: int, limit: datetime) -> None:
    """Delete agents and deployments last seen before `limit` that no stored profile refers to.

    An agent is deleted once the head has no profile of it: blocks may still contain its id.
    """
    agents = Agent.objects.filter(deployment__project=project, last_seen__lt=limit)
    agents.filter(~Exists(Profile.objects.filter(agent=OuterRef("pk")))).delete()
    unseen = Deployment.objects.filter(project=project, last_seen__lt=limit)
    without = unseen.filter(~Exists(Profile.objects.filter(deployment=OuterRef("pk"))))
    for deployment in without.order_by("pk")[:BATCH]:
        if not has_profiles(deployment):
            deployment.delete()


def has_profiles(deployment: Deployment) -> bool:
    """Return True if a row of the head or a block refers to the deployment."""
    if Profile.objects.filter(deployment=deployment).exists():
        return True
    blocks = Block.objects.filter(project=deployment.project_id, service=deployment.service)
    return blocks.filter(summary__deployments__has_key=str(deployment.pk)).exists()
