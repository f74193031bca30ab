"""Celery tasks for compaction, retention and blobs; each finds its work in the database."""

import logging
import time

from celery import shared_task
from django.utils import timezone

from common.sqlite_space import return_space
from profiles import retention
from profiles.compaction.blob_sweep import sweep
from profiles.compaction.compactor import Compactor
from profiles.compaction.lease import lease
from profiles.compaction.plan import find_projects_with_days, find_projects_with_hours
from profiles.deletion import jobs
from profiles.deletion.runner import run_job
from profiles.project_export import jobs as export_jobs
from profiles.project_export import runner as export_runner
from profiles.storage import disk
from profiles.storage.column_files import column_files
from projects.models import Project

log = logging.getLogger(__name__)

# Of a run of a deletion job, which then queues itself again: other tasks get their turn.
DELETION_RUN_SECONDS = 20.0
EXPORT_RUN_SECONDS = 20.0  # likewise of an export


@shared_task(name="profiles.tasks.roll_up")
def roll_up() -> None:
    """Queue a compaction task for each project with pending hours or days."""
    now = timezone.now()
    for project in sorted({*find_projects_with_hours(now), *find_projects_with_days(now)}):
        roll_up_project.delay(project)


@shared_task(name="profiles.tasks.roll_up_project")
def roll_up_project(project: int) -> None:
    if disk.shortage():
        log.warning("Compaction of project %d is postponed: %s", project, disk.shortage())
        return
    with lease(f"rollup {project}") as ours:
        if ours:
            Compactor(project, timezone.now()).compact()


@shared_task(name="profiles.tasks.retain")
def retain() -> None:
    for project in Project.objects.order_by("pk").values_list("pk", flat=True):
        retain_project.delay(project)


@shared_task(name="profiles.tasks.retain_project")
def retain_project(project: int) -> None:
    with lease(f"retain {project}") as ours:
        if ours:
            retention.retain(project, timezone.now())


@shared_task(name="profiles.tasks.sweep_blobs")
def sweep_blobs() -> None:
    with lease("sweep blobs") as ours:
        if ours:
            sweep(timezone.now())
            freed = return_space()
            if freed:
                log.info("The database file is %.1f MB shorter.", freed / 1e6)
    files = column_files()
    if files:
        files.sweep()


@shared_task(name="profiles.tasks.delete_data")
def delete_data() -> None:
    """Queue a task for each deletion job that is due or was interrupted."""
    for job in jobs.find_due(timezone.now()):
        run_deletion.delay(job)


@shared_task(name="profiles.tasks.run_deletion")
def run_deletion(job: int) -> None:
    with lease(f"delete {job}") as ours:
        more = ours and run_job(job, timezone.now(), time.monotonic() + DELETION_RUN_SECONDS)
    if more:
        run_deletion.delay(job)


@shared_task(name="profiles.tasks.export_data")
def export_data() -> None:
    """Delete expired archives, and queue a task for each export that has not ended."""
    export_jobs.expire(timezone.now())
    for job in export_jobs.find_open():
        run_export.delay(job)


@shared_task(name="profiles.tasks.run_export")
def run_export(job: int) -> None:
    with lease(f"export {job}") as ours:
        more = ours and export_runner.run_job(job, time.monotonic() + EXPORT_RUN_SECONDS)
    if more:
        run_export.delay(job)
